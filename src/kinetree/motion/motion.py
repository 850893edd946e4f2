"""Motions: configurations of a robot over time, sampled or interpolated.

Between samples the coordinates are a spline; states.py has the velocities that follow from it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree import kinds
from kinetree._lazy import cached_property
from kinetree.compiler.runtime.foreign import on_host
from kinetree.errors import KinetreeError, ShapeError
from kinetree.files.atomic import complete
from kinetree.kinds import instance
from kinetree.motion.arrays import Array
from kinetree.motion.splines import scipy_module, through_derivatives
from kinetree.motion.states import MotionState, state_of_spline, turning
from kinetree.robot.checks import finite_array, number, sample_count
from kinetree.robot.core import check_robot
from kinetree.typing import ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot
    from kinetree.simulate.result import Simulation


class Motion:
    """A motion of a robot.

    Arguments:
        robot: what moves.
        times: increasing, (T,), s.
        q: configurations, (T, nq).
        v: velocities, (T, nv); if not given, those of the quintic spline through q.
        a: accelerations, (T, nv); with v and a it is the quintic piecewise polynomial that has
            them, with v alone a cubic one.
    """

    def __init__(
        self,
        robot: Robot,
        times: ArrayLike,
        q: ArrayLike,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
    ) -> None:
        check_robot(robot)
        self.robot = robot
        self.times = finite_array("times", times)
        path = finite_array("q", q)
        count = self.times.shape[0] if self.times.ndim == 1 else 0
        if path.shape != (count, robot.nq) or count < 2 or not (np.diff(self.times) > 0.0).all():
            raise ShapeError(
                f"times has shape {self.times.shape} and q {path.shape}; increasing times are "
                f"expected, at least two, and q of shape (times, {robot.nq})"
            )
        self.q = robot.charts.continuous(robot.normalize(path))
        self._v = None if v is None else _rates("v", v, count, robot.nv)
        self._a = None if a is None else _rates("a", a, count, robot.nv)
        if self._v is not None and robot.nq == robot.nv:
            self.q = _with_turns(path, self.q, self.times, self._v)
        if self._a is not None and self._v is None:
            raise KinetreeError("a motion with accelerations needs velocities, too: give v")

    def __repr__(self) -> str:
        length = f"{len(self.times)} times, {self.duration:g} s"
        return f"<Motion of {self.robot.name!r}: {length}>"

    # construction

    @staticmethod
    def from_simulation(robot: Robot, simulation: Simulation) -> Motion:
        """The motion of a simulation of one robot.

        Arguments:
            robot: what was simulated.
            simulation: without a batch.

        Returns:
            The motion, with the simulation's times.
        """
        from kinetree.simulate.result import Simulation

        of = instance("simulation", simulation, Simulation, "a kinetree.Simulation")
        return Motion(robot, *(on_host(x) for x in (of.times, of.q, of.v)))

    @staticmethod
    def from_function(
        robot: Robot, function: Callable[[float], ArrayLike], duration: float, rate: float = 100.0
    ) -> Motion:
        """The motion that a function of time describes.

        Arguments:
            robot: what moves.
            function: from the time, s, to the configuration, (nq,).
            duration: s.
            rate: samples per second.

        Returns:
            The motion, sampled at `rate`.
        """
        called = kinds.function("function", function)
        last, per_second = number("duration", duration, above=0.0), number("rate", rate, above=0.0)
        times = np.linspace(0.0, last, sample_count(last, per_second))
        return Motion(robot, times, [called(t) for t in times])

    @staticmethod
    def load(robot: Robot, path: str | Path) -> Motion:
        """The motion in an NPZ file, with arrays times, q and perhaps v and a.

        Arguments:
            robot: what moves.
            path: the file; `Motion.save` and `Simulation.save` write such files.

        Returns:
            The motion.
        """
        from kinetree.files.npz import read_npz  # rarely needed

        check_robot(robot)
        return Motion(robot, **read_npz(path, ("times", "q"), ("v", "a")))

    def save(self, path: str | Path) -> None:
        """Write times, q, v and a to an NPZ file.

        Arguments:
            path: of the file.
        """
        file = kinds.path("path", path)
        if file.suffix.lower() != ".npz":  # NumPy adds this suffix
            file = file.with_name(f"{file.name}.npz")
        with complete(file) as temporary:
            np.savez_compressed(temporary, times=self.times, q=self.q, v=self.v, a=self.a)

    # at any time

    @property
    def start(self) -> float:
        """The time of the first sample, s."""
        return float(self.times[0])

    @property
    def duration(self) -> float:
        """The time from the first sample to the last, s."""
        return float(self.times[-1] - self.times[0])

    @cached_property
    def _spline(self) -> Any:
        if self._v is None:
            interpolate = scipy_module("interpolate")
            degree = min(5, 2 * ((len(self.times) - 1) // 2) + 1, len(self.times) - 1)
            return interpolate.make_interp_spline(self.times, self.q, k=degree)
        given = [self.q, self.robot.charts.coordinate_rates(self.q, self._v)]
        if self._a is not None:
            extra = turning(self.robot, self.q, self._v)
            given.append(extra + self.robot.charts.coordinate_rates(self.q, self._a))
        return through_derivatives(self.times, np.stack(given, axis=1))

    def at(self, time: ArrayLike) -> MotionState:
        """The state at given times.

        Arguments:
            time: s, (...), within the motion.

        Returns:
            q (..., nq), v and a (..., nv), interpolated.
        """
        t = finite_array("time", time)
        late = (t < self.times[0] - 1e-9) | (t > self.times[-1] + 1e-9)
        if late.any():
            raise KinetreeError(
                f"time: t = {float(t[late].flat[0]):g} s is outside of the motion, which lasts "
                f"from {self.times[0]:g} to {self.times[-1]:g} s"
            )
        t = np.clip(t, self.times[0], self.times[-1])
        s, ds = self._spline(t), self._spline(t, 1)
        dds = self._spline(t, 2) if getattr(self._spline, "k", 5) > 1 else np.zeros_like(s)
        return state_of_spline(self.robot, s, ds, dds)

    @cached_property
    def _sampled(self) -> MotionState:
        return self.at(self.times)

    @property
    def v(self) -> Array:
        """The velocities at `times`, (T, nv)."""
        return self._sampled.v if self._v is None else self._v

    @property
    def a(self) -> Array:
        """The accelerations at `times`, (T, nv)."""
        return self._sampled.a if self._a is None else self._a

    @cached_property
    def tau(self) -> Array:
        """The joint forces at `times`, (T, nv)."""
        return self.robot.inverse_dynamics(self.q, self.v, self.a)

    # other motions

    def resampled(self, times: ArrayLike) -> Motion:
        """The same motion at other times.

        Arguments:
            times: s, (T,), within the motion; or a number, of samples per second.

        Returns:
            A new motion.
        """
        t = finite_array("times", times)
        if t.ndim == 0:
            rate = number("times", times, above=0.0)
            t = np.linspace(
                self.times[0], self.times[-1], sample_count(self.duration, rate, 2, "times")
            )
        return Motion(self.robot, t, *self.at(t))

    def cut(self, first: float, last: float) -> Motion:
        """The part between two times; it starts at zero.

        Arguments:
            first, last: s.

        Returns:
            A new motion.
        """
        first, last = number("first", first), number("last", last)
        if not first < last:
            raise KinetreeError(f"cut({first!r}, {last!r}): the first time must be before the last")
        near = 1e-9 * (last - first)  # a sample at either end is not taken twice
        inside = self.times[(self.times > first + near) & (self.times < last - near)]
        t = np.concatenate([[first], inside, [last]])
        return Motion(self.robot, t - first, *self.at(t))

    def faster(self, factor: float) -> Motion:
        """The same motion at another speed.

        Arguments:
            factor: 2 is twice as fast.

        Returns:
            A new motion.
        """
        factor = number("factor", factor, above=0.0)
        start = self.times[0]
        times = start + (self.times - start) / factor
        a = self.a * factor * factor
        if not np.isfinite(a).all():
            raise KinetreeError(f"factor={factor:g}: the accelerations overflow")
        return Motion(self.robot, times, self.q, self.v * factor, a)

    def then(self, other: Motion) -> Motion:
        """This motion, immediately followed by another.

        Arguments:
            other: starts where this one ends.

        Returns:
            A new motion.
        """
        self.check_same(other)
        gap = np.abs(self.robot.difference(self.q[-1], other.q[0])).max()
        if gap > 1e-6:
            raise KinetreeError(
                f"the second motion starts {gap:.3g} away from where the first ends; "
                "robot.transition(...) computes a motion between them"
            )
        times = np.concatenate([self.times, self.times[-1] + other.times[1:] - other.times[0]])
        q, v, a = (
            np.concatenate([one, two[1:]])
            for one, two in ((self.q, other.q), (self.v, other.v), (self.a, other.a))
        )
        return Motion(self.robot, times, q, v, a)

    def blend(self, other: Motion, duration: float, rate: float = 100.0) -> Motion:
        """This motion, faded into another; the dynamics are not considered.

        Arguments:
            other: starts while this one ends.
            duration: of the mixed part, s.
            rate: samples per second while they are mixed.

        Returns:
            A new motion.
        """
        self.check_same(other)
        duration, rate = number("duration", duration), number("rate", rate, above=0.0)
        if not 0.0 < duration < min(self.duration, other.duration):
            raise KinetreeError(
                f"blend: duration={duration!r}: it must be shorter than both motions, "
                f"{min(self.duration, other.duration):g} s"
            )
        u = np.linspace(0.0, 1.0, sample_count(duration, rate, 3))
        share = (u**3 * (10.0 - 15.0 * u + 6.0 * u**2))[:, None]
        one = self.at(self.times[-1] - duration * (1.0 - u)).q
        two = other.at(other.times[0] + duration * u).q
        mixed = self.robot.integrate(one, share * self.robot.difference(one, two))
        before = self.times[self.times < self.times[-1] - duration - 1e-9]
        after = other.times[other.times > other.times[0] + duration + 1e-9]
        times = [before, self.times[-1] - duration * (1.0 - u)]
        times.append(self.times[-1] - duration - other.times[0] + after)
        q = [self.at(before).q, mixed, other.at(after).q]
        return Motion(self.robot, np.concatenate(times), np.concatenate(q))

    def check_same(self, other: Motion) -> None:
        """Raise an error if another motion is not of the same skeleton.

        Arguments:
            other: the motion to compare with.
        """
        same_robot(self.robot, instance("other", other, Motion, "a kinetree.Motion").robot)

    # pictures

    def plot(self, path: str | Path | None = None) -> Any:
        """A plot of q, v and the joint forces over time.

        Arguments:
            path: where to save it; not saved if None.

        Returns:
            Matplotlib's figure.
        """
        from kinetree.motion.pictures import plot_motion

        return plot_motion(self, path)

    def figures(self, path: str | Path | None = None, count: int = 8, axes: str = "xz") -> Any:
        """Stick figures at equal intervals of time, side by side.

        Arguments:
            path: where to save it; not saved if None.
            count: the number of figures.
            axes: the two axes of the world that are drawn.

        Returns:
            Matplotlib's figure.
        """
        from kinetree.motion.pictures import stick_figures

        return stick_figures(self, path, count, axes)

    def strobe(self, path: str | Path | None = None, count: int = 12, axes: str = "xz") -> Any:
        """Stick figures at their positions, as in a strobe photograph.

        Arguments:
            path: where to save it; not saved if None.
            count: the number of figures.
            axes: the two axes of the world that are drawn.

        Returns:
            Matplotlib's figure.
        """
        from kinetree.motion.pictures import strobe

        return strobe(self, path, count, axes)


def same_robot(one: Robot, other: Robot) -> None:
    """Raise an error if two robots have other joints."""
    if one.joints == other.joints and one.nq == other.nq:
        return
    lacking = [name for name in one.joints if name not in other.joints]
    lacking = lacking or [name for name in other.joints if name not in one.joints]
    words = f"joint {lacking[0]!r} is in one only" if lacking else "their joints differ in order"
    raise KinetreeError(
        f"the motions are of robots {one.name!r} and {other.name!r}, which do not match: {words}"
    )


def _with_turns(given: Array, joined: Array, times: Array, v: Array) -> Array:
    """The given coordinates where velocities agree better with them than with the shortest path.

    A joint that turns by more than half a turn between two samples does not take the shortest path.

    Arguments:
        given, joined: coordinates as given, and continued along shortest paths, (T, n).
        times: s, (T,).
        v: velocities, (T, n).
    """
    expected = 0.5 * (v[1:] + v[:-1]) * np.diff(times)[:, None]
    ways = np.diff(given, axis=0), np.diff(joined, axis=0)
    better = np.abs(ways[0] - expected) < np.abs(ways[1] - expected)
    extra = np.cumsum(np.where(better, ways[0] - ways[1], 0.0), axis=0)
    return joined + np.concatenate([np.zeros_like(given[:1]), extra])


def _rates(name: str, given: ArrayLike, count: int, nv: int) -> Array:
    array = finite_array(name, given)
    if array.shape != (count, nv):
        raise ShapeError(f"{name} has shape {array.shape}; ({count}, {nv}) is expected")
    return array
