"""Timing of paths: the fastest motion along a path under limits of speed and force.

Source: Pham & Pham (2018), as in `reachable_speeds`. Along a path q(s) with x = s'^2 and u = s'',

    v = q' sqrt(x),    a = q'' x + q' u                                                         (1)
    tau = a_s u + b_s x + c_s + d_s sqrt(x) + f_s                                               (2)

    code    meaning
    a       M q'
    b       M q'' and terms quadratic in velocities
    c       gravity, springs
    d, f    damping of the joints, and their dry friction: terms odd in the velocity

differs: sqrt(x) is replaced by its tangent at the speeds of the last passes, and the passes are
repeated. Then the motion is checked between grid points: where it exceeds a limit, this limit is
lowered there, and the passes are repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import KinetreeError, ShapeError
from kinetree.motion.arrays import Array
from kinetree.motion.motion import Motion
from kinetree.motion.reachable_speeds import Passes
from kinetree.motion.states import MotionState
from kinetree.robot.ball_excess import ball_excess
from kinetree.robot.checks import count, finite_array, real_array
from kinetree.typing import ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot

KEPT = 1e-6
"""The relative amount by which a limit may be exceeded between grid points."""
REPEATS = 12
"""The most repetitions of the passes."""
BETWEEN = np.array([0.0, 0.25, 0.5, 0.75, 1.0]) * (1.0 - 2e-9) + 1e-9
"""The points at which an interval is checked; its ends from inside, because forces jump there."""
HERMITE = [[0.0, 1.0, -2.0, 1.0], [0.0, 0.0, 3.0, -2.0], [0.0, 0.0, -1.0, 1.0]]
"""Cubics from 0 to 1, as coefficients of powers: those with a slope of one at 0, a value of one at
1, a slope of one at 1, and zero otherwise."""
FEWEST = 400
"""The least number of grid points by default."""
MORE = 1.2
"""A limit is lowered by the excess times this factor."""
UNLIMITED = 1e12
"""The bound of x if velocities do not limit it."""
TINY = 1e-9
"""Rows whose factor of u is below this fraction of the largest one do not bound u."""


@dataclass(frozen=True)
class Limits:
    """The limits of a motion: one number a velocity; infinite for none."""

    velocity: Array
    acceleration: Array
    effort: Array


@dataclass
class Path:
    """A path on a grid.

    s: the grid, (N + 1,).
    q, dq, ddq: coordinates and tangent derivatives by s.
    factors, squares, constants: of u, of x and neither, of rows at each grid point: forces over
        their limits, then accelerations over theirs, (N + 1, rows).
    damping: of sqrt(x), likewise.
    names: of the rows.
    """

    robot: Robot
    s: Array
    q: Array
    dq: Array
    ddq: Array
    factors: Array
    squares: Array
    constants: Array
    damping: Array
    names: list[str]


def time_path(
    robot: Robot,
    store: dict[int, Passes],
    path: Any,
    *,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    effort: ArrayLike | None = None,
    points: int | None = None,
) -> Motion:
    """The fastest motion along a path; see `Robot.time_path`.

    Arguments:
        store: keeps compiled passes for further paths, by the number of rows.
    """
    limits = Limits(
        _limit("velocity", robot.limits.velocity if velocity is None else velocity, robot.nv),
        _limit("acceleration", np.inf if acceleration is None else acceleration, robot.nv),
        _limit("effort", robot.limits.effort if effort is None else effort, robot.nv),
    )
    curve = _curve(robot, path)
    fewest = max(FEWEST, len(curve.times))
    n = fewest if points is None else count("points", points, 3)
    on_grid = _on_grid(robot, curve, limits, n)
    free = _fastest(on_grid, limits) >= UNLIMITED  # at single points the path itself may rest
    if not on_grid.names and (free[1:] & free[:-1]).any():
        raise KinetreeError(
            "time_path: nothing limits the speed; velocity, acceleration or effort limits are "
            "expected"
        )
    rows = 2 * len(on_grid.names) + 1
    if rows not in store:
        store[rows] = Passes(robot, rows)
    return _timed(on_grid, limits, store[rows])


def _limit(name: str, given: ArrayLike, nv: int) -> Array:
    array = real_array(name, given)
    if array.shape not in ((), (nv,)):
        raise ShapeError(f"{name} has shape {array.shape}; a number or ({nv},) is expected")
    if not (array > 0.0).all():
        raise KinetreeError(f"{name} holds {array.min():g}: limits above 0 are expected")
    return np.broadcast_to(array, (nv,))


def _curve(robot: Robot, path: Any) -> Motion:
    """The path as a motion, whose time is the path's parameter."""
    if isinstance(path, Motion):
        return path
    points = finite_array("path", path)
    if points.ndim != 2 or points.shape[1:] != (robot.nq,) or len(points) < 2:
        raise ShapeError(
            f"path has shape {points.shape}; waypoints (n, {robot.nq}) are expected, at least two, "
            "or a kinetree.Motion"
        )
    steps = np.linalg.norm(robot.difference(points[:-1], points[1:]), axis=-1)
    if not (steps > 0.0).all():
        k = int(steps.argmin())
        raise KinetreeError(f"path: waypoints {k} and {k + 1} are the same")
    return Motion(robot, np.concatenate([[0.0], np.cumsum(steps)]), points)


