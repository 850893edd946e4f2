"""Motions: sampled motions, minimum-effort transitions, optimal control.

motion.py      Motion: configurations over time, cut, blended, played at another speed;
               states.py  its velocities and accelerations between samples
transition.py  the motion of least effort between two states; result.py  what that gives
transition_settings.py  its settings; transition_problem.py  the objective;
               transition_constraints.py  limits and held frames; transition_solver.py  solving
supports.py    frames that stand on the ground; footfalls.py  finds them in recorded motions;
               stance.py  which frames stand when; reactions.py  kernels; supported.py  the least
               effort over all ground forces, internal_forces.py and supported_derivatives.py its
               parts; transition_supports.py  their constraints; ground_forces.py  the forces
flat.py        robots in charts whose velocities are rates of coordinates
terms.py       costs and constraints at an instant; held.py  a held frame as one of them,
               ball_ranges.py  ranges of ball joints; objective.py  their sum over a spline;
               surface.py  the motions that meet equalities; violation.py  for messages
newton.py      Newton's method with band matrices, for many problems at once
control_problem.py  a robot, its step, costs and bounds; control_inputs.py  what controls are;
               control_steps.py  the steps: plain, or under phases.py; control_costs.py  costs over
               scalars, conditions.py  constraints on states, gauss_newton.py  both to second order;
               costs.py  the usual ones
ilqr.py        the iterative regulator; passes.py  its two passes, compiled; backward.py  the
               definition of the first; lagrangian.py  multipliers of conditions; drift.py  of held
               frames; starts.py  initial guesses, plans.py  results
sampling.py  path integrals; mpc.py  closed loops
path_timing.py  the fastest motion along a path; reachable_speeds.py  its two passes, compiled
pictures.py    plots and stick figures
splines.py     B-splines and sample times; effort.py  P of SciPy's splines, and its gradient
"""

from typing import TYPE_CHECKING

from kinetree._lazy import lazy_names, listing

if TYPE_CHECKING:
    from kinetree.motion.control_problem import ControlProblem
    from kinetree.motion.costs import quadratic_cost, reach_cost
    from kinetree.motion.effort import Effort
    from kinetree.motion.footfalls import find_supports
    from kinetree.motion.motion import Motion
    from kinetree.motion.phases import Phase
    from kinetree.motion.result import Transition
    from kinetree.motion.supports import Support
    from kinetree.motion.transition_settings import Hold

__all__ = [
    "ControlProblem",
    "Effort",
    "Hold",
    "Motion",
    "Phase",
    "Support",
    "Transition",
    "find_supports",
    "quadratic_cost",
    "reach_cost",
]

HOMES = {
    "ControlProblem": "kinetree.motion.control_problem",
    "Effort": "kinetree.motion.effort",
    "Hold": "kinetree.motion.transition_settings",
    "Motion": "kinetree.motion.motion",
    "Phase": "kinetree.motion.phases",
    "Support": "kinetree.motion.supports",
    "Transition": "kinetree.motion.result",
    "find_supports": "kinetree.motion.footfalls",
    "quadratic_cost": "kinetree.motion.costs",
    "reach_cost": "kinetree.motion.costs",
}
"""The module of each name, imported on first use: a robot's first call needs none of them."""

__getattr__ = lazy_names("kinetree.motion", HOMES)

__dir__ = listing(__all__)
