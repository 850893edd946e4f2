"""Adaptive passivity-based control: the law of Slotine and Li that learns inertias as it goes.

Source: J.-J. E. Slotine & W. Li, On the adaptive control of robot manipulators (1987).

    symbol    code        meaning
    theta     memory      ten inertial parameters of each body that is learnt
    Y         columns     M a_r + C v_r + g = Y theta + what is known
    s         s           v_r - v
    P         adaptation  the rate of learning

    tau = Y theta + known + K s,    theta' = P Y^T s

Joint forces are linear in the ten parameters: column j of Y is what the law gives for a robot of
which nothing has inertia but one body, with parameter j equal to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kinetree.algorithms import passivity_forces
from kinetree.algorithms.dense import dot
from kinetree.control.controller import Controller
from kinetree.control.passivity import reference
from kinetree.control.pd import RATE, Scalars, felt_inertias, state_lengths, target_of
from kinetree.model import Model
from kinetree.model.edit import without
from kinetree.model.parameters import TEN, Inertial, with_numbers
from kinetree.scalar import Scalar
from kinetree.spatial import Inertia
from kinetree.typing import ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot


def adaptive(
    robot: Robot,
    bodies: Sequence[str],
    gain: ArrayLike | None = None,
    slope: ArrayLike = 5.0,
    adaptation: ArrayLike = 1e-3,
    target: ArrayLike | None = None,
    velocity: ArrayLike = 0.0,
    acceleration: ArrayLike = 0.0,
) -> Controller:
    """The adaptive law; its memory is the estimate of the bodies' inertial parameters.

    Arguments:
        bodies: the names of those whose inertia is learnt; others are as the model has them.
        gain, slope, target, velocity, acceleration: as in `passivity`.
        adaptation: P, how fast each parameter is learnt; one number, or ten a body. With fixed
            steps, too much of it makes joints of small inertia oscillate.
    """
    parameters = [Inertial(name) for name in bodies]
    start = [float(x) for part in parameters for x in part.nominal(robot.model)]
    own = robot.model  # in the frames of its bodies, in which the parameters are

    def law(
        model: Model,
        t: Scalar,
        q: Scalars,
        v: Scalars,
        gain: Scalars,
        slope: Scalars,
        adaptation: Scalars,
        target: Scalars,
        velocity: Scalars,
        acceleration: Scalars,
        memory: Scalars,
    ) -> tuple[list[Scalar], list[Scalar]]:
        vr, ar = reference(own, q, v, slope, target, velocity, acceleration)
        s = [r - x for r, x in zip(vr, v, strict=True)]
        tau = passivity_forces(with_numbers(own, parameters, memory), q, v, vr, ar)
        columns = _columns(own, parameters, q, v, vr, ar)
        rates = [x * dot(s, column) for x, column in zip(adaptation, columns, strict=True)]
        return [x + k * y for x, k, y in zip(tau, gain, s, strict=True)], rates

    inputs = {
        "gain": RATE * felt_inertias(robot) if gain is None else gain,
        "slope": slope,
        "adaptation": adaptation,
        "target": target_of(robot, target),
        "velocity": velocity,
        "acceleration": acceleration,
    }
    lengths = state_lengths(robot) | {"adaptation": len(start)}
    return Controller(robot, "adaptive", law, inputs, lengths, start)


def _columns(model: Model, parameters: Sequence[Inertial], *motion: Any) -> list[list[Scalar]]:
    """The columns of Y."""
    bare = without(model, "armature", "springs")
    empty = replace(bare, bodies=tuple(replace(b, inertia=Inertia.zero()) for b in bare.bodies))
    units = [[1.0 if k == j else 0.0 for k in range(len(TEN))] for j in range(len(TEN))]
    single = [part.applied(empty, unit) for part in parameters for unit in units]
    return [passivity_forces(robot, *motion) for robot in single]