def _on_grid(robot: Robot, curve: Motion, limits: Limits, n: int) -> Path:
    """The rows of (1) and (2) at grid points."""
    s = np.linspace(curve.times[0], curve.times[-1], n)
    q, dq, ddq = curve.at(s)
    _check_positions(robot, s, q)
    q = Motion(robot, s, q, dq).q  # without jumps
    still = np.zeros_like(dq)
    c = robot.inverse_dynamics(q, still, still)
    a = robot.inverse_dynamics(q, still, dq) - c
    ahead, back = (robot.inverse_dynamics(q, sign * dq, ddq) for sign in (1.0, -1.0))
    twice, back_twice = (robot.inverse_dynamics(q, sign * 2.0 * dq, ddq) for sign in (1.0, -1.0))
    b = 0.5 * (ahead + back) - c
    odd, odd_twice = 0.5 * (ahead - back), 0.5 * (twice - back_twice)
    d = odd_twice - odd
    driven, bent = np.isfinite(limits.effort), np.isfinite(limits.acceleration)
    joints = [label.name for label in robot.model.velocity_labels]
    names = [f"effort of {joints[k]!r}" for k in np.flatnonzero(driven)]
    names += [f"acceleration of {joints[k]!r}" for k in np.flatnonzero(bent)]
    force, rate = limits.effort[driven], limits.acceleration[bent]

    def rows(of_force: Array, of_rate: Array) -> Array:
        return np.concatenate([of_force[:, driven] / force, of_rate[:, bent] / rate], axis=-1)

    return Path(
        robot,
        s,
        q,
        dq,
        ddq,
        rows(a, dq),
        rows(b, ddq),
        rows(c + odd - d, still),
        rows(d, still),
        names,
    )


def _check_positions(robot: Robot, s: Array, q: Array) -> None:
    """Refuse a path that leaves the limits of the joints."""
    found = list(ball_excess(robot, q))
    for i in robot.model.coordinate_order:
        body, at = robot.model.bodies[i], robot.model.q_slices[i]
        if body.joint.nq == 1:
            x = q[:, at.start]
            over = np.maximum(x - body.limits.upper, body.limits.lower - x)
            found.append((body.joint_name, over))
    for name, over in found:
        if over.max() > 1e-9:
            k = int(over.argmax())
            raise KinetreeError(
                f"path: joint {name!r} is {over[k]:.3g} beyond its limit at {_where(s, k)}"
            )


def _where(s: Array, k: int) -> str:
    return f"{(s[k] - s[0]) / (s[-1] - s[0]):.1%} of the path"


