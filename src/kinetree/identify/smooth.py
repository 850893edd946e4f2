"""From noisy positions to positions, velocities and accelerations without a delay.

Sources: M. Gautier, Dynamic identification of robots with power model, ICRA 1997 (a Butterworth
filter run forwards and backwards, then central differences; the forces pass the same filter);
C. H. Reinsch, Smoothing by spline functions, Numerische Mathematik 10 (1967).

Configurations may have quaternions: they are filtered entry by entry, with signs that do not jump,
and made of length one again. Velocities are `robot.difference` of neighbours, so they are right for
every joint.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import LogError
from kinetree.identify.log import Log
from kinetree.kinds import flag, instance
from kinetree.model import Model
from kinetree.robot.checks import count, number, real_array, sample_count
from kinetree.typing import Array

APART = 1.1
"""In half periods of the cutoff: the distance at which twice-filtered noise is independent."""
UNIFORM = 0.01
"""Relative to a step: times within this tolerance are equally spaced."""
GAP = 10.0
"""In usual steps: nothing is known of longer times without a sample."""


def resampled(log: Log, rate: float | None = None) -> Log:
    """The log at equally spaced times.

    Forces are used where both samples beside them are, and not within gaps.

    Arguments:
        log: at any increasing times.
        rate: samples per second; by default the log's mean rate.

    Returns:
        A new log.
    """
    instance("log", log, Log, "a Log")
    wanted = log.rate if rate is None else number("rate", rate, above=0.0)
    span = log.time[-1] - log.time[0]
    if span * wanted < 1.0:
        raise LogError(
            f"{log.source}: {wanted:g} samples per second give one sample in {span:.6g} s; at "
            "least two are needed"
        )
    sample_count(span, wanted)  # refuses rates beyond all bounds
    time = log.time[0] + np.arange(int(span * wanted + 1e-9) + 1) / wanted
    interpolate = import_module("scipy.interpolate").make_interp_spline

    def at(x: Array) -> Array:
        return interpolate(log.time, x, k=min(3, len(x) - 1))(time)

    q = log.robot.normalize(at(_continuous(log)))
    remark = f"resampled from {len(log)} to {len(time)} samples, {wanted:.6g} a second"
    tau = np.stack([np.interp(time, log.time, x) for x in log.tau.T], axis=1)
    before = np.clip(np.searchsorted(log.time, time, side="right") - 1, 0, len(log) - 1)
    after = np.clip(np.searchsorted(log.time, time), 0, len(log) - 1)
    done = replace(
        log,
        time=time,
        q=q,
        tau=tau,
        v=None if log.v is None else at(log.v),
        a=None if log.a is None else at(log.a),
        keep=log.keep[before] & log.keep[after],
        remarks=(*log.remarks, remark),
    )
    wide = log.time[after] - log.time[before] > GAP * np.median(np.diff(log.time))
    return done.without(wide, "the log has a gap there")


def filtered(log: Log, cutoff: float, order: int = 4, decimate: bool = True) -> Log:
    """The log, low-pass filtered, with velocities and accelerations.

    Measured velocities are used if there are any. Otherwise velocities are central differences of
    the filtered positions. Accelerations are central differences of velocities.

    Arguments:
        log: equally spaced; see `resampled`.
        cutoff: the cut-off frequency, Hz. Ten times the fastest motion is a good value.
        order: of the Butterworth filter, which runs forwards and backwards.
        decimate: whether to keep only as many samples as the remaining frequencies need. The
            remaining noise is then nearly independent from sample to sample, as standard deviations
            assume.

    Returns:
        A new log.
    """
    instance("log", log, Log, "a Log")
    flag("decimate", decimate)
    cutoff, order = number("cutoff", cutoff, above=0.0), count("order", order, 1)
    dt = _step(log)
    nyquist = 0.5 / dt
    if not 0.0 < cutoff < nyquist:
        raise LogError(
            f"{log.source}: cutoff={cutoff:g} Hz must be between 0 and half the sampling rate, "
            f"{nyquist:g} Hz (is time in seconds?)"
        )
    signal = import_module("scipy.signal")
    sos = signal.butter(order, cutoff / nyquist, output="sos")
    edge = int(np.ceil(0.5 * order / (cutoff * dt)))
    if len(log) <= 2 * edge + 4:
        raise LogError(
            f"{log.source}: {len(log)} samples are too few for a cut-off of {cutoff:g} Hz, which "
            f"needs more than {2 * edge + 4}"
        )

    def smooth(x: Array) -> Array:
        padding = min(3 * edge, len(x) - 1)
        return signal.sosfiltfilt(sos, x, axis=0, padlen=padding)

    q = log.robot.normalize(smooth(_continuous(log)))
    v = _rates(log, q, dt) if log.v is None else smooth(log.v)
    a = np.gradient(v, dt, axis=0)
    done = replace(
        log,
        q=q,
        v=v,
        a=a,
        tau=smooth(log.tau),
        remarks=(*log.remarks, f"frequencies above {cutoff:g} Hz are removed"),
    )
    done = done.without(_ends(len(log), edge), "the filter has not settled there")
    each = max(1, round(APART * nyquist / cutoff)) if decimate else 1
    if each == 1:
        return done
    remark = f"one of {each} samples is kept: they are not independent after filtering"
    kept = done.part(slice(None, None, each))
    return replace(kept, remarks=(*kept.remarks, remark))


def splined(log: Log, noise: Array | float | None = None) -> Log:
    """The log with its positions replaced by smoothing splines, and with their derivatives.

    Arguments:
        log: with vectors for configurations (no quaternions), at any increasing times.
        noise: the standard deviation of the positions, one number or one for each; if None, the
            smoothing is chosen by generalised cross-validation.

    Returns:
        A new log.
    """
    if instance("log", log, Log, "a Log").robot.nq != log.robot.nv:
        raise LogError(
            f"{log.source}: splines need coordinates whose rates are the velocities; use "
            "robot.edit.rechart('exponential'), or filtered(...), which takes any coordinates"
        )
    deviations = None if noise is None else _deviations(log, noise)
    interpolate = import_module("scipy.interpolate")
    values = []
    for k, x in enumerate(log.q.T):
        if deviations is None:
            curve = interpolate.make_smoothing_spline(log.time, x)
        else:
            smoothing = len(x) * deviations[k] * deviations[k]
            tck = interpolate.splrep(log.time, x, k=5, s=smoothing)
            curve = interpolate.BSpline(*tck)
        values.append([curve(log.time), curve(log.time, 1), curve(log.time, 2)])
    q, v, a = (np.stack(part, axis=1) for part in zip(*values, strict=True))
    done = replace(log, q=q, v=v, a=a, remarks=(*log.remarks, "positions are smoothing splines"))
    edge = max(3, len(log) // 100)
    return done.without(_ends(len(log), edge), "splines are inaccurate at their ends")


def _deviations(log: Log, noise: Any) -> list[float]:
    """The standard deviation of each position."""
    length = log.q.shape[1]
    given = real_array("noise", noise)
    if given.ndim == 0:
        return [number("noise", noise, above=0.0)] * length
    if given.shape != (length,):
        raise LogError(
            f"{log.source}: noise has {given.size} numbers; one is expected, or {length}, one for "
            "each position"
        )
    return [number("noise", x, above=0.0) for x in given.tolist()]


def differentiated(log: Log) -> Log:
    """The log as it is; velocities and accelerations it lacks are central differences.

    Arguments:
        log: equally spaced, unless it has both; with little noise.

    Returns:
        A new log.
    """
    if instance("log", log, Log, "a Log").v is not None and log.a is not None:
        return log
    dt = _step(log)
    v = _rates(log, log.q, dt) if log.v is None else log.v
    done = replace(log, v=v, a=np.gradient(v, dt, axis=0))
    return done.without(_ends(len(log), 2), "central differences need neighbours")


def _rates(log: Log, q: Array, dt: float) -> Array:
    """Velocities by central differences on the manifold of configurations."""
    v = np.empty((len(q), log.robot.nv))
    v[1:-1] = log.robot.difference(q[:-2], q[2:]) / (2.0 * dt)
    v[0] = log.robot.difference(q[0], q[1]) / dt
    v[-1] = log.robot.difference(q[-2], q[-1]) / dt
    return v


def quaternions(model: Model) -> list[slice]:
    """The slices of q that are quaternions."""
    pairs = zip(model.bodies, model.q_slices, strict=True)
    return [slice(at.stop - 4, at.stop) for body, at in pairs if body.joint.nq != body.joint.nv]


def _continuous(log: Log) -> Array:
    """Configurations whose quaternions do not change sign from one sample to the next."""
    q = np.array(log.q)
    for quat in quaternions(log.robot.model):
        dots = np.einsum("ti,ti->t", q[1:, quat], q[:-1, quat])
        q[1:, quat] *= np.cumprod(np.where(dots < 0.0, -1.0, 1.0))[:, None]
    return q


def _step(log: Log) -> float:
    steps = np.diff(log.time)
    dt = float(steps.mean())
    worst = int(np.argmax(np.abs(steps - dt)))
    if abs(steps[worst] - dt) > UNIFORM * dt:
        raise LogError(
            f"{log.source}: its times are not equally spaced: {steps[worst]:.6g} s at sample "
            f"{worst}, {dt:.6g} s on average; resample it first"
        )
    return dt


def _ends(count: int, edge: int) -> NDArray[np.bool_]:
    ends = np.zeros(count, dtype=bool)
    ends[:edge] = ends[-edge:] = True
    return ends
