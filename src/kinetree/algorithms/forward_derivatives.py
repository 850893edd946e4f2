"""The derivatives of forward dynamics, by the configuration, the velocity and the joint forces.

Source: J. Carpentier & N. Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS
(2018): along ID(q, qd, FD(q, qd, tau)) = tau nothing changes, so

    dFD/dq = -H^-1 dID/dq,    dFD/dqd = -H^-1 dID/dqd,    dFD/dtau = H^-1

    paper             code       meaning
    M                 H          the mass matrix, in its sparse factors
    dID/dq, dID/dqd   dq dv      as in `inverse_derivatives`, at the accelerations of tau

differs: columns are multiplied by the inverse's factors, which are as sparse as the robot branches,
and not by the inverse, which is full.

Cost: O(N^2 d).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.balafoutis_patel import balafoutis_patel
from kinetree.algorithms.crba import mass_matrix
from kinetree.algorithms.frames import Frames, in_one_frame, in_own_frames
from kinetree.algorithms.inverse_derivatives import Matrix, derivatives
from kinetree.algorithms.ltl import elimination_order, factor, inverted
from kinetree.algorithms.tree import Loads
from kinetree.model import Model
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
    found = [[inverse.times(column) for column in zip(*D, strict=True)] for D in (dq, dv)]
    by_q, by_v = ([[-x for x in row] for row in zip(*columns, strict=True)] for columns in found)
    return by_q, by_v, inverse.matrix()


def forward_derivatives(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Loads = (),
) -> tuple[Matrix, Matrix, Matrix]:
    """`solved` in one common frame."""
    return solved(in_one_frame(model, q), q, qd, tau, external)


def forward_derivatives_in_own_frames(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Loads = (),
) -> tuple[Matrix, Matrix, Matrix]:
    """`solved` in the bodies' frames."""
    return solved(in_own_frames(model, q), q, qd, tau, external)
