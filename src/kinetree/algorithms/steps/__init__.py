"""One step of time: an integrator a file. Each takes (q, v) to (q, v) at the end of the step."""

from kinetree.algorithms.steps.euler import euler
from kinetree.algorithms.steps.implicit_drives import implicit_damping, implicit_springs
from kinetree.algorithms.steps.limits import FREE, STOPS, Enforcement
from kinetree.algorithms.steps.midpoint import implicit_midpoint, midpoint
from kinetree.algorithms.steps.rk4 import rk4
from kinetree.algorithms.steps.variational import variational

__all__ = [
    "FREE",
    "STOPS",
    "Enforcement",
    "euler",
    "implicit_damping",
    "implicit_midpoint",
    "implicit_springs",
    "midpoint",
    "rk4",
    "variational",
]
