"""Tendons and actuators: lengths, moment arms, forces.

`posture` has the poses that the rest shares, `wrapping` the way of a tendon around a body,
`tendons` and `levers` lengths with their moment arms, `forces` what actuators
do, `activations` their states, `passive` what
tendons do by themselves. Links that stick need the contacts, which need what tendons do, so
`forces` is imported from its own file.
"""

from kinetree.algorithms.actuation.activations import activation_rates, next_activations
from kinetree.algorithms.actuation.tendons import tendon_jacobian, tendon_lengths

__all__ = ["activation_rates", "next_activations", "tendon_jacobian", "tendon_lengths"]
