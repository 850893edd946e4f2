"""The mass matrix by the composite-rigid-body algorithm.

Source: Echeandia & Wensing, eq. 20, 22 and 26; after R. Featherstone, Rigid Body Dynamics
Algorithms (2008), section 6.2.

    paper       code      meaning
    I_i^C       IC[i]     inertia of the subtree at body i, as one rigid body
    F_2,j       F         I_j^C Phi_j, carried towards the base
    H_ij        H[i][j]   entry of the mass matrix

differs: rotor inertias are added on the diagonal; joints that share a coordinate add up.

Cost: O(N d) for depth d.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.blocks import add_symmetric, rotor_matrix
from kinetree.algorithms.frames import Frames, in_one_frame, in_own_frames
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Inertia, Transform


def composite_inertias(model: Model, X: Sequence[Transform]) -> list[Inertia]:
    """I_i^C: the inertia of each body and all it carries, in its frame."""
    IC = [body.inertia for body in model.bodies]
    for j, body in reversed(list(enumerate(model.bodies))):
        if body.parent >= 0:
            IC[body.parent] = IC[body.parent] + X[j].to_parent(IC[j])  # (20)
    return IC


def mass_matrix(parts: Frames, inertias: Frames | None = None) -> list[list[Scalar]]:
    """H, both triangles.

    Arguments:
        parts: the frames in which the blocks of H are computed.
        inertias: the frames in which the inertias are summed, if these are others.
    """
    model, H = parts.model, rotor_matrix(parts.model)
    carrying = inertias or parts
    for j, _, IC in carrying.from_the_tips():
        F = [IC @ axis for axis in carrying.Phi[j]]  # (26)
        F = [parts.placed(j, force) for force in F] if inertias else F
        add_symmetric(model, H, [j], j, parts.Phi[j], F)  # (22)
        for bodies, seen in parts.towards_the_base(j, *F):
            axes = [axis for i in bodies for axis in parts.Phi[i]]
            add_symmetric(model, H, bodies, j, axes, seen)
    return H


def crba(model: Model, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """The mass matrix H(q), by forces carried from frame to frame."""
    return mass_matrix(in_own_frames(model, q))


def crba_in_one_frame(model: Model, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """H by forces in one common frame, where none needs to be transformed.

    Cheaper than in the bodies' frames where chains are long and their axes slanted.
    """
    return mass_matrix(in_one_frame(model, q), in_own_frames(model, q))
