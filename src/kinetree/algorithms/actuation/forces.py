"""The forces of actuators: from controls and activations to joint forces.

Source: E. Todorov, T. Erez & Y. Tassa, MuJoCo: A physics engine for model-based control (2012), and
its documentation, "Actuators", whose order of bounds is followed.

    symbol    code        meaning
    l, l'     length ...  of an actuator along its transmission, and its rate r v
    w         act         activations of the actuators that have one
    u         ctrl        controls, bounded first
    p         forces      gain(l, l') u + bias(l, l'), with w in place of u if there is one;
                          w at the end of the step if the actuator acts early

The sum of the forces on a tendon is bounded by scaling them; then each force is bounded, and last
the joint force of each joint by its effort limit. tau = sum of r p.

Cost: O(n d) for n actuators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.algorithms.actuation.activations import after_step
from kinetree.algorithms.actuation.levers import lever
from kinetree.algorithms.actuation.posture import Posture, Row
from kinetree.algorithms.dense import dot
from kinetree.model import Model
from kinetree.model.actuators import Actuator
from kinetree.model.ranges import UNBOUNDED, within
from kinetree.scalar import Scalar, less, logical_or, select


@dataclass(frozen=True)
class Pulled:
    """An actuator at a state: its length, its velocity and its moment arms."""

    actuator: Actuator
    length: Scalar
    velocity: Scalar
    row: Row


def pulled(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Pulled]:
    """Every actuator at a state."""
    posture, found = Posture(model, q), []
    for actuator in model.equipment.actuators:
        length, row = lever(posture, actuator.transmission)
        found.append(Pulled(actuator, length, dot(row, v), row))
    return found


def actuator_lengths(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """The length of every actuator, along its transmission."""
    return [x.length for x in pulled(model, q, [0] * model.nv)]


def actuator_moments(model: Model, q: Sequence[Scalar]) -> list[Row]:
    """The moment arms of every actuator: rows, one for each actuator."""
    return [x.row for x in pulled(model, q, [0] * model.nv)]


def actuator_velocities(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """The velocity of every actuator, along its transmission."""
    return [x.velocity for x in pulled(model, q, v)]


def actuator_forces(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    act: Sequence[Scalar],
    ctrl: Sequence[Scalar],
    dt: Scalar | None = None,
) -> list[Scalar]:
    """The force of every actuator, along its transmission."""
    return _forces(model, pulled(model, q, v), act, ctrl, dt)


def joint_forces_of_actuators(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    act: Sequence[Scalar],
    ctrl: Sequence[Scalar],
    dt: Scalar | None = None,
) -> list[Scalar]:
    """The joint forces of all actuators together, within the effort limits of joints.

    Arguments:
        dt: the step at whose end early activations are taken; by default that of the robot's file.
    """
    states = pulled(model, q, v)
    tau: list[Scalar] = [0] * model.nv
    for state, force in zip(states, _forces(model, states, act, ctrl, dt), strict=True):
        tau = [t + r * force for t, r in zip(tau, state.row, strict=True)]
    for i in model.coordinate_order:
        body, at = model.bodies[i], model.v_slices[i]
        if body.joint.nv == 1:
            effort = body.limits.effort
            tau[at.start] = within(tau[at.start], (-effort, effort))
    return tau


def _forces(
    model: Model,
    states: Sequence[Pulled],
    act: Sequence[Scalar],
    ctrl: Sequence[Scalar],
    dt: Scalar | None,
) -> list[Scalar]:
    """p of every actuator."""
    own, forces = iter(act), []
    dt = model.contact_options.timestep if dt is None else dt
    for state, u in zip(states, ctrl, strict=True):
        x, signal = state.actuator, within(u, state.actuator.control_range)
        if x.activation is not None:
            w = next(own)
            signal = after_step(x, w, signal, dt) if x.early else w
        forces.append(x.force(state.length, state.velocity, signal))
    _bound_on_tendons(model, states, forces)
    return [within(p, x.actuator.force_range) for x, p in zip(states, forces, strict=True)]


def _bound_on_tendons(model: Model, states: Sequence[Pulled], forces: list[Scalar]) -> None:
    """Scale the forces on each tendon so that their sum is within its range."""
    for tendon in model.equipment.tendons:
        on = [k for k, x in enumerate(states) if tendon.name in x.actuator.references.tendons]
        if tendon.force_range == UNBOUNDED or not on:
            continue
        total = sum((forces[k] for k in on), start=0)
        bounded = within(total, tendon.force_range)
        pulls = logical_or(less(total, 0.0), less(0.0, total))
        scale = select(pulls, bounded / select(pulls, total, 1.0), 1.0)
        for k in on:
            forces[k] = forces[k] * scale
