"""A controller whose answers are controls of actuators, as one whose answers are joint forces.

The activations of the actuators are the last part of its memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.algorithms.actuation import activation_rates, next_activations
from kinetree.algorithms.actuation.forces import joint_forces_of_actuators
from kinetree.errors import KinetreeError, ShapeError
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.simulate.laws import call, forces_and_rate

if TYPE_CHECKING:
    from kinetree.robot.core import Core

Controls = Callable[..., Any]
"""Gives controls: (t, q, v, p), or (t, q, v) without inputs p, to nu of them; with memory,
(t, q, v, p, memory) to those and to the rate of its memory."""


class Actuated:
    """The actuators of a robot under controls.

    Arguments:
        robot: what has the actuators.
        law: gives the controls; None if they are p themselves.
        act: the activations at the start, (na,); zero by default.

    Attributes:
        p: its inputs: the law's own if that has some, or the controls.
        memory: the law's own state, then the activations.
    """

    def __init__(self, robot: Core, law: Controls | None = None, act: Any = None) -> None:
        equipment = robot.model.equipment
        if not equipment.actuators:
            raise KinetreeError(
                f"robot {robot.name!r} has no actuators: MJCF files have them, and "
                "robot.edit.equip(...) adds them"
            )
        self._model, self._law = robot.model, law
        self._na, self._nu = len(equipment.stateful), len(equipment.actuators)
        if law is None:
            self.p = np.zeros(self._nu)
        elif hasattr(law, "p"):
            self.p = law.p
        own = np.asarray(getattr(law, "memory", ()), float)
        self._own = len(own)
        self.memory = np.concatenate([own, _activations(act, self._na)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Actuated) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        """What a compiled simulation depends on."""
        return id(self._model), self._law, self._own

    def __repr__(self) -> str:
        given = "p" if self._law is None else repr(self._law)
        return f"<controls of {self._nu} actuators: {given}>"

    def __call__(self, t: Scalar, q: Any, v: Any, p: Any, memory: Sequence[Scalar] = ()) -> Any:
        """Joint forces, and the rate of the memory if there is one.

        Arguments:
            t, q, v, p, memory: as of a controller.

        Returns:
            A list of nv scalars; and a list of rates.
        """
        return self.on(self._model, t, q, v, p, memory)

    def on(
        self,
        model: Model,
        t: Scalar,
        q: Any,
        v: Any,
        p: Any,
        memory: Sequence[Scalar] = (),
        dt: Scalar | None = None,
    ) -> Any:
        """The same, of a model prepared for tracing.

        Arguments:
            model: the robot's.
            t, q, v, p, memory: as of a controller.
            dt: the step, for activations that act early; by default that of the robot's file.

        Returns:
            As of a call.
        """
        ctrl, rate = self._controls(t, q, v, p, memory)
        act = list(memory[self._own :])
        tau = joint_forces_of_actuators(model, list(q), list(v), act, ctrl, dt)
        if not len(self.memory):
            return tau
        return tau, [*rate, *activation_rates(model, act, ctrl)]

    def after(
        self, model: Model, t: Scalar, q: Any, v: Any, p: Any, memory: Any, dt: Scalar
    ) -> list[Scalar]:
        """The memory after a step of time: activations as their actuators have it.

        Arguments:
            model: the robot's.
            t, q, v, p, memory: as of a controller.
            dt: the length of the step, s.

        Returns:
            A list of scalars.
        """
        ctrl, rate = self._controls(t, q, v, p, memory)
        own = [x + dt * r for x, r in zip(memory[: self._own], rate, strict=True)]
        return [*own, *next_activations(model, list(memory[self._own :]), ctrl, dt)]

    def driven(
        self, t: Scalar, q: Any, v: Any, p: Any, memory: Sequence[Scalar] = ()
    ) -> dict[str, list[Scalar]]:
        """The activations and the controls at a state.

        Arguments:
            t, q, v, p, memory: as of a controller.

        Returns:
            "act" and "ctrl".
        """
        ctrl, _ = self._controls(t, q, v, p, memory)
        return {"act": list(memory[self._own :]), "ctrl": ctrl}

    def _controls(
        self, t: Scalar, q: Any, v: Any, p: Any, memory: Sequence[Scalar]
    ) -> tuple[list[Scalar], list[Scalar]]:
        """The controls, and the rate of the law's own memory."""
        if self._law is None:
            return list(p), []
        own = [memory[: self._own]] if self._own else []
        ctrl, rate = forces_and_rate(call(self._law, t, q, v, p, *own), self._own)
        if len(ctrl) != self._nu:
            raise KinetreeError(
                f"the controller returns {len(ctrl)} controls; robot {self._model.name!r} has "
                f"{self._nu} actuators"
            )
        return ctrl, rate


def _activations(act: Any, count: int) -> np.ndarray:
    """The activations at the start."""
    try:
        values = np.zeros(count) if act is None else np.asarray(act, float)
    except (TypeError, ValueError, OverflowError):
        raise ShapeError(f"act={act!r}: {count} numbers are expected") from None
    if values.shape != (count,) or not np.isfinite(values).all():
        raise ShapeError(f"act={act!r}: {count} finite numbers are expected")
    return values
