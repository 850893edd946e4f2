"""Time steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from kinetree import algorithms
from kinetree.algorithms.contact import SOLVER
from kinetree.algorithms.hold import held_linearization
from kinetree.algorithms.steps.euler import euler
from kinetree.algorithms.steps.implicit_drives import implicit_damping, implicit_springs
from kinetree.algorithms.steps.midpoint import implicit_midpoint, midpoint
from kinetree.algorithms.steps.rk4 import rk4
from kinetree.algorithms.steps.rules import DEFAULT_RULES, Rules
from kinetree.algorithms.steps.variational import variational
from kinetree.model import Model
from kinetree.model.prepare import Preparation
from kinetree.quantities.citations import (
    ANALYTIC,
    CLASSICAL,
    DISCRETE,
    GEOMETRIC,
    HOLD,
    MUJOCO,
    SOFT,
)
from kinetree.quantities.posedness import INVERTIBLE
from kinetree.quantities.row import DT, TAU, Argument, Kind, Method, Q, Quantity, V


@dataclass(frozen=True)
class Ruled:
    """A step that takes its rules one by one, as settings."""

    step: Callable[..., Any]

    def __call__(
        self, model: Model, q: Any, v: Any, tau: Any, dt: Any, external: Any, *rules: Any
    ) -> Any:
        return self.step(model, q, v, tau, dt, external, Rules(*rules))


STEPS = {
    "euler": Method(Ruled(euler), sources=GEOMETRIC),
    "implicit-damping": Method(Ruled(implicit_damping), sources=MUJOCO),
    "implicit-springs": Method(Ruled(implicit_springs), sources=MUJOCO),
    "midpoint": Method(Ruled(midpoint), sources=GEOMETRIC),
    "implicit-midpoint": Method(Ruled(implicit_midpoint), sources=GEOMETRIC),
    "rk4": Method(Ruled(rk4), sources=(*CLASSICAL, *GEOMETRIC)),
    "variational": Method(Ruled(variational), sources=DISCRETE, constraints=False, contacts=False),
}


def _seen_from(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step whose q' is given by how far it is from a configuration q1."""

    def step_from(model: Model, q: Any, v: Any, tau: Any, dt: Any, q1: Any, *more: Any) -> Any:
        end, speed = step(model, q, v, tau, dt, *more)
        return algorithms.difference(model, q1, end), speed

    return step_from


def _integrator(model: Model) -> str:
    """The step of a robot: with contacts the one that its file names."""
    if not model.contacts:
        return "euler"
    return "rk4" if model.contact_options.integrator == "rk4" else "implicit-damping"


@dataclass(frozen=True)
class SlopeAtContact:
    """The derivatives of a step by its name; imported with the first: few robots have contacts."""

    step: str

    def __call__(self, *arguments: Any) -> Any:
        from kinetree.algorithms.steps import contact_derivatives

        return getattr(contact_derivatives, f"{self.step}_derivatives")(*arguments)


CONTACT_DERIVATIVES = {
    name: SlopeAtContact(name.replace("-", "_"))
    for name in ("implicit-damping", "implicit-springs", "euler")
}
"""Steps whose derivatives are known at the solution of the contacts."""
RULES = {name: (value,) for name, value in DEFAULT_RULES._asdict().items()}
"""The settings of a step, with their defaults."""
SIMULATION: dict[str, Quantity] = {
    "step": Quantity(
        "The state after a step of time",
        STEPS,
        (Q, V, TAU, DT),
        {"q": "configuration", "v": "velocity"},
        loads=True,
        settings=RULES,
        preferred=_integrator,
        regular=True,
        mass_matrix=INVERTIBLE,
    ),
    "step_from": Quantity(
        "The state after a step of time, as seen from a configuration",
        {name: replace(m, algorithm=_seen_from(m.algorithm)) for name, m in STEPS.items()},
        (Q, V, TAU, DT, Argument("q1", Kind.CONFIGURATION)),
        {"way": "displacement from q1", "velocity": "velocity"},
        loads=True,
        settings=RULES,
        preferred=_integrator,
        regular=True,
        mass_matrix=INVERTIBLE,
        public=False,
    ),
    "step_derivatives": Quantity(
        "The derivatives of a step of time with contact",
        {
            name: Method(algorithm, sources=(*SOFT, *ANALYTIC), constraints=False)
            for name, algorithm in CONTACT_DERIVATIVES.items()
        },
        (Q, V, TAU, DT),
        {"A": "by the state", "B": "by the joint forces"},
        loads=True,
        settings={"contact": (SOLVER,)},
        regular=True,
        mass_matrix=INVERTIBLE,
        touching=True,
        closed_form=False,
        public=False,
    ),
    "held_linearization": Quantity(
        "The linearised motion over a step in which the joint forces are held",
        {"": Method(held_linearization, Preparation.INERTIAS, (*HOLD, *ANALYTIC), contacts=False)},
        (Q, V, TAU, DT),
        {"A": "by the state", "B": "by the joint forces", "rate": "a bound of the motion's rate"},
        loads=True,
        regular=True,
        mass_matrix=INVERTIBLE,
        public=False,
    ),
}
