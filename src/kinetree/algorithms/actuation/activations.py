"""The activations of actuators: their rates, and their values after a step.

Source: E. Todorov, T. Erez & Y. Tassa, MuJoCo: A physics engine for model-based control (2012), and
its documentation, "Actuators".

    symbol    code    meaning
    w         act     activations of the actuators that have one
    u         ctrl    controls, bounded first

Cost: O(1) for each activation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinetree.model import Model
from kinetree.model.actuators import Actuator
from kinetree.model.ranges import within
from kinetree.scalar import Scalar


def activation_rates(model: Model, act: Sequence[Scalar], ctrl: Sequence[Scalar]) -> list[Scalar]:
    """The rate of every activation."""
    return [x.activation.rate(w, u) for x, w, u in _stateful(model, act, ctrl)]  # type: ignore[union-attr]


def next_activations(
    model: Model, act: Sequence[Scalar], ctrl: Sequence[Scalar], dt: Scalar
) -> list[Scalar]:
    """Every activation after a step of time."""
    return [after_step(x, own, u, dt) for x, own, u in _stateful(model, act, ctrl)]


def after_step(x: Actuator, act: Scalar, ctrl: Scalar, dt: Scalar) -> Scalar:
    """The activation of an actuator after a step; its control is bounded."""
    assert x.activation is not None
    after = x.activation.after(act, x.activation.rate(act, ctrl), dt)
    return within(after, x.activation_range)


def _stateful(
    model: Model, act: Sequence[Scalar], ctrl: Sequence[Scalar]
) -> Iterator[tuple[Actuator, Scalar, Scalar]]:
    """The actuators with activations, these, and their bounded controls."""
    own = iter(act)
    for x, u in zip(model.equipment.actuators, ctrl, strict=True):
        if x.activation is not None:
            yield x, next(own), within(u, x.control_range)
