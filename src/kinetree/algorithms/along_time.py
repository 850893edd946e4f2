"""Velocities from the rates of coordinates.

Source: Liu & Jain eq. 50: velocities of a joint and the rates of its coordinates stand for each
other. Rates that leave a quaternion's sphere are taken along it, in the least squares sense.

    code     meaning
    dq       rates of coordinates
    v        velocities whose coordinate_rates are nearest to them

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.model import Model
from kinetree.model.joints.inverse import solve_normal_equations
from kinetree.scalar import Scalar


def velocity_of_rates(model: Model, q: Sequence[Scalar], dq: Sequence[Scalar]) -> list[Scalar]:
    """v from the rates of q, joint by joint."""
    v: list[Scalar] = [0] * model.nv
    for i in model.coordinate_order:
        joint, at = model.bodies[i].joint, model.q_slices[i]
        units = [[1 if j == k else 0 for j in range(joint.nv)] for k in range(joint.nv)]
        columns = [joint.coordinate_rates(q[at], unit) for unit in units]
        v[model.v_slices[i]] = solve_normal_equations(columns, dq[at])
    return v
