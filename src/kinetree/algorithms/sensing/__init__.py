"""Sensors: what is measured of a robot's state, acceleration and controls.

`situation` has what they share; `places`, `subtrees`, `parts` and `contacts` the sensors
of each family.
"""

from kinetree.algorithms.sensing.every import readings

__all__ = ["readings"]
