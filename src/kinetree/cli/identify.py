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


def write(
    found: Identified, output: Path | None, page: Path | None, plot: Path | None
) -> list[str]:
    """Write the files that were asked for; their paths."""
    for path, save in ((output, found.save), (page, found.report), (plot, found.plot)):
        if path is not None:
            save(path)
    return [str(path) for path in (output, page, plot) if path is not None]


def summary(found: Identified, files: list[str]) -> dict[str, Any]:
    """What was found, as values that JSON has."""
    log = found.validation or found.log
    assert log is not None
    errors = found.errors(log, found.before), found.errors(log)
    before, after = (float(np.sqrt((x.rms**2).mean())) for x in errors)
    return {
        "base_parameters": len(found.estimate.base),
        "condition": float(found.estimate.condition),
        "errors_of": "validation" if found.validation is not None else "fitted",
        "error_before": before,
        "error_after": after,
        "vague": len(found.vague),
        "impossible": list(found.impossible),
        "files": files,
    }


def lines(found: Identified, files: list[str]) -> Iterator[str]:
    """What was found, line by line."""
    x = summary(found, files)
    yield f"{x['base_parameters']} base parameters, condition number {x['condition']:.3g}"
    errors = f"{x['error_before']:.4g} before, {x['error_after']:.4g} after"
    yield f"error of joint forces ({x['errors_of']}): {errors}"
    if x["vague"]:
        yield f"{x['vague']} base parameters are known to less than 30 %"
    if x["impossible"]:
        yield f"no body can have the inertia of {', '.join(x['impossible'])}"
    yield from files


def _prepared(log: Log, cutoff: float) -> Log:
    """The log with velocities and accelerations, without forces at their limits."""
    log = log.without_saturation()
    if cutoff > 0.0:
        steps = np.diff(log.time)
        uniform = np.ptp(steps) < 0.01 * steps.mean()
        return filtered(log if uniform else resampled(log), cutoff)
    return differentiated(log)
