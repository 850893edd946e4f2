"""Steps of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinetree import algorithms
from kinetree.algorithms import steps
from kinetree.algorithms.hold import held_linearization
from kinetree.model import Model
from kinetree.model.prepare import Preparation
from kinetree.quantities.citations import ANALYTIC, CLASSICAL, DISCRETE, GEOMETRIC, HOLD, MUJOCO
from kinetree.quantities.posedness import INVERTIBLE
from kinetree.quantities.row import DT, TAU, Argument, Kind, Method, Q, Quantity, V, one

STEPS = {
    "euler": Method(steps.euler, sources=GEOMETRIC),
    "implicit-damping": Method(steps.implicit_damping, sources=MUJOCO),
    "implicit-springs": Method(steps.implicit_springs, sources=MUJOCO),
    "midpoint": Method(steps.midpoint, sources=GEOMETRIC),
    "implicit-midpoint": Method(steps.implicit_midpoint, sources=GEOMETRIC),
    "rk4": Method(steps.rk4, sources=(*CLASSICAL, *GEOMETRIC)),
    "variational": Method(steps.variational, sources=DISCRETE),
}


def _seen_from(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step whose q' is given by how far it is from a configuration q1."""

    def step_from(model: Model, q: Any, v: Any, tau: Any, dt: Any, q1: Any, *more: Any) -> Any:
        end, speed = step(model, q, v, tau, dt, *more)
        return algorithms.difference(model, q1, end), speed

    return step_from


SIMULATION: dict[str, Quantity] = {
    "step": Quantity(
        "The state after a step of time",
        STEPS,
        (Q, V, TAU, DT),
        {"q": "configuration", "v": "velocity"},
        loads=True,
        settings={"limits": (steps.FREE,)},
        regular=True,
        mass_matrix=INVERTIBLE,
    ),
    "step_from": Quantity(
        "The state after a step of time, as seen from a configuration",
        {name: Method(_seen_from(m.algorithm), sources=m.sources) for name, m in STEPS.items()},
        (Q, V, TAU, DT, Argument("q1", Kind.CONFIGURATION)),
        {"way": "displacement from q1", "velocity": "velocity"},
        loads=True,
        settings={"limits": (steps.FREE,)},
        regular=True,
        mass_matrix=INVERTIBLE,
        public=False,
    ),
    "held_linearization": Quantity(
        "The linearised motion over a step in which the joint forces are held",
        one(held_linearization, (*HOLD, *ANALYTIC), Preparation.INERTIAS),
        (Q, V, TAU, DT),
        {"A": "by the state", "B": "by the joint forces", "rate": "a bound of the motion's rate"},
        loads=True,
        regular=True,
        mass_matrix=INVERTIBLE,
        public=False,
    ),
}
