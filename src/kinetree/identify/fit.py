"""From logs to a model in one call.

Each step is a file: parameters and their combinations (`parameters`, `base`), logs (`log`, `read`,
`smooth`), the data compressed (`factor`), estimates (`least_squares`), consistency (`log_cholesky`,
`consistent`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kinetree.errors import IdentificationWarning, KinetreeError, LogError, among, unknown
from kinetree.identify.base import BaseParameters, base_parameters
from kinetree.identify.consistent import fit_consistent
from kinetree.identify.doubts import still_joints
from kinetree.identify.factor import Factors
from kinetree.identify.least_squares import Estimate, accumulate, ordinary, reweighted, weighted
from kinetree.identify.log import Log
from kinetree.identify.log_cholesky import fit_log_cholesky
from kinetree.identify.parameters import FRICTION
from kinetree.identify.result import Identified
from kinetree.kinds import instance
from kinetree.robot.checks import number
from kinetree.typing import Array

if TYPE_CHECKING:
    from kinetree.robot import Robot

CONSISTENT: dict[str, Callable[[Array, Array, Array, float, Array], Array]] = {
    "log-cholesky": fit_log_cholesky,
    "lmi": fit_consistent,
}
METHODS = (*CONSISTENT, "base")
WEIGHTS = ("joints", "equal", "robust")


def fit(
    robot: Robot,
    logs: Log | Iterable[Log] | Factors,
    *,
    drives: Sequence[str] = FRICTION,
    method: Literal["log-cholesky", "lmi", "base"] = "log-cholesky",
    weights: Literal["joints", "equal", "robust"] = "joints",
    trust: float = 1.0,
    validation: Log | None = None,
) -> Identified:
    """The parameters of a robot from measurements of its motion.

    Arguments:
        robot: the CAD model: its structure is kept, its numbers are the prior.
        logs: with velocities and accelerations; one, or several, which are read one by one. Or
            data that `accumulate` compressed, for the same robot and drives.
        drives: which numbers of the drives are identified, too: any of "armature", "damping",
            "friction", "stiffness" and "offset".
        method: "log-cholesky": physically consistent inertias, by Gauss–Newton iterations. "lmi":
            the same by convex optimisation (cvxpy). "base": least squares alone; inertias may be
            impossible.
        weights: "joints": by the noise of each joint. "equal": all the same. "robust": by the
            noise, with less weight on outliers (the logs are read several times).
        trust: the standard deviation of a body's inertia from the CAD model, as a geodesic
            distance: 1 is about a factor e in mass.
        validation: a log that is not fitted, to judge the result.

    Returns:
        The parameters, how certain they are, and a new robot that has them.
    """
    for name, value, valid in (("method", method, METHODS), ("weights", weights, WEIGHTS)):
        if not among(value, valid):
            raise unknown(name, value, valid, "kinetree.identify.fit")
    trust = number("trust", trust, above=0.0)
    if validation is not None:
        instance("validation", validation, Log, "a Log")
    base = base_parameters(robot, drives=drives)
    estimate = _estimated(base, logs, weights)
    _check_forces(estimate)
    _warn(estimate, logs)
    parameters, prior = base.parameters, base.parameters.nominal
    theta: Array
    if method == "base":
        theta = prior + np.linalg.pinv(base.matrix) @ (estimate.values - base.of(prior))
    else:
        # |R x - z|^2 without what no parameter changes
        A, z = estimate.R @ base.matrix, estimate.R @ estimate.values
        theta = CONSISTENT[method](A, z, prior, trust, parameters.drive_bounds)
    return Identified(estimate, theta, method, logs if isinstance(logs, Log) else None, validation)


def _estimated(base: BaseParameters, logs: Log | Iterable[Log] | Factors, weights: str) -> Estimate:
    if isinstance(logs, Factors):
        factors = _checked(base, logs, weights)
    elif weights == "robust":
        return reweighted(base, logs)
    else:
        factors = accumulate(base, logs)
    return ordinary(base, factors) if weights == "equal" else weighted(base, factors)


def _checked(base: BaseParameters, factors: Factors, weights: str) -> Factors:
    """Compressed data, checked for these parameters and weights."""
    if factors.count != len(base):
        raise KinetreeError(
            f"the compressed data have {factors.count} base parameters, but the robot has "
            f"{len(base)} with these drives: accumulate the data with the same drives"
        )
    if weights == "robust":
        raise KinetreeError(
            'weights="robust" needs the logs themselves: compressed data show no outliers'
        )
    return factors


def _check_forces(estimate: Estimate) -> None:
    """Refuse forces that were not measured, and name joints whose forces are zero throughout."""
    names = estimate.base.parameters.robot.labels.v
    driven = estimate.base.parameters.drive_of
    factors = estimate.factors
    zero = [k for k, (_, _, t) in enumerate(factors.split()) if factors.rows[k] and not t.any()]
    if len(zero) == len(names):
        raise LogError(
            f"the forces of all joints ({_listed(names)}) are zero throughout: were they measured?"
        )
    silent = [names[k] for k in zero if k in driven]
    if silent:
        _remark(
            f"the force of {_listed(silent)} is zero throughout; if it was not measured, the "
            "parameters of what it carries are wrong"
        )


def _warn(estimate: Estimate, logs: Any) -> None:
    """Warn of joints that do not move and of parameters that keep their values."""
    if isinstance(logs, Log) and (still := still_joints(logs)):
        _remark(
            f"{logs.source}: {_listed([logs.robot.labels.q[k] for k in still])} did not move, so "
            "the log says little about friction there, and about what is carried"
        )
    if estimate.unknown.size:
        names = [estimate.base.names[k] for k in estimate.unknown]
        more = f" and {len(names) - 4} more" if len(names) > 4 else ""
        _remark(
            f"too little excitation: the data say nothing about {'; '.join(names[:4])}{more}. "
            "They stay as the robot has them; exciting_motion(robot) shows them"
        )


def _listed(joints: Sequence[str]) -> str:
    """Joints by name, such as joint 'a', joint 'b'."""
    return ", ".join(f"joint {name!r}" for name in joints)


def _remark(text: str) -> None:
    warnings.warn(text, IdentificationWarning, stacklevel=4)
