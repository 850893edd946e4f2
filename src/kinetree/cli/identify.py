"""The command `kinetree identify`: logs of measurements to a better model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer

from kinetree import Robot
from kinetree._lazy import cached_property
from kinetree.cli.outputs import check_outputs
from kinetree.errors import KinetreeError
from kinetree.files.column_names import columns_of_options
from kinetree.identify import Identified, Log, differentiated, filtered, fit, read, resampled
from kinetree.identify.report import checked_ending
from kinetree.identify.result import VAGUE

SLOW = 0.02
"""rad/s or m/s: joints that are slower are not used where dry friction is sought."""


def check_files(
    output: Path | None, report: Path | None, plot: Path | None, overwrite: bool
) -> None:
    """Refuse files that cannot be written, before the log is read.

    Arguments:
        output: the new robot.
        report, plot: of the result.
        overwrite: whether files may be replaced.
    """
    check_outputs([output, report, plot], overwrite, picture=plot)
    if report is not None:
        checked_ending(report)


@dataclass(frozen=True)
class Recordings:
    """What is fitted of some files: each is read when it is needed, and may be read repeatedly.

    Arguments:
        robot: whose motion it is.
        paths: of the files.
        topic: of ROS bags, if they have several.
        columns: names of columns by what they are.
        cutoff: Hz; frequencies above are removed. 0: none are.
        moving: whether joints that stand still are left out.
        share: of the last file that is fitted; of the others everything is.
    """

    robot: Robot
    paths: Sequence[Path]
    topic: str
    columns: Mapping[str, str]
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
        log = _prepared(read(path, self.robot, self.columns, self.topic), self.cutoff)
        return log.without_standstill(SLOW) if self.moving else log


def run(
    robot: Robot,
    paths: Sequence[Path],
    topic: str,
    columns: Sequence[str],
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
    given = columns_of_options(columns, robot.labels.q, robot.labels.v)
    logs = Recordings(robot, paths, topic, given, cutoff, "friction" in names, share)
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


def write(
    found: Identified, output: Path | None, page: Path | None, plot: Path | None, force: bool
) -> list[str]:
    """Write the files that were asked for; their paths. None if there are doubts, unless forced."""
    if found.doubts and not force:
        return []
    for path, save in ((output, found.save), (page, found.report), (plot, found.plot)):
        if path is not None:
            save(path)
    return [str(path) for path in (output, page, plot) if path is not None]


def summary(found: Identified, files: list[str]) -> dict[str, Any]:
    """What was found, as values that JSON has."""
    return {
        "base_parameters": len(found.estimate.base),
        "condition": float(found.estimate.condition),
        **_errors(found),
        "vague": len(found.vague),
        "doubts": list(found.doubts),
        "impossible": list(found.impossible),
        "files": files,
    }


def _errors(found: Identified) -> dict[str, Any]:
    """The errors of joint forces, before and after; none if several files were fitted whole."""
    log = found.validation or found.log
    if log is None:
        return {}
    errors = found.errors(log, found.before), found.errors(log)
    before, after = (float(np.sqrt((x.rms**2).mean())) for x in errors)
    kind = "validation" if found.validation is not None else "fitted"
    return {"errors_of": kind, "error_before": before, "error_after": after}


def lines(found: Identified, files: list[str]) -> Iterator[str]:
    """What was found, line by line."""
    x = summary(found, files)
    yield f"{x['base_parameters']} base parameters, condition number {x['condition']:.3g}"
    if "errors_of" in x:
        errors = f"{x['error_before']:.4g} before, {x['error_after']:.4g} after"
        yield f"error of joint forces ({x['errors_of']}): {errors}"
    determined = x["base_parameters"] - x["vague"]
    yield (
        f"{determined} of {x['base_parameters']} base parameters are well determined, {x['vague']} "
        f"are vague: their standard deviations are above {VAGUE:.0%} of their values"
    )
    if x["impossible"]:
        yield f"no body can have the inertia of {', '.join(x['impossible'])}"
    yield from files


def tell_doubts(found: Identified, force: bool) -> int:
    """Say why the result is of no use, if it is of none; the exit code."""
    refused = bool(found.doubts) and not force
    for line in (*found.doubts, *(["no file was written; --force writes them"] * refused)):
        typer.echo(f"kinetree: {line}", err=True)
    return int(refused)


def _prepared(log: Log, cutoff: float) -> Log:
    """The log with velocities and accelerations, without forces at their limits."""
    log = log.without_gaps().without_saturation()
    steps = np.diff(log.time)
    if np.ptp(steps) >= 0.01 * steps.mean():
        log = resampled(log)
    return filtered(log, cutoff) if cutoff > 0.0 else differentiated(log)
