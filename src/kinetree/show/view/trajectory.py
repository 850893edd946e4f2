"""A trajectory that the viewer plays: times, configurations, velocities."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.capture.bvh import MotionCapture, read_bvh
from kinetree.errors import KinetreeError, SimulationWarning
from kinetree.files.npz import read_npz
from kinetree.motion.motion import Motion
from kinetree.robot import Robot
from kinetree.robot.checks import finite_array, real_array
from kinetree.simulate.result import Simulation
from kinetree.typing import Array, ArrayLike

Playable = Mapping[str, ArrayLike] | Motion | MotionCapture | str | os.PathLike[str]
"""The motions that the viewer plays; a `Simulation` is a mapping."""
RATE = 100.0
"""The states per second of a trajectory without times."""


class Trajectory:
    """The states of a robot over time; of several trajectories, the first.

    Arguments:
        robot: what moves.
        motion: a `Simulation`, a `Motion`, a `MotionCapture`, or a file of one of them; or arrays
            by name: q (T, nq); v (T, nv), by default the differences of q; times (T,), s, by
            default 100 states a second; tau (T, nv), the joint forces, by default zero.

    end: the duration, s.
    """

    def __init__(self, robot: Robot, motion: Playable) -> None:
        self._robot = robot
        arrays = arrays_of(motion)
        if "q" not in arrays:
            raise KinetreeError(f"the trajectory has {', '.join(map(repr, arrays))}, and no 'q'")
        q = _first(robot, "q", arrays["q"], robot.nq)
        v = _first(robot, "v", arrays["v"], robot.nv) if "v" in arrays else q[:, :0]
        v = v if len(v) == len(q) else q[:, :0]
        times = _times(arrays, len(q))
        count = _finite_count(np.concatenate([q, v], axis=1), times)
        self._q, self._times = robot.normalize(q[:count]), times[:count]
        self._v = v[:count] if v.shape[1] == robot.nv else self._velocities()
        tau = _first(robot, "tau", arrays["tau"], robot.nv) if "tau" in arrays else v[:0]
        self._recorded = len(tau) == len(q)
        self._tau = tau[:count] if len(tau) == len(q) else np.zeros((count, robot.nv))
        self.end = float(self._times[-1])

    def at(self, t: float) -> tuple[Array, Array]:
        """The state at a time, interpolated on the manifold.

        Arguments:
            t: s.

        Returns:
            q (nq,) and v (nv,).
        """
        if len(self._times) == 1:
            return self._q[0], self._v[0]
        k = int(np.clip(np.searchsorted(self._times, t) - 1, 0, len(self._times) - 2))
        share = (t - self._times[k]) / (self._times[k + 1] - self._times[k])
        share = float(np.clip(share, 0.0, 1.0))
        step = self._robot.difference(self._q[k], self._q[k + 1])
        v = (1.0 - share) * self._v[k] + share * self._v[k + 1]
        return self._robot.integrate(self._q[k], share * step), v

    def tau_at(self, t: float) -> Array:
        """The joint forces at a time, those of the last state before it, (nv,).

        Arguments:
            t: s.
        """
        tau: Array = self._tau[max(0, int(np.searchsorted(self._times, t, side="right")) - 1)]
        return tau

    def forces(self) -> tuple[Array, Array]:
        """The joint forces over time, as recorded, or else by inverse dynamics.

        Returns:
            Times (T,), s, and forces (T, nv).
        """
        if not self._recorded and len(self._times) > 1:
            a = np.gradient(self._v, self._times, axis=0)
            self._tau = self._robot.inverse_dynamics(self._q, self._v, a)
            self._recorded = True
        return self._times, self._tau

    def _velocities(self) -> Array:
        """The differences of the configurations, for each time."""
        if len(self._q) == 1:
            return np.zeros((1, self._robot.nv))
        between = self._robot.difference(self._q[:-1], self._q[1:]) / np.diff(self._times)[:, None]
        return np.concatenate([between, between[-1:]])


def _finite_count(states: Array, times: Array) -> int:
    """The number of states before the first that is not finite; a warning if there is one."""
    finite: Any = np.isfinite(states).all(axis=1)
    if finite.all():
        return len(states)
    count = int(np.argmin(finite))
    if count == 0:
        raise KinetreeError("the trajectory's first state is not finite")
    warnings.warn(
        f"the trajectory is not finite after {times[count]:g} s and is shown up to that time",
        SimulationWarning,
        stacklevel=4,
    )
    return count


def _first(robot: Robot, name: str, given: ArrayLike, size: int) -> Array:
    """An array of states (T, size); of several, the first."""
    x = real_array(f"the trajectory's {name}", given)
    x = x.reshape(-1, *x.shape[-2:])[0] if x.ndim > 2 else x
    if x.ndim != 2 or x.shape[1] != size or not len(x):
        raise KinetreeError(
            f"the trajectory's {name} has shape {x.shape}; (T, {size}) is expected for robot "
            f"{robot.name!r}"
        )
    return x


def _times(given: Mapping[str, ArrayLike], count: int) -> Array:
    times: Array = np.arange(count) / RATE
    if "times" in given:
        times = finite_array("the trajectory's times", given["times"])
    if times.shape != (count,) or (np.diff(times) <= 0).any():
        raise KinetreeError(
            f"the trajectory's times have shape {times.shape}; {count} rising numbers are expected"
        )
    return times - times[0]


def arrays_of(motion: Playable) -> Mapping[str, ArrayLike]:
    """The arrays of a motion by name: q, and v and times if they are known."""
    if isinstance(motion, (str, os.PathLike)):
        return load_trajectory(Path(motion))
    if isinstance(motion, Motion):
        return {"q": motion.q, "v": motion.at(motion.times).v, "times": motion.times}
    if isinstance(motion, MotionCapture):
        return {"q": motion.q, "times": motion.times}
    if not isinstance(motion, Mapping):
        raise KinetreeError(
            f"the trajectory is a {type(motion).__name__}; a Simulation, a Motion, a file or "
            "arrays by name with at least q are expected"
        )
    return motion


def load_trajectory(file: Path) -> Mapping[str, ArrayLike]:
    """The trajectory of a file that a simulation was saved to, an NPZ file with q, or a BVH file.

    Arguments:
        file: ends with .npz, .parquet or .bvh.
    """
    if file.suffix.lower() == ".bvh":
        return arrays_of(read_bvh(file))
    if file.suffix != ".npz":
        return Simulation.load(file)
    return read_npz(file, ("q",), ("v", "times", "tau"))
