"""Upper bounds on the inertia that each joint can feel, without a recursion over motions."""

from __future__ import annotations

import math

from kinetree.model.configurations import sampled_range
from kinetree.model.joints import Joint
from kinetree.model.model import Body, Model


def inertia_bounds(model: Model) -> list[float]:
    """An upper bound on the inertia that the coordinates of each body feel, at any configuration.

    With m the mass that a joint carries and s^2 the sum of m r^2 about the joint, an axis (v, w)
    feels at most (|v| sqrt(m) + |w| s)^2. A distance d towards the base adds sqrt(m) d to s.
    """
    n = len(model.bodies)
    mass, square, root = [0.0] * n, [0.0] * n, [0.0] * n
    for i in reversed(range(n)):
        body, I = model.bodies[i], model.bodies[i].inertia
        mass[i] += I.mass
        square[i] += (I.rotational.xx + I.rotational.yy + I.rotational.zz) / 2.0
        root_m, s = math.sqrt(mass[i]), math.sqrt(max(square[i], 0.0))
        owner = i if body.follows is None else body.follows
        root[owner] += _root_of_bound(body.joint, root_m, s) + math.sqrt(model.drives[i].armature)
        if body.parent >= 0:
            distance = math.hypot(*body.placement.translation) + _travel(model, body)
            mass[body.parent] += mass[i]
            further = s + root_m * distance if root_m else s
            square[body.parent] += further * further
    return [x * x for x in root]


def _root_of_bound(joint: Joint, root_m: float, s: float) -> float:
    """The square root of the largest inertia that an axis of a joint can feel."""
    if not joint.has_constant_axes:
        return math.inf
    axes = joint.subspace(joint.neutral())
    return max(math.hypot(*a.linear) * root_m + math.hypot(*a.angular) * s for a in axes)


def _travel(model: Model, body: Body) -> float:
    """How far a joint moves its body's origin at most, within the limits."""
    owner = body if body.follows is None else model.bodies[body.follows]
    lower, upper = sampled_range(owner)
    return body.joint.travel(lower.tolist(), upper.tolist())
