"""The derivatives of forward dynamics, by the configuration, the velocity and the joint forces.

Source: J. Carpentier & N. Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS
(2018): along ID(q, qd, FD(q, qd, tau)) = tau nothing changes, so

    dFD/dq = -H^-1 dID/dq,    dFD/dqd = -H^-1 dID/dqd,    dFD/dtau = H^-1

    paper             code       meaning
    M                 H          the mass matrix, in its sparse factors
    dID/dq, dID/dqd   dq dv      as in `inverse_derivatives`, at the accelerations of tau

differs: some columns of a free base are known without H^-1; see `base_columns`.
differs: columns are multiplied by the inverse's factors, which are as sparse as the robot branches,
and not by the inverse, which is full.

Cost: O(N^2 d).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.balafoutis_patel import balafoutis_patel
from kinetree.algorithms.crba import mass_matrix
from kinetree.algorithms.factored_inverse import inverted
from kinetree.algorithms.frames import Frames, framed, in_one_frame, in_own_frames
from kinetree.algorithms.inverse_derivatives import Matrix, derivatives
from kinetree.algorithms.ltl import elimination_order, factor
from kinetree.algorithms.tree import Loads, along
from kinetree.model.loads import PointForce
from kinetree.model.model import Drive
from kinetree.scalar import Scalar


def solved(
    parts: Frames,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Loads = (),
) -> tuple[Matrix, Matrix, Matrix]:
    """The derivatives of the accelerations by q, qd and tau; the last is H^-1."""
    model = parts.model
    H = factor(mass_matrix(parts), elimination_order(model))
    bias = balafoutis_patel(model, q, qd, [0] * model.nv, external)
    qdd = H.solve([t - b for t, b in zip(tau, bias, strict=True)])
    dq, dv, _ = derivatives(parts, q, qd, qdd, external)
    inverse = inverted(H)
    solutions = base_columns(parts, qd, external)
    pairs = [(name, k) for k in range(model.nv) for name in ("q", "qd")]
    unknown = [pair for pair in pairs if pair not in solutions]
    partials = {"q": dq, "qd": dv}
    columns = inverse.times_negative([[row[k] for row in partials[name]] for name, k in unknown])
    solutions.update(zip(unknown, columns, strict=True))
    by_q, by_v = (
        [[solutions[name, k][i] for k in range(model.nv)] for i in range(model.nv)]
        for name in ("q", "qd")
    )
    return by_q, by_v, inverse.matrix()


def base_columns(
    parts: Frames, qd: Sequence[Scalar], external: Loads
) -> dict[tuple[str, int], list[Scalar]]:
    """The columns of -H^-1 dID that are known for a free base.

    Rotating the base rotates gravity in its frame. Changing its linear velocity is a change to
    another inertial frame. Both are accelerations that all bodies share, so only the acceleration
    of the base changes.
    """
    model = parts.model
    known: dict[tuple[str, int], list[Scalar]] = {}
    turned = any(isinstance(load, PointForce) for _, load in external)
    for i, body in enumerate(model.bodies):
        free = body.parent < 0 and body.joint.velocity_is_twist and body.drive == Drive()
        outside = model.equipment.acting or model.equipment.body_forces
        followed = any(b.follows is not None for b in model.bodies)
        if turned or followed or outside or not free:
            continue
        at = model.v_slices[i]
        _, a = parts.parent_motion(i, [], [])
        v = along(parts.Phi[i], qd[at])
        shared = {("qd", k): v.cross(parts.Phi[i][k]) for k in range(3)}
        shared |= {("q", k): a.cross(parts.Phi[i][k]) for k in range(3, 6)}
        for (name, k), motion in shared.items():
            column: list[Scalar] = [0] * model.nv
            column[at] = -motion
            known[name, at.start + k] = column
    return known


forward_derivatives = framed(solved, in_one_frame)
"""On a model, in one common frame."""
forward_derivatives_in_own_frames = framed(solved, in_own_frames)
"""On a model, in the bodies' frames."""
