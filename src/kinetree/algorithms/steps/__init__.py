"""One step of time: an integrator a file. Each takes (q, v) to (q, v) at the end of the step.

`kinetree.quantities.simulation` has the list of them.
"""

from kinetree.algorithms.steps.limits import FREE, STOPS, Enforcement

__all__ = ["FREE", "STOPS", "Enforcement"]
