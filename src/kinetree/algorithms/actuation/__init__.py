"""Tendons and actuators: lengths, moment arms, forces.

`posture` has the poses that the other files share, `wrapping` the path of a tendon around a body,
`tendons` and `levers` lengths with their moment arms, `forces` the forces of actuators,
`activations` their states, `passive` the springs, dampers and friction of tendons.

`forces` is imported from its own file: adhesion needs contacts, and these need the tendons.
"""

from kinetree.algorithms.actuation.activations import activation_rates, next_activations
from kinetree.algorithms.actuation.tendons import tendon_jacobian, tendon_lengths

__all__ = ["activation_rates", "next_activations", "tendon_jacobian", "tendon_lengths"]
