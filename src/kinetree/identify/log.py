"""Logs of measurements, and the checks that each must pass.

A log has one row a sample: time, the configuration q, the joint forces tau, and, if they were
measured or computed, the velocity v and the acceleration a. `keep` says which joint's force is used
of which sample; `remarks` say what is not used, and why.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import LogError
from kinetree.identify.checks import numbers, truths
from kinetree.robot.checks import number
from kinetree.robot.core import check_robot
from kinetree.typing import Array

if TYPE_CHECKING:
    from kinetree.robot import Robot

FASTEST = 30.0
"""rad/s: a joint without limits that turns faster all the time is most likely given in degrees."""
OUTSIDE = 1.5
"""How many times its range a joint may be outside of its limits before degrees are suspected."""
SATURATED = 0.999
"""Fraction of the force limit: beyond it the drive is saturated."""
BEYOND = 1.5
"""A median force of more than this many times the limit is no saturation: a unit is wrong."""


@dataclass(frozen=True)
class Log:
    """Measurements of a robot's motion, checked.

    Arguments:
        robot: whose motion it is.
        time: s, (T,), increasing.
        q: configurations, (T, nq).
        tau: joint forces, (T, nv).
        v, a: velocities and accelerations, (T, nv); None if they are still to be computed.
        keep: which force of which sample is used, (T, nv); all if None.
        remarks: what is not used, and why.
        source: the file's name, for messages.
    """

    robot: Robot
    time: Array
    q: Array
    tau: Array
    v: Array | None = None
    a: Array | None = None
    keep: Any = None
    remarks: tuple[str, ...] = ()
    source: str = "the log"

    def __post_init__(self) -> None:
        check_robot(self.robot)
        time = self._numbers("time")
        if time.ndim != 1:
            raise LogError(f"{self.source}: time has shape {time.shape}; (samples,) is expected")
        object.__setattr__(self, "time", time)
        count = len(time)
        for name, length in self._lengths().items():
            if name in ("v", "a") and getattr(self, name) is None:
                continue
            array = self._numbers(name)
            if array.shape != (count, length):
                raise LogError(
                    f"{self.source}: {name} has shape {array.shape}; {(count, length)} is "
                    f"expected: a row for each of the {count} times, a column for each of "
                    f"{', '.join(self._columns(name)[:4])}, ..."
                )
            object.__setattr__(self, name, array)
        if self.keep is None:
            object.__setattr__(self, "keep", np.ones((count, self.robot.nv), dtype=bool))
        keep = truths(f"{self.source}: keep", self.keep, (count, self.robot.nv))
        object.__setattr__(self, "keep", keep)
        self._check()

    def _numbers(self, name: str) -> Array:
        """What was given under a name, as an array of numbers."""
        return numbers(f"{self.source}: {name}", getattr(self, name))

    def __len__(self) -> int:
        return len(self.time)

    @property
    def used(self) -> Array:
        """How many measurements of each joint force are used, (nv,)."""
        return self.keep.sum(axis=0)

    @property
    def motion(self) -> tuple[Array, Array, Array]:
        """q, v and a; an error if velocities or accelerations are still to be computed."""
        if self.v is None or self.a is None:
            raise LogError(
                f"{self.source}: it has no velocities or accelerations; filtered(log, cutoff) "
                "computes them"
            )
        return self.q, self.v, self.a

    @property
    def rate(self) -> float:
        """Samples per second."""
        return float((len(self.time) - 1) / (self.time[-1] - self.time[0]))

    def _lengths(self) -> dict[str, int]:
        nq, nv = self.robot.nq, self.robot.nv
        return {"q": nq, "tau": nv, "v": nv, "a": nv}

    def _columns(self, name: str) -> tuple[str, ...]:
        return self.robot.labels.q if name == "q" else self.robot.labels.v

    # checks

    def _check(self) -> None:
        if len(self.time) < 2:
            count = "one sample" if len(self.time) == 1 else "no samples"
            raise LogError(f"{self.source}: it has {count}; two or more are needed")
        self._check_time()
        whole = self._whole
        if whole.sum() < 2:
            raise LogError(
                f"{self.source}: {whole.sum()} of its {len(whole)} samples are complete; at least "
                f"two are needed. {self._scarcest} is missing most often"
            )
        time, q = self.time[whole], self.q[whole]
        self._check_degrees(time, q)
        if self.v is not None and self.robot.nq == self.robot.nv:
            self._check_velocities(time, q, self.v[whole])

    @property
    def _measured(self) -> dict[str, Array]:
        """What there is of q, tau, v and a."""
        arrays = {name: getattr(self, name) for name in ("q", "tau", "v", "a")}
        return {name: x for name, x in arrays.items() if x is not None}

    @property
    def _whole(self) -> NDArray[np.bool_]:
        """Which samples are complete, (T,)."""
        return np.logical_and.reduce([np.isfinite(x).all(axis=1) for x in self._measured.values()])

    @property
    def _scarcest(self) -> str:
        """The column that lacks most numbers."""
        gaps = {
            f"{name} of {joint!r}": count
            for name, x in self._measured.items()
            for joint, count in zip(
                self._columns(name), np.sum(~np.isfinite(x), axis=0), strict=True
            )
        }
        return max(gaps, key=lambda column: gaps[column])

    def _check_time(self) -> None:
        wrong = np.flatnonzero(~(np.diff(self.time) > 0.0))
        if wrong.size:
            k = int(wrong[0]) + 1
            raise LogError(
                f"{self.source}: time does not increase at sample {k}: {self.time[k]:.9g} s comes "
                f"after {self.time[k - 1]:.9g} s; sort the samples and remove repeated ones"
            )

    def _check_degrees(self, time: Array, q: Array) -> None:
        """Refuse angles that must be in degrees: far outside their limits, or far too fast."""
        lower, upper = self.robot.limits.lower, self.robot.limits.upper
        for k, name in enumerate(self.robot.labels.q):
            if self.robot.labels.q_units[k] != "rad":
                continue
            if np.isfinite([lower[k], upper[k]]).all():
                far = float(np.abs(q[:, k]).max(initial=0.0))
                reach = max(abs(lower[k]), abs(upper[k])) + OUTSIDE * (upper[k] - lower[k])
                seen = (
                    f"reaches {far:.4g}, but its limits are {lower[k]:.4g} and {upper[k]:.4g} rad"
                )
            else:
                rates = np.abs(np.diff(q[:, k]) / np.diff(time))
                far, reach = float(np.median(rates)), FASTEST
                seen = f"moves by {far:.4g} a second"
            if far > reach:
                raise LogError(
                    f"{self.source}: joint {name!r} {seen}: is it in degrees? Radians are "
                    "expected: multiply by pi / 180"
                )

    def _check_velocities(self, time: Array, q: Array, v: Array) -> None:
        """Refuse velocities that are not the rates of the configurations, such as degrees/s."""
        rates = np.diff(q, axis=0) / np.diff(time)[:, None]
        ours, theirs = np.median(np.abs(rates), axis=0), np.median(np.abs(v), axis=0)
        for k, name in enumerate(self.robot.labels.v):
            if ours[k] > 1e-3 and not 0.1 < theirs[k] / ours[k] < 10.0:
                raise LogError(
                    f"{self.source}: the velocity of joint {name!r} is {theirs[k]:.4g} (median), "
                    f"but its position changes by {ours[k]:.4g} a second: one of them has a wrong "
                    "unit, perhaps degrees; radians and metres are expected"
                )

    def _check_limits(self, limit: Array) -> None:
        """Refuse forces that are mostly far beyond their limits, such as those in N mm."""
        usual = np.median(np.abs(self.tau[self._whole]), axis=0)
        for k in np.flatnonzero(usual > BEYOND * limit)[:1]:
            unit = "N m" if self.robot.labels.v_units[k].startswith("rad") else "N"
            raise LogError(
                f"{self.source}: the force of joint {self.robot.labels.v[k]!r} is {usual[k]:.4g} "
                f"(median), but the robot's limit is {limit[k]:.4g} {unit}: is the force in "
                f"another unit? If it is in {unit}, correct the limit in the robot file"
            )

    # what is not used

    def without(self, which: NDArray[np.bool_], reason: str) -> Log:
        """The same log, with some forces not used.

        Arguments:
            which: (T,) or (T, nv), true where a force is not used.
            reason: why, for `remarks`.

        Returns:
            A new log.
        """
        whole = self.keep.shape
        gone = truths(f"{self.source}: which", which, whole[:1], whole)
        gone = np.broadcast_to(gone[:, None] if gone.ndim == 1 else gone, whole)
        new = gone & self.keep
        if not new.any():
            return self
        counts = new.sum(axis=0)
        worst = int(np.argmax(counts))
        if (counts == counts[0]).all():
            which_ones = f"{counts[0]} measurements of every joint"
        else:
            joint = self.robot.labels.v[worst]
            which_ones = f"{new.sum()} measurements, {counts[worst]} of them of joint {joint!r},"
        remark = f"{which_ones} are not used: {reason}"
        return replace(self, keep=self.keep & ~gone, remarks=(*self.remarks, remark))

    def without_gaps(self) -> Log:
        """The same log without the samples that lack a number.

        Returns:
            A new log.
        """
        wrong = ~self._whole
        if not wrong.any():
            return self
        log = self.without(wrong, "a number is missing or not finite")
        return log.part(~wrong)

    def without_saturation(self) -> Log:
        """The same log without forces at their limits.

        Returns:
            A new log.
        """
        limit = self.robot.limits.effort
        self._check_limits(limit)
        return self.without(np.abs(self.tau) >= SATURATED * limit, "the force is at its limit")

    def without_standstill(self, speed: float) -> Log:
        """The same log without the forces of joints that hardly move, whose friction is unknown.

        Arguments:
            speed: rad/s or m/s; the forces of slower joints are not used.

        Returns:
            A new log.
        """
        speed = number("speed", speed, above=0.0)
        _, v, _ = self.motion
        slow = np.abs(v) < speed
        return self.without(slow, f"the joint is slower than {speed:g}, so friction is unknown")

    def part(self, rows: Array | NDArray[np.bool_] | slice) -> Log:
        """Some samples of the log.

        Arguments:
            rows: a slice, indices, or booleans.

        Returns:
            A new log.
        """
        try:
            time = self.time[rows]
        except (IndexError, TypeError, ValueError):
            raise LogError(
                f"{self.source}: rows must be a slice, numbers of samples or truth values, got "
                f"{rows!r:.200}"
            ) from None
        if time.ndim != 1 or len(time) < 2:
            raise LogError(f"{self.source}: rows must name two samples or more, got {rows!r:.200}")
        return replace(
            self,
            time=time,
            q=self.q[rows],
            tau=self.tau[rows],
            v=None if self.v is None else self.v[rows],
            a=None if self.a is None else self.a[rows],
            keep=self.keep[rows],
        )

    def split(self, share: float = 0.75) -> tuple[Log, Log]:
        """The beginning of the log, for fitting, and its end, for validation.

        Arguments:
            share: the share of the samples in the first part.

        Returns:
            Two logs.
        """
        if not 0.0 < number("share", share, above=0.0) < 1.0:
            raise LogError(f"{self.source}: share must lie between 0 and 1, got {share!r}")
        at = round(len(self) * share)
        if at < 2 or len(self) - at < 2:
            raise LogError(
                f"{self.source}: {len(self)} samples are too few to split: both parts need two or "
                "more, and a fit needs some for each parameter"
            )
        return self.part(slice(None, at)), self.part(slice(at, None))
