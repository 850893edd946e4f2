"""The command `kinetree identify`: logs of measurements to a better model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kinetree import Robot
from kinetree.errors import KinetreeError
from kinetree.identify import Identified, Log, differentiated, filtered, fit, read, resampled
from kinetree.lazy import cached_property

SLOW = 0.02
"""rad/s or m/s: joints that are slower are not used where dry friction is sought."""


@dataclass(frozen=True)
class Recordings:
    """What is fitted of some files: each is read when it is needed, and may be read repeatedly.

    Arguments:
        robot: whose motion it is.
        paths: of the files.
        topic: of ROS bags, if they have several.
        cutoff: Hz; frequencies above are removed. 0: none are.
        moving: whether joints that stand still are left out.
        share: of the last file that is fitted; of the others everything is.
    """

    robot: Robot
    paths: Sequence[Path]
    topic: str
    cutoff: float
    moving: bool
    share: float

    def __iter__(self) -> Iterator[Log]:
        yield from map(self._log, self.paths[:-1])
        yield self.last[0]

    @cached_property
    def last(self) -> tuple[Log, Log | None]:
        """The last file: what is fitted of it, and what is not."""
        log = self._log(self.paths[-1])
        return log.split(self.share) if self.share < 1.0 else (log, None)

    def _log(self, path: Path) -> Log:
        log = _prepared(read(path, self.robot, topic=self.topic), self.cutoff)
        return log.without_standstill(SLOW) if self.moving else log


def run(
    robot: Robot,
    paths: Sequence[Path],
    topic: str,
    cutoff: float,
    drives: str,
    method: Any,
    weights: Any,
    trust: float,
    share: float,
) -> Identified:
    """The identification that the options ask for."""
    if not 0.0 < share <= 1.0:
        raise KinetreeError(f"--share {share:g}: a number above 0 and up to 1 is expected")
    names = [name.strip() for name in drives.split(",") if name.strip()]
    logs = Recordings(robot, paths, topic, cutoff, "friction" in names, share)
    train, test = logs.last
    return fit(
        robot,
        train if len(paths) == 1 else logs,
        drives=names,
        method=method,
        weights=weights,
        trust=trust,
        validation=test,
    )


def report(
    found: Identified, output: Path | None, page: Path | None, plot: Path | None
) -> Iterator[str]:
    """Write the files, and say what was found, line by line."""
    count = len(found.estimate.base)
    yield f"{count} base parameters, condition number {found.estimate.condition:.3g}"
    log = found.validation or found.log
    if log is not None:  # not so if several files were fitted whole
        before, after = found.errors(log, found.before), found.errors(log)
        what = "validation" if found.validation is not None else "fitted"
        old, new = (float(np.sqrt((x.rms**2).mean())) for x in (before, after))
        yield f"error of joint forces ({what}): {old:.4g} before, {new:.4g} after"
    if found.vague:
        yield f"{len(found.vague)} base parameters are known to less than 30 %"
    if found.impossible:
        yield f"no body can have the inertia of {', '.join(found.impossible)}"
    if output is not None:
        found.save(output)
        yield str(output)
    if page is not None:
        found.report(page)
        yield str(page)
    if plot is not None:
        found.plot(plot)
        yield str(plot)


def _prepared(log: Log, cutoff: float) -> Log:
    """The log with velocities and accelerations, without forces at their limits."""
    log = log.without_saturation()
    if cutoff > 0.0:
        steps = np.diff(log.time)
        uniform = np.ptp(steps) < 0.01 * steps.mean()
        return filtered(log if uniform else resampled(log), cutoff)
    return differentiated(log)
