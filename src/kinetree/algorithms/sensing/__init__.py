"""Sensors: measurements of a robot's state, acceleration and controls.

`situation` has the quantities they share; `places`, `subtrees`, `parts` and `contacts` have the
sensors of each family.
"""

from kinetree.algorithms.sensing.every import readings

__all__ = ["readings"]
