"""Forces on bodies wherever they are: carried weight, and the fluid around them.

Source: E. Todorov, T. Erez & Y. Tassa, MuJoCo: A physics engine for model-based control (2012), and
its documentation, "Passive forces" and "Fluid forces"; the ellipsoid after A. Andersen, U.
Pesavento & Z. J. Wang, Unsteady aerodynamics of fluttering and tumbling plates (2005).

    symbol    code       meaning
    V         V          velocity of a body, in its frame
    v, w      v, w       velocity of a place less that of the fluid, in the axes of the place
    g         down       gravity, in the frame of a body
    m_c       mass       whose weight is carried
    F         F          wrench on a body, in its frame

The energy of carried weight is m_c g.p: the opposite of what gravity has. The laws of fluids are in
`fluid`. The joint forces take -Phi . F, carried to the base as in RNEA.

Cost: O(N), and nothing for robots without such forces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.algorithms.fluid import fluid_wrench
from kinetree.algorithms.manifold import coordinate_rates
from kinetree.algorithms.tree import along, body_poses, carry_to_base, parent_transforms, subspaces
from kinetree.model import Model
from kinetree.model.body_forces import BodyForce, Compensation, Immersed
from kinetree.scalar import Scalar
from kinetree.scalar.dual import Dual, lift
from kinetree.spatial import Force, Rotation, Transform, Twist, Vector3

Matrix = list[list[Scalar]]
Wrench = Callable[[BodyForce, Rotation, Twist], Force]
"""Of a force, the axes of its place in the world, and the velocity of the place in them."""


def compensation_forces(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """The joint forces that hold the carried weights."""

    def wrench(part: BodyForce, R: Rotation, _: Twist) -> Force:
        assert isinstance(part, Compensation)
        return Force(R.T @ model.gravity * -part.mass, Vector3.zero())

    return _taken(model, q, [0] * model.nv, Compensation, wrench)


def compensation_energy(model: Model, q: Sequence[Scalar]) -> Scalar:
    """The energy of the carried weights, J."""
    carried = [x for x in model.equipment.body_forces if isinstance(x, Compensation)]
    energy: Scalar = 0
    X0 = list(body_poses(model, parent_transforms(model, q))) if carried else []
    for part in carried:
        frame = model.frame(part.place.frame)
        at = frame.placement.point(part.place.at.translation)
        p = X0[frame.body].point(at) if frame.body >= 0 else at
        energy = energy + model.gravity.dot(p) * part.mass
    return energy


def fluid_forces(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """The joint forces that the fluid around the bodies takes."""

    def wrench(part: BodyForce, R: Rotation, V: Twist) -> Force:
        assert isinstance(part, Immersed)
        return fluid_wrench(part, Twist(V.linear - R.T @ part.fluid.wind, V.angular))

    return _taken(model, q, v, Immersed, wrench)


def add_body_force_derivatives(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], K: Matrix, D: Matrix
) -> None:
    """Add the derivatives of forces on bodies to those by q and by v."""
    if not model.equipment.body_forces:
        return
    for j in range(model.nv):
        unit = [1 if k == j else 0 for k in range(model.nv)]
        moving = list(map(Dual, q, coordinate_rates(model, q, unit)))
        held = compensation_forces(model, moving)
        by_q = fluid_forces(model, moving, [lift(x) for x in v])
        by_v = fluid_forces(model, [lift(x) for x in q], list(map(Dual, v, unit)))
        for i in range(model.nv):
            K[i][j] = K[i][j] + lift(held[i] + by_q[i]).rate
            D[i][j] = D[i][j] + lift(by_v[i]).rate


def _taken(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], kind: type[BodyForce], wrench: Wrench
) -> list[Scalar]:
    """-Phi . F: what joint forces take of forces of a kind."""
    tau: list[Scalar] = [0] * model.nv
    parts = [x for x in model.equipment.body_forces if isinstance(x, kind)]
    parts = [x for x in parts if model.frame(x.place.frame).body >= 0]
    if not parts:
        return tau
    X, Phi = parent_transforms(model, q), subspaces(model, q)
    R, V = _moving_frames(model, X, Phi, v)
    F = [Force.zero() for _ in model.bodies]
    for part in parts:
        frame = model.frame(part.place.frame)
        at, i = frame.placement @ part.place.at, frame.body
        F[i] = F[i] - at.to_parent(wrench(part, R[i] @ at.rotation, at.to_child(V[i])))
    carry_to_base(model, X, Phi, F, tau)
    return tau


def _moving_frames(
    model: Model, X: Sequence[Transform], Phi: Sequence[Sequence[Twist]], v: Sequence[Scalar]
) -> tuple[list[Rotation], list[Twist]]:
    """The axes of every body in the world, and its velocity in them."""
    R: list[Rotation] = []
    V: list[Twist] = []
    for i, body in enumerate(model.bodies):
        own, p = along(Phi[i], v[model.v_slices[i]]), body.parent
        R.append(R[p] @ X[i].rotation if p >= 0 else X[i].rotation)
        V.append(X[i].to_child(V[p]) + own if p >= 0 else own)
    return R, V
