"""Energies.

Source: Liu & Jain eq. 26 and 27 for each body; the rotors of drives, of inertia a, add a v^2 / 2,
their springs, of stiffness k, k d^2 / 2 (see `drives`).
The potential energy of gravity is that of the whole mass at the centre of mass.

    paper     code     meaning
    T         T        kinetic energy, v^T M v / 2
    V         V        velocity of a body, in its frame; I @ V its momentum

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.actuation.passive import tendon_inertia
from kinetree.algorithms.center_of_mass import first_moment
from kinetree.algorithms.dense import dot
from kinetree.algorithms.drives import spring_energy
from kinetree.algorithms.kinematics import motions
from kinetree.model import Model
from kinetree.scalar import Scalar


def kinetic_energy(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Scalar:
    """T: the kinetic energy of the bodies and the rotors, J."""
    V, _ = motions(model, q, qd, [0] * model.nv)
    twice: Scalar = 0
    for body, v in zip(model.bodies, V, strict=True):
        twice = twice + v.dot(body.inertia @ v)  # (27)
    for drive, at in zip(model.drives, model.v_slices, strict=True):
        for rate in qd[at]:
            twice = twice + rate * rate * drive.armature
    for row, rate in zip(tendon_inertia(model), qd, strict=True):
        twice = twice + rate * dot(row, qd)
    return twice * 0.5


def potential_energy(model: Model, q: Sequence[Scalar]) -> Scalar:
    """The potential energy of the bodies in the gravity field and of the springs, J.

    Zero when the centre of mass is at the world's origin and every spring is relaxed.
    """
    return spring_energy(model, q) - model.gravity.dot(first_moment(model, q))
