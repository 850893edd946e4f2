"""Parts of joint-space matrices: the contributions of drives, and blocks between two bodies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinetree.algorithms.actuation.passive import add_tendon_derivatives, tendon_inertia
from kinetree.algorithms.body_forces import add_body_force_derivatives
from kinetree.algorithms.dense import dot
from kinetree.algorithms.dots import dots
from kinetree.algorithms.drives import springs
from kinetree.algorithms.transmissions import add_transmitted_derivatives
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.scalar.dual import Dual, lift
from kinetree.spatial import Force, Twist


def rotor_inertias(model: Model) -> list[Scalar]:
    """The rotor inertia that each velocity feels."""
    inertias: list[Scalar] = [0] * model.nv
    for drive, at in zip(model.drives, model.v_slices, strict=True):
        for k in range(at.start, at.stop):
            inertias[k] = inertias[k] + drive.armature
    return inertias


def rotor_momenta(model: Model, v: Sequence[Scalar]) -> list[Scalar]:
    """The momentum of rotors and tendons at a velocity, as the joints feel it."""
    return [dot(row, v) for row in rotor_matrix(model)]


def zero_matrix(model: Model) -> list[list[Scalar]]:
    """A matrix of zeros, one row and column a velocity."""
    return [[0] * model.nv for _ in range(model.nv)]


def damping_matrix(model: Model) -> list[list[Scalar]]:
    """A matrix with the drives' damping on its diagonal."""
    D = zero_matrix(model)
    for drive, at in zip(model.drives, model.v_slices, strict=True):
        for k in range(at.start, at.stop):
            D[k][k] = D[k][k] + drive.damping
    return D


def stiffness_matrix(model: Model, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """The derivative of the spring forces along q (+) delta; not symmetric for a quaternion."""
    K = zero_matrix(model)
    for joint, drive, at, along in springs(model):
        for j, column in enumerate(range(along.start, along.stop)):
            unit = [1 if k == j else 0 for k in range(joint.nv)]
            rates = joint.coordinate_rates(q[at], unit)
            moving = [Dual(x, rate) for x, rate in zip(q[at], rates, strict=True)]
            for row, d in enumerate(joint.displacement(drive.rest, moving), along.start):
                K[row][column] = K[row][column] + lift(d).rate * drive.stiffness
    return K


def drive_matrices(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> tuple[list[list[Scalar]], list[list[Scalar]], list[list[Scalar]]]:
    """The derivatives of the drives' forces by q, qd and qdd; dry friction has none."""
    D = damping_matrix(model)
    for i, j, k, x in rotor_symbols(model):
        D[i][j] = D[i][j] + qd[k] * x
        D[i][k] = D[i][k] + qd[j] * x
    K = stiffness_matrix(model, q)
    add_transmitted_derivatives(model, q, qd, K, D)
    add_tendon_derivatives(model, q, qd, K, D)
    add_body_force_derivatives(model, q, qd, K, D)
    return K, D, rotor_matrix(model)


def rotor_coriolis_matrix(model: Model, qd: Sequence[Scalar]) -> list[list[Scalar]]:
    """C(qd) of the rotors, to which Coriolis matrices are added."""
    C = zero_matrix(model)
    for i, j, k, x in rotor_symbols(model):
        C[i][j] = C[i][j] + qd[k] * x
    return C


def rotor_symbols(model: Model) -> Iterator[tuple[int, int, int, Scalar]]:
    """The Christoffel symbols of the rotors that are not zero: i, j, k and Gamma_ijk."""
    for body, drive, at in zip(model.bodies, model.drives, model.v_slices, strict=True):
        nv = body.joint.nv
        if not body.joint.turning([0] * nv, [0] * nv):
            continue
        units = [[1 if i == j else 0 for i in range(nv)] for j in range(nv)]
        for k, turn in enumerate(units, at.start):
            for j, unit in enumerate(units, at.start):
                for i, x in enumerate(body.joint.turning(turn, unit), at.start):
                    if x:
                        yield i, j, k, drive.armature * x


def rotor_matrix(model: Model) -> list[list[Scalar]]:
    """The inertia of rotors, on the diagonal, and of tendons; mass matrices are added to it."""
    rotors, M = rotor_inertias(model), tendon_inertia(model)
    for k, rotor in enumerate(rotors):
        M[k][k] = M[k][k] + rotor
    return M


def add_symmetric(
    model: Model,
    H: list[list[Scalar]],
    bodies: Sequence[int],
    j: int,
    axes: Sequence[Twist],
    F: Sequence[Force],
) -> None:
    """Blocks of a symmetric matrix, between the axes of some bodies and the forces of a body j."""
    rows = [k for i in bodies for k in range(model.v_slices[i].start, model.v_slices[i].stop)]
    for row, entries in zip(rows, dots(axes, F), strict=True):
        for column, entry in enumerate(entries, model.v_slices[j].start):
            if j in bodies and column < row:
                continue  # the other half of a symmetric block
            H[row][column] = H[row][column] + entry
            if j not in bodies or row != column:  # two bodies may share a velocity: mimics do
                H[column][row] = H[column][row] + entry
