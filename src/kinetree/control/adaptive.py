"""Adaptive passivity-based control: Slotine and Li's controller, which learns inertias online.

Source: J.-J. E. Slotine & W. Li, On the adaptive control of robot manipulators (1987).

    symbol    code        meaning
    theta     memory      the ten inertial parameters of each learnt body
    Y         columns     M a_r + C v_r + g = Y theta + known
    s         s           v_r - v
    P         adaptation  the rate of learning

    tau = Y theta + known + K s,    theta' = P Y^T s

V = (s^T M s + (theta - true)^T P^-1 (theta - true)) / 2 falls with V' = -s^T K s. v_r and a_r are
those of `algorithms.reference`. Y has the columns of `robot.regressors.passivity` that belong to
the bodies that are learnt.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from kinetree.algorithms import passivity_forces, passivity_regressor, reference
from kinetree.algorithms.dense import dot
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.control.controller import Controller
from kinetree.control.pd import RATE, Scalars, felt_inertias, state_lengths, target_of
from kinetree.kinds import texts
from kinetree.model import Model
from kinetree.model.parameters import TEN, Inertial, with_numbers
from kinetree.robot.core import check_robot
from kinetree.scalar import Scalar
from kinetree.typing import ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot


@through_numpy
def adaptive(
    robot: Robot,
    bodies: Sequence[str],
    *,
    gain: ArrayLike | None = None,
    slope: ArrayLike = 5.0,
    adaptation: ArrayLike = 1e-3,
    target: ArrayLike | None = None,
    velocity: ArrayLike = 0.0,
    acceleration: ArrayLike = 0.0,
) -> Controller:
    """Slotine and Li's adaptive controller, which learns the inertial parameters of bodies.

    Its memory is the estimate of these parameters.

    Arguments:
        robot: what is controlled.
        bodies: the names of the bodies whose inertia is learnt; the others are as in the model.
        gain, slope, target, velocity, acceleration: as in `passivity`.
        adaptation: P, the learning rate of each parameter; one number, or ten per body. With fixed
            steps, too large a value makes joints of small inertia oscillate.

    Returns:
        The controller; its inputs are `gain`, `slope`, `adaptation`, `target`, `velocity` and
        `acceleration`.
    """
    check_robot(robot)
    parameters = [Inertial(name) for name in texts("bodies", bodies)]
    start = [float(x) for part in parameters for x in part.nominal(robot.model)]

    inputs = {
        "gain": RATE * felt_inertias(robot) if gain is None else gain,
        "slope": slope,
        "adaptation": adaptation,
        "target": target_of(robot, target),
        "velocity": velocity,
        "acceleration": acceleration,
    }
    # the model in the frames of its bodies, in which the parameters are
    law = partial(_law, nominal=robot.model, parameters=parameters)
    lengths = state_lengths(robot) | {"adaptation": len(start)}
    return Controller(robot, "adaptive", law, inputs, lengths, start)


def _columns(model: Model, parameters: Sequence[Inertial], *motion: Any) -> list[list[Scalar]]:
    """The columns of Y."""
    columns = list(zip(*passivity_regressor(model, *motion), strict=True))
    names = [body.name for body in model.bodies]
    starts = [len(TEN) * names.index(part.name) for part in parameters]
    return [list(column) for k in starts for column in columns[k : k + len(TEN)]]


def _law(
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
    *,
    nominal: Model,
    parameters: Sequence[Inertial],
) -> tuple[list[Scalar], list[Scalar]]:
    """Y theta + known + K s, and theta'."""
    vr, ar = reference(nominal, q, v, target, velocity, acceleration, slope)
    s = [r - x for r, x in zip(vr, v, strict=True)]
    tau = passivity_forces(with_numbers(nominal, parameters, memory), q, v, vr, ar)
    columns = _columns(nominal, parameters, q, v, vr, ar)
    rates = [x * dot(s, column) for x, column in zip(adaptation, columns, strict=True)]
    return [x + k * y for x, k, y in zip(tau, gain, s, strict=True)], rates