def _fastest(path: Path, limits: Limits) -> Array:
    """The largest x that velocity limits allow, (N + 1,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(path.dq == 0.0, np.inf, limits.velocity / np.abs(path.dq))
    most: Array = np.minimum(ratio.min(axis=-1) ** 2, UNLIMITED)
    return most


def _timed(path: Path, limits: Limits, passes: Passes) -> Motion:
    """The motion that keeps its limits between grid points, too."""
    _check_held(path)
    room = np.ones((len(path.s), len(path.names)))
    fastest = _fastest(path, limits)
    x: Array | None = None
    worst, name, where = np.inf, "", ""
    for _ in range(REPEATS):
        x = _speeds(path, passes, fastest, room, x)
        times, v = _timing(path, x)
        over, speeding = _exceeded(path, times, v, limits)
        worst = max(float(over.max(initial=0.0)), float(speeding.max()))
        if worst <= KEPT:
            return Motion(path.robot, times, path.q, v)
        room = room - _at_points(MORE * over)
        fastest = fastest / (1.0 + _at_points(MORE * speeding)) ** 2
        k = int(over.max(axis=-1, initial=0.0).argmax())
        name = path.names[int(over[k].argmax())] if worst > speeding.max() else "velocity"
        where = _where(path.s, k)
    raise KinetreeError(
        f"time_path: {name} exceeds its limit by {worst:.2g} of it near {where}; a finer grid is "
        f"expected, such as points={2 * len(path.s)}"
    )


def _check_held(path: Path) -> None:
    """Refuse a path on which the robot cannot stand still."""
    held = np.abs(path.constants)
    if held.size and held.max() >= 1.0:
        k, row = np.unravel_index(int(held.argmax()), held.shape)
        raise KinetreeError(
            f"time_path: {path.names[row]} would have to be {held[k, row]:.3g} of its limit to "
            f"hold the robot at {_where(path.s, int(k))}"
        )


def _speeds(path: Path, passes: Passes, fastest: Array, room: Array, before: Array | None) -> Array:
    """x at the grid points, from the one at rest to the other."""
    D = np.diff(path.s)
    root = np.sqrt(np.maximum(fastest if before is None else before, 1e-12))
    squares = path.squares + path.damping / (2.0 * root[:, None])  # the tangent of sqrt(x)
    constants = path.constants + path.damping * (0.5 * root[:, None])
    ends = []
    for at, shift in ((slice(None, -1), 0.0), (slice(1, None), 2.0)):
        factor = path.factors[at] + shift * D[:, None] * squares[at]
        ends.append(_lines(factor, squares[at], constants[at], room[at]))
    k, cu, cl = (np.concatenate(parts, axis=-1) for parts in zip(*ends, strict=True))
    # x + 2 D u at the end of the interval is at most what velocities allow there
    share = 0.5 / D[:, None]
    k = np.concatenate([k, -share], axis=-1)
    cu = np.concatenate([cu, fastest[1:, None] * share], axis=-1)
    cl = np.concatenate([cl, 0.0 * share], axis=-1)
    low, high = passes.controllable(0.0, fastest[:-1], D, k, cu, cl)
    if (high < low).any():
        _refuse(path, int(np.flatnonzero(high < low).max()), k, cu, cl)
    return passes.fastest(0.0, low, high, D, k, cu, cl)


def _lines(factor: Array, square: Array, constant: Array, room: Array) -> tuple[Array, ...]:
    """Rows |factor u + square x + constant| <= room, solved for u: slope, upper, lower."""
    least = TINY * np.abs(factor).max(axis=-1, keepdims=True, initial=0.0) + 1e-300
    safe = np.where(np.abs(factor) < least, np.where(factor < 0.0, -least, least), factor)
    up, down = (room - constant) / safe, (-room - constant) / safe
    return -square / safe, np.maximum(up, down), np.minimum(up, down)


def _refuse(path: Path, i: int, k: Array, cu: Array, cl: Array) -> None:
    """Raise an error that names the rows that contradict each other in an interval."""
    i = min(i, len(k) - 1)
    names = [*path.names, *path.names, "velocity"]
    upper, lower = int(cu[i].argmin()), int(cl[i].argmax())
    raise KinetreeError(
        f"time_path: the limits contradict each other at {_where(path.s, i)}: {names[upper]} and "
        f"{names[lower]} leave no speed from which the end can be reached"
    )


def _timing(path: Path, x: Array) -> tuple[Array, Array]:
    """The times of the grid points, and velocities there, from speeds x."""
    speed = np.sqrt(np.maximum(x, 0.0))
    sums = speed[:-1] + speed[1:]
    if not (sums > 0.0).all():
        raise KinetreeError(
            f"time_path: the robot stops at {_where(path.s, int(sums.argmin()))} and cannot go on"
        )
    times = np.concatenate([[0.0], np.cumsum(2.0 * np.diff(path.s) / sums)])
    return times, path.dq * speed[:, None]


def _exceeded(path: Path, times: Array, v: Array, limits: Limits) -> tuple[Array, Array]:
    """The relative excess over each row's limit in each interval; and velocities."""
    robot, driven = path.robot, np.isfinite(limits.effort)
    bent, bounded = np.isfinite(limits.acceleration), np.isfinite(limits.velocity)
    q, v, a = _between(path, times, v)
    tau = np.abs(robot.inverse_dynamics(q, v, a)).max(axis=0)[:, driven] / limits.effort[driven]
    rate = np.abs(a).max(axis=0)[:, bent] / limits.acceleration[bent]
    over = np.concatenate([tau, rate], axis=-1) - 1.0
    speed = np.abs(v).max(axis=0)[:, bounded] / limits.velocity[bounded]
    fast = speed.max(axis=-1, initial=0.0) - 1.0
    return np.maximum(over, 0.0), np.maximum(fast, 0.0)


def _between(path: Path, times: Array, v: Array) -> MotionState:
    """The motion at the times of BETWEEN in each interval, (checks, intervals, n) each."""
    robot, h = path.robot, np.diff(times)[:, None]
    if robot.nq != robot.nv:
        t = times[:-1] + BETWEEN[:, None] * h[:, 0]
        return Motion(robot, times, path.q, v).at(t)
    ends = np.array([h * v[:-1], np.diff(path.q, axis=0), h * v[1:]])
    values = _hermite() @ ends.reshape(3, -1)
    way, ahead, bend = values.reshape(3, len(BETWEEN), *v[1:].shape)
    return MotionState(path.q[:-1] + way, ahead / h, bend / h**2)


@cache
def _hermite() -> Array:
    """Values, slopes and curvatures of the cubics at BETWEEN, (3 checks, cubics)."""
    cubics = [np.polynomial.Polynomial(c) for c in HERMITE]
    found = np.array([[c.deriv(k)(BETWEEN) for c in cubics] for k in range(3)])
    return found.transpose(0, 2, 1).reshape(-1, len(cubics))


def _at_points(of_intervals: Array) -> Array:
    """The reductions of limits in intervals, at both of their ends."""
    none = np.zeros_like(of_intervals[:1])
    before, after = np.concatenate([none, of_intervals]), np.concatenate([of_intervals, none])
    found: Array = np.maximum(before, after)
    return found
