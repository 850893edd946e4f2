"""Configurations of a model: the neutral one, and random ones within the limits."""

from __future__ import annotations

import math
import random

import numpy as np

from kinetree.model.joints import Joint
from kinetree.model.model import Body, Model
from kinetree.spatial import Transform, Vector3


def neutral_configuration(model: Model) -> list[float]:
    """The configuration in which every joint's transform is the identity, of length nq."""
    q = [0.0] * model.nq
    for i in model.coordinate_order:
        q[model.q_slices[i]] = (float(x) for x in model.bodies[i].joint.neutral())
    return q


def generic_configuration(model: Model, rng: random.Random) -> list[float]:
    """A random configuration without special structure, within limits or near the neutral one.

    It takes a generator of the standard library: NumPy's is slow to import.
    """
    q = neutral_configuration(model)
    for i in model.coordinate_order:
        joint, at = model.bodies[i].joint, model.q_slices[i]
        if joint.nq == joint.nv:
            lower, upper = sampled_range(model.bodies[i])
            q[at] = [rng.uniform(float(a), float(b)) for a, b in zip(lower, upper, strict=True)]
        else:
            q[at] = joint.integrate(q[at], [rng.uniform(-1.0, 1.0) for _ in range(joint.nv)])
    return q


def random_configurations(
    model: Model, rng: np.random.Generator, batch: tuple[int, ...] = ()
) -> np.ndarray:
    """Random configurations, (*batch, nq); see `Robot.random`."""
    q = np.empty((*batch, model.nq))
    for i in model.coordinate_order:
        body = model.bodies[i]
        lower, upper = sampled_range(body)
        if body.limits.ball is None:
            own = body.joint.sample(rng, batch, lower, upper)
        else:
            R = body.limits.ball.sample(rng, batch)
            own = np.stack(body.joint.coordinates_at(Transform(R, Vector3.zero())), axis=-1)
        q[..., model.q_slices[i]] = own
    return q


def sampled_range(body: Body) -> tuple[np.ndarray, np.ndarray]:
    """The range in which each coordinate of a body's joint is sampled: its limits.

    Limits in reverse order are swapped. A coordinate with one limit stays within `_reach` of it, a
    coordinate without limits within `_reach` of zero.
    """
    # + 0.0 turns -0 into 0: NumPy takes a range from 0 to -0 for a reversed one
    lower, upper = sorted((body.limits.lower + 0.0, body.limits.upper + 0.0))
    reach = _reach(body.joint)
    if math.isfinite(upper - lower):
        return np.full(body.joint.nq, lower), np.full(body.joint.nq, upper)
    if math.isfinite(lower):
        return np.full(body.joint.nq, lower), lower + reach
    if math.isfinite(upper):
        return upper - reach, np.full(body.joint.nq, upper)
    return -reach, reach


def _reach(joint: Joint) -> np.ndarray:
    """The range of a coordinate without limits: pi for angles, one metre for lengths."""
    if joint.nq != joint.nv:
        return np.ones(joint.nq)
    axes = joint.subspace(joint.neutral())
    return np.array([math.pi if any(axis.angular) else 1.0 for axis in axes])
