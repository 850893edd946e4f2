"""The centre of mass: where it is, how it moves, its Jacobian.

Source: Liu & Jain eq. 57 for each body's own centre, summed with its mass over all bodies.

    code      meaning
    IC[i]     inertia of body i and all it carries, in its frame
    m         the robot's mass: of all that moves

The Jacobian's column j is the momentum of all that joint j carries, divided by m.

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.crba import composite_inertias
from kinetree.algorithms.kinematics import motions, poses
from kinetree.algorithms.tree import parent_transforms, subspaces
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Vector3


def total_mass(model: Model) -> Scalar:
    """The mass of all moving bodies."""
    return sum((body.inertia.mass for body in model.bodies), start=0)


def center_of_mass(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """The centre of mass of all moving bodies, in the world; of the base if nothing moves."""
    if not model.bodies:
        return list(model.base_inertia.moment * (1 / model.base_inertia.mass))
    return list(first_moment(model, q) * (1 / total_mass(model)))


def first_moment(model: Model, q: Sequence[Scalar]) -> Vector3:
    """The sum of mass times position over all moving bodies, in the world."""
    moment, X = Vector3.zero(), parent_transforms(model, q)
    IC = composite_inertias(model, X)
    for i, body in enumerate(model.bodies):
        if body.parent < 0:
            moment = moment + X[i].rotation @ IC[i].moment + X[i].translation * IC[i].mass
    return moment


def center_of_mass_jacobian(model: Model, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """The velocity of the centre of mass for each unit velocity: three rows."""
    Phi, X0 = subspaces(model, q), poses(model, q)
    IC = composite_inertias(model, parent_transforms(model, q))
    columns = [Vector3.zero()] * model.nv
    for i, axes in enumerate(Phi):
        for j, axis in enumerate(axes, model.v_slices[i].start):
            columns[j] = columns[j] + X0[i].rotation @ (IC[i] @ axis).linear
    share = 1 / total_mass(model)
    return [list(row) for row in zip(*(column * share for column in columns), strict=True)]


def center_of_mass_velocity(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> list[Scalar]:
    """The velocity of the centre of mass in the world."""
    V, _ = motions(model, q, qd, [0] * model.nv)
    return _mean(model, q, [(b.inertia @ v).linear for b, v in zip(model.bodies, V, strict=True)])


def center_of_mass_acceleration(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[Scalar]:
    """The acceleration of the centre of mass in the world."""
    V, A = motions(model, q, qd, qdd)
    forces = [b.inertia.wrench(V[i], A[i]).linear for i, b in enumerate(model.bodies)]
    return _mean(model, q, forces)


def _mean(model: Model, q: Sequence[Scalar], momenta: Sequence[Vector3]) -> list[Scalar]:
    """The sum of momenta given in the bodies' axes, divided by the mass."""
    total = [Vector3.zero() for _ in range(len(model.bodies) + 1)]
    for i, X in reversed(list(enumerate(parent_transforms(model, q)))):
        total[i] = total[i] + momenta[i]
        parent = model.bodies[i].parent
        total[parent] = total[parent] + X.rotation @ total[i]
    return list(total[-1] * (1 / total_mass(model)))
