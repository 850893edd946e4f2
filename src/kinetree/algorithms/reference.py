"""The reference motion of a tracking law, at the configuration where the robot is.

Source: J.-J. E. Slotine & W. Li, On the adaptive control of robot manipulators (1987), for rates of
coordinates; F. Bullo & R. M. Murray, Tracking for fully actuated mechanical systems: a geometric
framework (1999), for the transport between the velocities of two configurations.

The target's velocity v_d and acceleration a_d = v_d' have components at q_d; a law acts at q. Where
velocities are rates of coordinates, the two are the same. The velocities of a ball joint and a
floating base are in the body's frame, and the target's body frame is not the robot's. The target's
velocity is therefore transported to q (see `manifold.transported`).

    symbol    code     meaning
    e         e        q_d (-) q, the error: log E with E = X^-1 X_d for those two joints
    T         -        transports from q_d to q: 1, or the adjoint of E
    L         slope    1/s
    v_r, a_r  vr ar    reference velocity and its rate

    v_r = T v_d + L e
    a_r = v_r' = T a_d + T' v_d + L e'

With v = T v_d the error stays; with v = v_r and one number L for all axes of a joint it obeys
e' = -L e, on every chart. The rates come from running v_r on dual numbers, with q' = v, q_d' = v_d
and v_d' = a_d. For a ball joint they are

    T' v_d = (T v_d - v) x (T v_d)
    e' = J^-1 (T v_d - v),    J = 1 + (1 - cos|e|)/|e|^2 [e] + (|e| - sin|e|)/|e|^3 [e]^2

which differs from v_d - v by half of e x (v_d + v), to first order in e.

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.manifold import coordinate_rates, difference, transported
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.scalar.dual import Dual, lift


def reference(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    target: Sequence[Scalar],
    velocity: Sequence[Scalar],
    acceleration: Sequence[Scalar],
    slope: Sequence[Scalar] | None = None,
) -> tuple[list[Scalar], list[Scalar]]:
    """v_r and a_r; L is zero if `slope` is None."""
    at = _moving(q, coordinate_rates(model, q, v))
    ahead = _moving(target, coordinate_rates(model, target, velocity))
    vr = transported(model, at, ahead, _moving(velocity, acceleration))
    if slope is not None:
        e = difference(model, at, ahead)
        vr = [w + x * l for w, l, x in zip(vr, slope, e, strict=True)]
    duals = [lift(x) for x in vr]
    return [x.value for x in duals], [x.rate for x in duals]


def _moving(x: Sequence[Scalar], rate: Sequence[Scalar]) -> list[Scalar]:
    return [Dual(value, dx) for value, dx in zip(x, rate, strict=True)]
