"""Reasons not to use an identified model: nothing excited, flipped signs, forces unexplained, or
predicted worse than before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.identify.log import Log
from kinetree.typing import Array

if TYPE_CHECKING:
    from kinetree.identify.result import Identified
    from kinetree.robot import Robot

STILL = 1e-3
"""rad or m: a joint that moves less counts as at rest."""
EXPLAINED = 0.2
"""A fit that explains less of the forces' variance explains nothing."""
WORSE = 1.1
"""Errors on a validation log grew if they are more than this many times those of before."""
EXACT = 0.99
"""A fit that explains more of the forces' variance is good, whatever it was before."""
OPPOSITE = -0.5
"""A correlation of measured forces with those of the model below this: a sign is flipped."""


def doubts(identified: Identified) -> tuple[str, ...]:
    """The reasons, as sentences; none for a result to use.

    Arguments:
        identified: what is judged, by its validation log if it has one.
    """
    reasons = []
    count = len(identified.estimate.base)
    if len(identified.vague) == count:
        reasons.append(
            f"the motion excites nothing: none of the {count} base parameters is well determined"
        )
    elif identified.log is not None and still_joints(identified.log) == list(
        range(identified.before.nq)
    ):
        reasons.append("the motion excites nothing: no joint moves")
    log = identified.validation or identified.log
    if log is not None:
        reasons += _doubts_of_forces(identified, log)
    return tuple(reasons)


def still_joints(log: Log) -> list[int]:
    """The coordinates that do not move; none is known to of robots with quaternions."""
    if log.robot.nq != log.robot.nv:
        return []
    return [int(k) for k in np.flatnonzero(np.ptp(log.q, axis=0) < STILL)]


def _doubts_of_forces(identified: Identified, log: Log) -> list[str]:
    reasons = []
    opposite = _correlations(log, identified.predicted(log, identified.before)) < OPPOSITE
    if opposite.any():
        names = [f"{identified.before.labels.v[k]!r}" for k in np.flatnonzero(opposite)]
        reasons.append(
            f"the forces of joint {', '.join(names)} have the opposite sign of those that the "
            "robot file predicts: is the sign of the force or of the position flipped?"
        )
    share = explained(log, identified.predicted(log))
    if share < EXPLAINED:
        reasons.append(
            f"the fit explains {max(share, 0.0):.0%} of the forces' variance: are positions and "
            "forces of the same joints, in rad and N m, at the same times?"
        )
    elif log is identified.validation and share < EXACT:
        before, after = _error(identified, log, identified.before), _error(identified, log)
        if after > WORSE * before:
            reasons.append(
                f"the new robot predicts the validation log worse than the old one: the error "
                f"grows from {before:.4g} to {after:.4g}. Are the columns those of the right "
                "joints, and is the rest of the log long enough to fit?"
            )
    return reasons


def _error(identified: Identified, log: Log, robot: Robot | None = None) -> float:
    """The root mean square of the errors of all joint forces."""
    return float(np.sqrt((identified.errors(log, robot).rms ** 2).mean()))


def explained(log: Log, predicted: Array) -> float:
    """The share of the forces' variance that a prediction explains; one for a perfect one.

    Arguments:
        log: what was measured.
        predicted: joint forces, (T, nv).
    """
    error = np.where(log.keep, log.tau - predicted, 0.0)
    total = (_centered(log, log.tau) ** 2).sum()
    return float(1.0 - (error**2).sum() / total) if total > 0.0 else 0.0


def _correlations(log: Log, predicted: Array) -> Array:
    """How measured and predicted forces vary together, from -1 to 1; zero if one is constant."""
    a, b = _centered(log, log.tau), _centered(log, predicted)
    sizes = np.sqrt((a**2).sum(axis=0) * (b**2).sum(axis=0))
    together: Array = (a * b).sum(axis=0) / np.where(sizes > 0.0, sizes, 1.0)
    return together


def _centered(log: Log, forces: Array) -> Array:
    """The forces that are used, without their means."""
    kept = np.where(log.keep, forces, 0.0)
    mean = kept.sum(axis=0) / np.maximum(log.used, 1)
    return np.where(log.keep, forces - mean, 0.0)
