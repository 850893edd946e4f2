"""Configurations as a manifold: moving along a velocity, and the velocity between two.

Source: Liu & Jain eq. 53 for the exponential map of rotations; K. M. Lynch & F. C. Park, Modern
Robotics (2017), section 3.3.3, for that of rigid motions. Each joint has its own maps
(`Joint.integrate`, `Joint.difference`).

    code     meaning
    (+)      q (+) dv: moved along a velocity
    (-)      q1 (-) q0: the velocity between two
    v_0      `transported`: of q0 beside a q1 that moves with v, so that q1 (-) q0 stays

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.model import Model
from kinetree.model.joints.inverse import solve_normal_equations
from kinetree.scalar import Scalar


def integrate(model: Model, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
    """q (+) dv: the configuration after moving with constant velocity dv for one unit of time."""
    moved: list[Scalar] = [0] * model.nq
    for i in model.coordinate_order:
        at, along = model.q_slices[i], model.v_slices[i]
        moved[at] = model.bodies[i].joint.integrate(q[at], dv[along])
    return moved


def advance(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], dt: Scalar
) -> tuple[list[Scalar], list[Scalar]]:
    """q after a time dt, and v in the axes there: v is constant in the axes of the joints' parents.

    It differs from `integrate` for floating joints, whose linear velocity turns with the body.
    """
    moved: list[Scalar] = [0] * model.nq
    turned: list[Scalar] = [0] * model.nv
    for i in model.coordinate_order:
        at, along = model.q_slices[i], model.v_slices[i]
        moved[at], turned[along] = model.bodies[i].joint.advance(q[at], v[along], dt)
    return moved, turned


def resting_rates(model: Model, v: Sequence[Scalar]) -> list[Scalar]:
    """The rate of v while it is constant in the axes of the joints' parents, as in `advance`."""
    rates: list[Scalar] = [0] * model.nv
    for body, at in zip(model.bodies, model.v_slices, strict=True):
        for k, x in enumerate(body.joint.turning(v[at], v[at]), at.start):
            rates[k] = -x
    return rates


def normalize(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """The same configuration, its quaternions of length one."""
    unit: list[Scalar] = [0] * model.nq
    for i in model.coordinate_order:
        at = model.q_slices[i]
        unit[at] = model.bodies[i].joint.normalized(q[at])
    return unit


def coordinate_rates(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """The rate of q at the velocity v: v itself, except for quaternions."""
    rates: list[Scalar] = [0] * model.nq
    for i in model.coordinate_order:
        at, along = model.q_slices[i], model.v_slices[i]
        rates[at] = model.bodies[i].joint.coordinate_rates(q[at], v[along])
    return rates


def velocity_of_rates(model: Model, q: Sequence[Scalar], dq: Sequence[Scalar]) -> list[Scalar]:
    """v from the rates of q: what of these leaves a quaternion's sphere is left out."""
    v: list[Scalar] = [0] * model.nv
    for i in model.coordinate_order:
        joint, at = model.bodies[i].joint, model.q_slices[i]
        units = [[1 if j == k else 0 for j in range(joint.nv)] for k in range(joint.nv)]
        columns = [joint.coordinate_rates(q[at], unit) for unit in units]
        v[model.v_slices[i]] = solve_normal_equations(columns, dq[at])
    return v


def difference(model: Model, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
    """q1 (-) q0: the constant velocity that leads from q0 to q1 in one unit of time."""
    dv: list[Scalar] = [0] * model.nv
    for i in model.coordinate_order:
        at, along = model.q_slices[i], model.v_slices[i]
        dv[along] = model.bodies[i].joint.difference(q0[at], q1[at])
    return dv


def transported(
    model: Model, q0: Sequence[Scalar], q1: Sequence[Scalar], v: Sequence[Scalar]
) -> list[Scalar]:
    """The velocity at q0 that keeps q1 (-) q0 constant while q1 moves with v.

    It is v itself where v is the rate of q. For a quaternion it is E v with E = R0^T R1, for a
    floating base the adjoint of X0^-1 X1 applied to v: both have the components of the same motion,
    seen in another frame.
    """
    dv: list[Scalar] = [0] * model.nv
    for i in model.coordinate_order:
        at, along = model.q_slices[i], model.v_slices[i]
        dv[along] = model.bodies[i].joint.transported(q0[at], q1[at], v[along])
    return dv
