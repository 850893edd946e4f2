"""The forces of joint drives: rotor inertia, friction and springs.

Source: the passive forces of MuJoCo's joints (E. Todorov, T. Erez & Y. Tassa, 2012). The energy of
springs is U = sum of k_i |d_i|^2 / 2; a joint's displacement d_i is chosen so that it is itself the
gradient of |d_i|^2 / 2 (see `Joint.displacement`).

    symbol      code               meaning
    k_i         drive.stiffness    of joint i, the same for each of its velocities
    d_i         d                  how far joint i is from where its spring is relaxed
    dU/dq       spring_forces      k_i d_i, along q (+) delta
    a_i         drive.armature     of joint i: its rotors have the energy a_i |v_i|^2 / 2

A rotor resists the rate of its velocity. The linear velocity of a floating joint is given in axes
that turn with the body: its rotors resist its rate in the parent's axes, a_i (v' + w x v). MuJoCo
has that velocity in the world's axes, where the same force is a_i times its rate.

Drives of joints that follow others by a ratio that varies are in `transmissions`, tendons in
`actuation.passive`, forces on bodies in `body_forces`. How the forces
change with the state is `blocks.drive_matrices`.

Cost: O(N), and nothing for joints without drives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinetree.algorithms.actuation.passive import tendon_drag, tendon_energy, tendon_springs
from kinetree.algorithms.body_forces import (
    compensation_energy,
    compensation_forces,
    fluid_forces,
)
from kinetree.algorithms.transmissions import (
    damping_law,
    friction_law,
    spring_law,
    transmitted_energy,
    transmitted_forces,
)
from kinetree.model import Drive, Model
from kinetree.model.edit import without
from kinetree.model.joints import Joint
from kinetree.scalar import Scalar, less, select


def drive_forces(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[Scalar]:
    """The part of each joint force that its drive takes: rotor inertia, friction, springs."""
    forces = spring_forces(model, q)
    for k, force in enumerate(rotor_products(model, qd, qd)):
        forces[k] = forces[k] + force
    for drive, at in zip(model.drives, model.v_slices, strict=True):
        for k in range(at.start, at.stop):
            sign = select(less(qd[k], 0), -1, select(less(0, qd[k]), 1, 0)) if drive.friction else 0
            taken = qdd[k] * drive.armature + qd[k] * drive.damping + sign * drive.friction
            forces[k] = forces[k] + taken
    for k, force in enumerate(transmitted_forces(model, q, qd, damping_law, friction_law)):
        forces[k] = forces[k] + force
    for taken_by in (tendon_drag(model, q, qd, qdd), fluid_forces(model, q, qd)):
        for k, force in enumerate(taken_by):
            forces[k] = forces[k] + force
    return forces


def passive_joint_forces(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
    """What springs, dampers, carried weights and fluids do to the joints; no dry friction."""
    still: list[Scalar] = [0] * model.nv
    rates = rotor_products(model, qd, qd)
    smooth = without(model, "friction")
    taken = drive_forces(smooth, q, qd, still)
    return [rotor - force for force, rotor in zip(taken, rates, strict=True)]


def rotor_products(model: Model, v: Sequence[Scalar], w: Sequence[Scalar]) -> list[Scalar]:
    """C(v) w of the rotors: what they take as the axes of velocities turn; C is skew-symmetric."""
    forces: list[Scalar] = [0] * model.nv
    for body, drive, at in zip(model.bodies, model.drives, model.v_slices, strict=True):
        for k, x in enumerate(body.joint.turning(v[at], w[at]), at.start):
            forces[k] = forces[k] + x * drive.armature
    return forces


def spring_energy(model: Model, q: Sequence[Scalar]) -> Scalar:
    """U: the energy of all springs and carried weights, J; zero where springs are relaxed."""
    twice: Scalar = 0
    for joint, drive, at, _ in springs(model):
        for d in joint.displacement(drive.rest, q[at]):
            twice = twice + d * d * drive.stiffness
    inner = transmitted_energy(model, q) + tendon_energy(model, q)
    return twice * 0.5 + inner + compensation_energy(model, q)


def spring_forces(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """dU/dq: the joint forces that hold the springs and carried weights."""
    forces: list[Scalar] = [0] * model.nv
    for joint, drive, at, along in springs(model):
        for k, d in enumerate(joint.displacement(drive.rest, q[at]), along.start):
            forces[k] = forces[k] + d * drive.stiffness
    still: list[Scalar] = [0] * model.nv
    for k, force in enumerate(transmitted_forces(model, q, still, spring_law)):
        forces[k] = forces[k] + force
    for taken_by in (tendon_springs(model, q), compensation_forces(model, q)):
        for k, force in enumerate(taken_by):
            forces[k] = forces[k] + force
    return forces


def springs(model: Model) -> Iterator[tuple[Joint, Drive, slice, slice]]:
    """The joints with springs: joint, drive, and the slices of its coordinates and velocities."""
    for i, drive in enumerate(model.drives):
        if drive.stiffness:
            yield model.bodies[i].joint, drive, model.q_slices[i], model.v_slices[i]
