"""Initial guesses of optimal control: states and controls of a user, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ShapeError
from kinetree.motion.arrays import Array
from kinetree.motion.plans import Plan
from kinetree.robot.checks import finite_array, spread
from kinetree.typing import ArrayLike

if TYPE_CHECKING:
    from kinetree.motion.control_problem import ControlProblem


def first_states(
    problem: ControlProblem, q0: ArrayLike, v0: ArrayLike
) -> tuple[tuple[int, ...], Array, Array]:
    """The shape of a batch, and its first states, (problems, n) each."""
    robot = problem.robot
    first = [finite_array("q0", q0, robot.nq), finite_array("v0", v0, robot.nv)]
    batches = [x.shape[:-1] for x in first]
    try:
        batch = np.broadcast_shapes(*batches)
    except ValueError:
        raise ShapeError(
            f"the batch shapes do not broadcast: q0 {batches[0]}, v0 {batches[1]}"
        ) from None
    if 0 in batch:
        raise ShapeError(f"q0 and v0 are empty: their batch is {batch}; one state is expected")
    q, v = (
        np.ascontiguousarray(np.broadcast_to(x, (*batch, x.shape[-1])).reshape(-1, x.shape[-1]))
        for x in first
    )
    return batch, q, v


def first_controls(
    problem: ControlProblem,
    u: ArrayLike | None,
    batch: tuple[int, ...],
    q: Array,
    start: float,
    plan: Plan | None,
) -> Array:
    """The controls to start from, (problems, steps, nu), within their bounds.

    They are those of a user, of a plan, or those that hold the first states.
    """
    shape = (len(q), problem.steps, problem.nu)
    if u is not None:
        controls = spread("u", u, (*batch, *shape[1:])).reshape(shape)
    elif plan is not None:
        controls = plan.u[None]
    else:
        controls = np.broadcast_to(problem.holding(q, start), shape)
    return np.clip(controls, problem.lower, problem.upper)


def guessed(
    problem: ControlProblem,
    states: Any,
    batch: tuple[int, ...],
    q0: Array,
    v0: Array,
) -> tuple[Array, Array]:
    """States to start from, (problems, steps + 1, n) each, the first those of the problems."""
    if not isinstance(states, (tuple, list)) or len(states) != 2:
        raise ShapeError(f"states: a tuple (q, v) is expected, got {states!r:.200}")
    guesses = []
    for name, array, first in zip("qv", states, (q0, v0), strict=True):
        core = (problem.steps + 1, first.shape[-1])
        guess = finite_array(f"{name} of states", array, *core)
        whole = spread(f"{name} of states", guess, (*batch, *core))
        whole = whole.reshape(len(first), *core).copy()
        whole[:, 0] = first
        guesses.append(whole)
    return guesses[0], guesses[1]
