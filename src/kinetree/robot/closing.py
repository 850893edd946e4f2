"""Configurations that satisfy a robot's constraints, by damped steps on the manifold.

All states of a batch step together; each has its own damping. A step that does not bring a state
nearer is not kept, and the next one is shorter (K. Levenberg 1944, D. Marquardt 1963). A joint that
is pushed against a limit is held there for the next steps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.errors import AssemblyError, among, unknown
from kinetree.quantities.kernels import state_name
from kinetree.robot import checks
from kinetree.robot.core import Core
from kinetree.typing import Array, ArrayLike

LEAST_DAMPING = 1e-10
RAISED_DAMPING = 1e-4
"""After the first step that is not kept."""
LARGEST_DAMPING = 1e6
RELEASE = 8
"""Steps after which joints that were held at a limit are tried again."""


def close(
    robot: Core, q: ArrayLike, held: str | Sequence[str], tolerance: float, iterations: int
) -> Array:
    """See `Constrained.assemble`."""
    given = checks.finite_array("q", q, robot.nq)
    tolerance = checks.number("tolerance", tolerance, above=0.0)
    rows = given.reshape(-1, robot.nq)
    at, left = approach(robot, rows, held, tolerance, checks.count("iterations", iterations, 1))
    _refuse_open(robot, left, tolerance, given.shape[:-1])
    return at.reshape(given.shape)


def approach(
    robot: Core, q: Array, held: str | Sequence[str], tolerance: float, iterations: int
) -> tuple[Array, Array]:
    """Configurations as near to satisfying the constraints as steps get, and the errors left.

    Arguments:
        robot: with constraints.
        q: configurations, (n, nq).
        held, tolerance, iterations: as in `Constrained.assemble`.

    Returns:
        (n, nq) and (n, rows).
    """
    step, errors = robot.kernel("closing_step"), robot.kernel("constraint_errors")
    at = np.asarray(robot.normalize(q))
    free = np.broadcast_to(_free(robot, held), (len(at), robot.nv))
    weights, damping = free.copy(), np.full(len(at), LEAST_DAMPING)
    left = errors(at)
    for k in range(iterations):
        if (np.abs(left) <= tolerance).all():
            break
        tried, _ = step(at, damping, weights)
        tried, stopped = _within_limits(robot, tried)
        there = errors(tried)
        better = (there**2).sum(-1) < (left**2).sum(-1)
        at, left = (
            np.where(better[:, None], new, old) for new, old in ((tried, at), (there, left))
        )
        raised = np.clip(damping * 10.0, RAISED_DAMPING, LARGEST_DAMPING)
        damping = np.where(better, np.maximum(damping * 0.1, LEAST_DAMPING), raised)
        weights = free.copy() if k % RELEASE == RELEASE - 1 else np.where(stopped, 0.0, weights)
    return at, left


def _free(robot: Core, held: str | Sequence[str]) -> Array:
    """1 for each velocity that may move, 0 for those of joints that are held."""
    names = (held,) if isinstance(held, str) else tuple(held)
    free = np.ones(robot.nv)
    m = robot.model
    slices = {m.bodies[i].joint_name: m.v_slices[i] for i in m.coordinate_order}
    for name in names:
        if not among(name, slices):
            raise unknown("moving joint", name, slices, f"robot {robot.name!r}")
        free[slices[name]] = 0.0
    return free


def _within_limits(robot: Core, q: Array) -> tuple[Array, Array]:
    """Configurations within the limits, and which velocities were stopped there."""
    m, limits = robot.model, robot.limits
    stopped = np.zeros((len(q), robot.nv), bool)
    inside = q.copy()
    for i in m.coordinate_order:
        at, along = m.q_slices[i], m.v_slices[i]
        if m.bodies[i].joint.nq == m.bodies[i].joint.nv:
            inside[:, at] = np.clip(q[:, at], limits.lower[at], limits.upper[at])
            stopped[:, along] = inside[:, at] != q[:, at]
    return inside, stopped


def _refuse_open(robot: Core, left: Array, tolerance: float, batch: tuple[int, ...]) -> None:
    """Raise an error that names the row that is furthest from what it demands."""
    worst = np.abs(left)
    if (worst <= tolerance).all():
        return
    state, row = np.unravel_index(int(np.argmax(worst)), worst.shape)
    label = robot.model.constraint_labels[row]
    where = state_name(np.unravel_index(state, batch)) if batch else ""
    count = int((worst > tolerance).any(-1).sum())
    more = f" ({count} of {len(worst)} states fail)" if batch else ""
    raise AssemblyError(
        f"{where}robot {robot.name!r} cannot be assembled from there: {label.name} is still off by "
        f"{worst[state, row]:.3g} {label.unit}{more}"
    )
