"""Least squares of base parameters: ordinary, weighted by joints, reweighted against outliers.

Sources: M. Gautier & P. Poignet, Extended Kalman filtering and weighted least squares dynamic
identification of robot, Control Engineering Practice 9 (2001), for weights by the residuals of
joints; P. J. Huber & E. M. Ronchetti, Robust Statistics (2nd ed., 2009), for outliers.

    symbol     code        meaning
    x          values      base parameters
    sigma_k    noise[k]    standard deviation of the residuals of velocity k
    R, z       R, z        the data of all velocities, each divided by its sigma: |R x - z|^2
    C          covariance  (R^T R)^-1

The data pass once through `Factors`, in pieces, so memory does not grow with the log. Weights for
joints need no second pass; those against outliers need one for each iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree._lazy import cached_property
from kinetree.errors import KinetreeError
from kinetree.identify.base import BaseParameters
from kinetree.identify.factor import Factors
from kinetree.identify.log import Log
from kinetree.identify.parameters import Parameters
from kinetree.kinds import instance, optional_function
from kinetree.typing import Array

PIECE = 1024
"""Samples whose regressor is computed at once: it stays in the cache."""
PACKED_FROM = 50_000
"""From this many samples on, a kernel for only the needed columns pays off."""
HUBER = 1.345
"""Standard deviations beyond which a residual counts less: 95 % as efficient for normal noise."""
DEVIATION = 1.4826
"""The standard deviation of normal noise, over the median of its absolute values."""
SILENT = 1e-10
"""Relative to the forces: smaller residuals are rounding errors."""
WEAK = 1e-7
"""Relative to the largest singular value of R with normalised columns: smaller ones are zero."""
ITERATIONS = 20

Weigh = Callable[[int, Array, Array], Array]
"""Weights of measurements, from the number of a velocity, its rows and its forces."""


@dataclass(frozen=True)
class Estimate:
    """Base parameters from measurements.

    Arguments:
        base: which parameters they are.
        values: the estimate, (nb,).
        noise: standard deviation of each velocity's residuals, (nv,).
        R, z: the whitened data: |R x - z|^2 is the sum of squared residuals, each divided by its
            standard deviation.
        factors: the data, by velocities.
        iterations: how often the data were reweighted.
    """

    base: BaseParameters
    values: Array
    noise: Array
    R: Array
    z: Array
    factors: Factors
    iterations: int = 1

    @cached_property
    def covariance(self) -> Array:
        """The covariance of `values`, (nb, nb); infinite where the data contain no information."""
        inverse = np.linalg.pinv(self.R, rcond=1e-14)
        covariance = inverse @ inverse.T
        covariance[self.unknown, self.unknown] = np.inf
        return covariance

    @cached_property
    def deviations(self) -> Array:
        """The standard deviation of each base parameter, (nb,)."""
        return np.sqrt(np.diag(self.covariance))

    @cached_property
    def condition(self) -> float:
        """The condition number of R with columns of length one."""
        size = self._singular[1]
        return float(size[0] / size[-1]) if size[-1] > 0.0 else np.inf

    @cached_property
    def _singular(self) -> tuple[Array, Array, Array]:
        length = np.linalg.norm(self.R, axis=0)
        u, s, vt = np.linalg.svd(self.R / np.where(length > 0.0, length, 1.0))
        size = np.zeros(len(self.base))
        size[: len(s)] = s
        return u, size, vt

    @cached_property
    def unknown(self) -> NDArray[np.intp]:
        """The indices of the base parameters about which the data contain no information."""
        _, size, vt = self._singular
        weak = vt[size <= WEAK * size[0]]
        dead = np.linalg.norm(self.R, axis=0) == 0.0
        return np.flatnonzero(dead | (np.abs(weak) > 0.1).any(axis=0))


def each_log(logs: Log | Iterable[Log]) -> Iterator[Log]:
    """A log, or several one by one."""
    several: Any = [logs] if isinstance(logs, Log) else logs
    if isinstance(several, (str, Path)):
        raise KinetreeError(
            f"logs: {str(several)!r:.200} is a path; kinetree.identify.read gives a Log"
        )
    try:
        each = iter(several)
    except TypeError:
        raise KinetreeError(f"logs: a Log is expected, or several, got {logs!r:.200}") from None
    for log in each:
        yield instance("logs", log, Log, "a Log")


def accumulate(
    base: BaseParameters, logs: Log | Iterable[Log], weigh: Weigh | None = None
) -> Factors:
    """The measurements of logs, compressed to triangular factors.

    Arguments:
        base: the parameters to be estimated.
        logs: with velocities and accelerations; one log, or several (a `Stream`, too), read one by
            one.
        weigh: gives the weights of measurements; one if None.

    Returns:
        The factors, whose size does not depend on the number of samples.
    """
    instance("base", base, BaseParameters, "what base_parameters makes")
    optional_function("weigh", weigh)
    parameters = base.parameters
    places = parameters.wanted(base.pivots)
    factors = Factors([np.searchsorted(base.pivots, x) for x in places], len(base))
    count = 0
    for log in each_log(logs):
        count += 1
        blocks = parameters.block_function(places, packed=len(log) >= PACKED_FROM)
        for start in range(0, len(log), PIECE):
            _add(factors, parameters, blocks, log, slice(start, start + PIECE), weigh)
    if not count:
        raise KinetreeError("logs: there is no log: one or more are expected")
    return factors


def _add(
    factors: Factors,
    parameters: Parameters,
    blocks: Callable[..., list[Array]],
    log: Log,
    rows: slice,
    weigh: Weigh | None,
) -> None:
    q, v, a = (x[rows] for x in log.motion)
    forces = log.tau[rows] - parameters.known_forces(q, v, a)
    keep = log.keep[rows]
    everything = keep.all()
    for k, block in enumerate(blocks(q, v, a, forces)):
        if not everything:
            block = block[keep[:, k]]
        if weigh is not None:
            block = block * weigh(k, block[:, :-1], block[:, -1])[:, None]
        factors.parts[k].add(block)


def ordinary(base: BaseParameters, factors: Factors) -> Estimate:
    """The least-squares estimate in which all measurements have the same weight.

    Arguments:
        base: the parameters.
        factors: the data.

    Returns:
        The estimate, with its covariance.
    """
    instance("base", base, BaseParameters, "what base_parameters makes")
    instance("factors", factors, Factors, "what accumulate makes")
    noise = np.ones(len(factors.support))
    R, z = factors.stacked()
    values = solve(R, z, base.values)
    count = max(1, int(factors.rows.sum()) - len(base))
    noise[:] = np.sqrt(factors.residuals(values).sum() / count)
    noise = np.maximum(noise, _floor(factors))
    return Estimate(base, values, noise, R / noise[0], z / noise[0], factors)


def weighted(base: BaseParameters, factors: Factors) -> Estimate:
    """The estimate with each velocity's residuals divided by their standard deviation.

    Arguments:
        base: the parameters.
        factors: the data.

    Returns:
        The estimate, with its covariance.
    """
    estimate = ordinary(base, factors)
    for count in range(1, ITERATIONS + 1):
        noise = np.maximum(_deviations(estimate), _floor(factors))
        R, z = factors.stacked(1.0 / noise)
        change = np.abs(noise / estimate.noise - 1.0).max()
        estimate = Estimate(base, solve(R, z, base.values), noise, R, z, factors, count)
        if change < 1e-3:
            break
    return estimate


def reweighted(base: BaseParameters, logs: Log | Iterable[Log]) -> Estimate:
    """Huber's estimate: residuals beyond 1.3 standard deviations have less weight.

    Arguments:
        base: the parameters.
        logs: as in `accumulate`; they are read once for each iteration.

    Returns:
        The estimate, with its covariance.
    """
    estimate = weighted(base, accumulate(base, logs))
    for count in range(1, ITERATIONS + 1):
        huber = _Huber(estimate)
        factors = accumulate(base, logs, huber)
        noise = np.maximum(huber.deviations, _floor(factors))
        R, z = factors.stacked(1.0 / noise)
        new = Estimate(base, solve(R, z, base.values), noise, R, z, factors, count)
        moved = np.abs(R @ (new.values - estimate.values)).max()
        estimate = new
        if moved < 1e-2:
            break
    return estimate


class _Huber:
    """Huber's weights at an estimate, and the deviations of residuals by their medians.

    Arguments:
        estimate: whose residuals are weighted.
    """

    def __init__(self, estimate: Estimate) -> None:
        self.estimate, self.support = estimate, estimate.factors.support
        self.counts = np.zeros(len(self.support))
        self.sums = np.zeros(len(self.support))

    def __call__(self, k: int, Y: Array, t: Array) -> Array:
        if not len(t):
            return t
        size = np.abs(Y @ self.estimate.values[self.support[k]] - t)
        self.counts[k] += len(size)
        self.sums[k] += len(size) * np.median(size)
        limit = HUBER * self.estimate.noise[k]
        return np.sqrt(np.minimum(1.0, limit / np.maximum(size, 1e-300)))

    @property
    def deviations(self) -> Array:
        """The mean over pieces of what their medians say of normal noise, (nv,)."""
        return DEVIATION * self.sums / np.maximum(self.counts, 1.0)


def solve(R: Array, z: Array, near: Array) -> Array:
    """The least-squares solution; where it is not unique, the one nearest to another."""
    length = np.linalg.norm(R, axis=0)
    scale = np.where(length > 0.0, length, 1.0)
    return near + np.linalg.lstsq(R / scale, z - R @ near, rcond=WEAK)[0] / scale


def _deviations(estimate: Estimate) -> Array:
    """Standard deviations of residuals; degrees of freedom are distributed by leverage."""
    factors = estimate.factors
    inverse = np.linalg.pinv(estimate.R, rcond=1e-14)
    taken = [
        np.sum((Y / s @ inverse[places]) ** 2)
        for s, (places, Y, _) in zip(estimate.noise, factors.split(), strict=True)
    ]
    free = np.maximum(factors.rows - np.array(taken), 1.0)
    return np.sqrt(factors.residuals(estimate.values) / free)


def _floor(factors: Factors) -> Array:
    """The deviation below which residuals are rounding, for each velocity."""
    sums = np.array([np.sum(t**2) for _, _, t in factors.split()])
    size = np.sqrt(sums / np.maximum(factors.rows, 1))
    return np.maximum(SILENT * np.maximum(size, size.max(initial=0.0) * 1e-3), 1e-300)
