"""The command `kinetree identify`: a log of measurements to a better model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kinetree import Robot
from kinetree.errors import KinetreeError
from kinetree.identify import Identified, Log, differentiated, filtered, fit, read, resampled

SLOW = 0.02
"""rad/s or m/s: joints that are slower are not used where dry friction is sought."""


def run(
    robot: Robot,
    path: Path,
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
    log = _prepared(read(path, robot), cutoff)
    if "friction" in names:
        log = log.without_standstill(SLOW)
    train, test = log.split(share) if share < 1.0 else (log, None)
    return fit(
        robot, train, drives=names, method=method, weights=weights, trust=trust, validation=test
    )


def report(
    found: Identified, output: Path | None, page: Path | None, plot: Path | None
) -> Iterator[str]:
    """Write the files, and say what was found, line by line."""
    log = found.validation or found.log
    assert log is not None
    before, after = found.errors(log, found.before), found.errors(log)
    count = len(found.estimate.base)
    yield f"{count} base parameters, condition number {found.estimate.condition:.3g}"
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
