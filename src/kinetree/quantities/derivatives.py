"""Derivatives of first and second order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from kinetree import algorithms
from kinetree.algorithms import POINTS, constraints
from kinetree.compiler.graph import Program
from kinetree.compiler.graph.differentiate import jacobian, vjp
from kinetree.compiler.graph.program import rearranged
from kinetree.model.prepare import Preparation
from kinetree.quantities.citations import (
    ANALYTIC,
    BOOK,
    CENTROIDAL,
    CORIOLIS,
    DIFFERENTIATED,
    LECTURE,
    REPORT,
    TENSORS,
)
from kinetree.quantities.kinematics import FRAME
from kinetree.quantities.posedness import INVERTIBLE
from kinetree.quantities.row import TAU, WEIGHTS, A, Derived, Method, Q, Quantity, V, one

INERTIAS = Preparation.INERTIAS


def _jacobian(
    quantity: str, result: str, wrt: Sequence[str], sources: tuple[str, ...]
) -> dict[str, Derived]:
    """The derivatives of a quantity's one result, by graph differentiation."""
    keep = {f"d{result}_d{name}": f"d{name}" for name in wrt}
    build = partial(jacobian, wrt=wrt, keep=keep)
    return {"graph": Derived(quantity, build, (*DIFFERENTIATED, *sources))}


SECOND = {"ddq_dq": "qq", "ddq_dv": "qv", "ddv_dv": "vv"}
"""Derivatives of derivatives; all others vanish, but those by q and by what enters linearly."""


def _second(quantity: str, linear: str, sources: tuple[str, ...]) -> dict[str, Derived]:
    """The second derivatives of a weighted sum of joint forces or accelerations.

    Derivatives with contact are implicit ones; their program is not to be differentiated again.
    """
    wrt = ("q", "v", linear)
    keep = SECOND | {f"ddq_d{linear}": "qu"}

    def build(program: Program, charts: Any, limit: float) -> Program:
        gradient = vjp(program, charts, ("q", "v"))
        *given, weights = (declared.name for declared in gradient.inputs)
        order = {name: name for name in given[:3]} | {weights: "weights"}
        gradient = rearranged(gradient, order | {name: name for name in given[3:]})
        return jacobian(gradient, charts, wrt, keep, limit)

    contacts = quantity == "inverse_dynamics"
    return {"graph": Derived(quantity, build, (*DIFFERENTIATED, *sources), contacts=contacts)}


def _all_second(quantity: str, linear: str) -> dict[str, Derived]:
    """The second derivatives of every joint force or acceleration."""
    keep = SECOND | {f"ddq_d{linear}": "qu"}
    build = partial(jacobian, wrt=("q", "v", linear), keep=keep)
    sources = (*DIFFERENTIATED, *ANALYTIC)
    return {"graph": Derived(quantity, build, sources, contacts=linear == "a")}


LAST = "last axis in the order of v, SI units"
BY_Q = {"dq": f"derivative along q (+) delta; {LAST}"}
BY_Q_V = BY_Q | {"dv": f"derivative by the velocity; {LAST}"}
BY_Q_V_A = BY_Q_V | {"da": f"derivative by the acceleration; {LAST}"}
BY_Q_V_TAU = BY_Q_V | {"dtau": f"derivative by the joint forces; {LAST}"}
LAST_TWO = "last two axes in the order of v, SI units"
SECONDS = {
    "qq": f"derivative by q and q; {LAST_TWO}",
    "qv": f"derivative by q and v; {LAST_TWO}",
    "vv": f"derivative by v and v; {LAST_TWO}",
    "qu": f"derivative by q and what enters linearly; {LAST_TWO}",
}

DERIVATIVES: dict[str, Quantity] = {
    "transport": Quantity(
        "How directions of q turn with the velocity",
        one(algorithms.transport, BOOK),
        (Q, V),
        {"rates": "-ad(v) of each joint"},
        public=False,
    ),
    "inverse_dynamics_derivatives": Quantity(
        "The derivatives of joint forces",
        {
            "analytic": Method(
                algorithms.inverse_derivatives,
                INERTIAS,
                ANALYTIC,
                alternative=algorithms.inverse_derivatives_in_own_frames,
            ),
            "balafoutis-patel": Method(algorithms.balafoutis_patel_partials, INERTIAS, REPORT),
            **_jacobian("inverse_dynamics", "tau", ("q", "v", "a"), TENSORS),
        },
        (Q, V, A),
        BY_Q_V_A,
        loads=True,
        cheapest=True,
    ),
    "forward_dynamics_derivatives": Quantity(
        "The derivatives of accelerations",
        {
            "analytic": Method(
                constraints.acceleration_derivatives,
                INERTIAS,
                ANALYTIC,
                contacts=False,
                alternative=constraints.acceleration_derivatives_in_own_frames,
            ),
            **_jacobian("forward_dynamics", "a", ("q", "v", "tau"), BOOK),
        },
        (Q, V, TAU),
        BY_Q_V_TAU,
        loads=True,
        cheapest=True,
        regular=True,
        mass_matrix=INVERTIBLE,
    ),
    "gravity_forces_derivatives": Quantity(
        "The derivative of the forces that hold the robot at rest",
        one(algorithms.gravity_derivatives, ANALYTIC, INERTIAS),
        (Q,),
        BY_Q,
        loads=True,
        called="derivatives.gravity_forces",
    ),
    "mass_matrix_derivatives": Quantity(
        "The derivative of the mass matrix",
        one(algorithms.mass_derivatives, CORIOLIS, INERTIAS),
        (Q,),
        BY_Q,
        called="derivatives.mass_matrix",
    ),
    "mass_matrix_inverse_derivatives": Quantity(
        "The derivative of the mass matrix's inverse",
        one(algorithms.mass_inverse_derivatives, (*CORIOLIS, *BOOK)),
        (Q,),
        BY_Q,
        regular=True,
        mass_matrix=INVERTIBLE,
        called="derivatives.mass_matrix_inverse",
    ),
    "velocity_derivatives": Quantity(
        "The derivatives of a frame's velocity",
        _jacobian("velocity", "velocity", ("q", "v"), LECTURE),
        (Q, V),
        BY_Q_V,
        settings=FRAME,
        called="derivatives.velocity",
    ),
    "acceleration_derivatives": Quantity(
        "The derivatives of a frame's acceleration",
        _jacobian("acceleration", "acceleration", ("q", "v", "a"), LECTURE),
        (Q, V, A),
        BY_Q_V_A,
        settings=FRAME | {"kind": ("classical", "spatial")},
        called="derivatives.acceleration",
    ),
    "momentum_derivatives": Quantity(
        "The derivatives of the momentum",
        _jacobian("momentum", "momentum", ("q", "v"), CENTROIDAL),
        (Q, V),
        BY_Q_V,
        settings={"about": POINTS},
        called="derivatives.momentum",
    ),
    "momentum_rate_derivatives": Quantity(
        "The derivatives of the momentum's rate",
        _jacobian("momentum_rate", "rate", ("q", "v", "a"), CENTROIDAL),
        (Q, V, A),
        BY_Q_V_A,
        settings={"about": POINTS},
        called="derivatives.momentum_rate",
    ),
    "inverse_dynamics_weighted_second_derivatives": Quantity(
        "The second derivatives of a weighted sum of joint forces",
        _second("inverse_dynamics", "a", TENSORS),
        (Q, V, A, WEIGHTS),
        SECONDS,
        loads=True,
        public=False,
    ),
    "forward_dynamics_weighted_second_derivatives": Quantity(
        "The second derivatives of a weighted sum of accelerations",
        _second("forward_dynamics", "tau", BOOK),
        (Q, V, TAU, WEIGHTS),
        SECONDS,
        loads=True,
        regular=True,
        mass_matrix=INVERTIBLE,
        public=False,
    ),
    "inverse_dynamics_second_derivatives": Quantity(
        "The second derivatives of every joint force",
        _all_second("inverse_dynamics_derivatives", "a"),
        (Q, V, A),
        SECONDS,
        loads=True,
        called="derivatives.inverse_dynamics_second",
    ),
    "forward_dynamics_second_derivatives": Quantity(
        "The second derivatives of every acceleration",
        _all_second("forward_dynamics_derivatives", "tau"),
        (Q, V, TAU),
        SECONDS,
        loads=True,
        regular=True,
        mass_matrix=INVERTIBLE,
        called="derivatives.forward_dynamics_second",
    ),
}
