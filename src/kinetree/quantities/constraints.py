"""Constraints: their errors and Jacobians, and dynamics under them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kinetree.algorithms import constraints as algorithms
from kinetree.compiler.graph.differentiate import jacobian
from kinetree.model.prepare import Preparation
from kinetree.quantities.citations import (
    AGHILI,
    ANALYTIC,
    BOOK,
    DIFFERENTIATED,
    LEVENBERG,
    MISTRY,
    PROXIMAL,
)
from kinetree.quantities.derivatives import BY_Q_V_A, BY_Q_V_TAU
from kinetree.quantities.kinematics import rate_of
from kinetree.quantities.posedness import INVERTIBLE
from kinetree.quantities.row import (
    SOME_CONSTRAINTS,
    SOME_JOINTS,
    TAU,
    A,
    Argument,
    Derived,
    Kind,
    Method,
    Q,
    Quantity,
    V,
    one,
)

INERTIAS = Preparation.INERTIAS
CHOSEN = {"constraints": SOME_CONSTRAINTS}
SQUARE_ROWS = "symmetric; rows and columns in the order of the constraints' rows, SI units"
FORCES: dict[str, Kind | str] = {
    "forces": Kind.ROW_FORCE,
    "residual": "what is left of the rows, SI units",
}


def _with_forces(derivatives: Mapping[str, str]) -> dict[str, str]:
    """The derivatives of a result and, by the same arguments, of the rows' forces."""
    return {**derivatives, **{f"forces_{name}": of for name, of in derivatives.items()}}


def _differentiated(
    quantity: str, result: str, by: Mapping[str, str], sources: tuple[str, ...]
) -> dict[str, Derived]:
    """The derivatives of a quantity's result and of its forces, by graph differentiation."""
    keep = {f"d{result}_{name}": name for name in by}
    keep |= {f"dforces_{name}": f"forces_{name}" for name in by}
    build = partial(jacobian, wrt=[name[1:] for name in by], keep=keep)
    return {"graph": Derived(quantity, build, (*DIFFERENTIATED, *sources))}


CONSTRAINTS: dict[str, Quantity] = {
    "constraint_errors": Quantity(
        "How far each row of the constraints is from what it demands",
        one(algorithms.constraint_errors, BOOK),
        (Q,),
        {"errors": Kind.ROW_ERROR},
        settings=CHOSEN,
        constrained=True,
        called="constraints.errors",
    ),
    "constraint_jacobian": Quantity(
        "The Jacobian of the constraints, J v = 0",
        one(algorithms.constraint_jacobian, BOOK),
        (Q,),
        {"J": "a row for each row of the constraints; columns in the order of v, SI units"},
        settings=CHOSEN,
        constrained=True,
        called="constraints.jacobian",
    ),
    "constraint_jacobian_rate": Quantity(
        "The time derivative of the Jacobian of the constraints",
        one(rate_of(algorithms.constraint_jacobian), BOOK),
        (Q, V),
        {"rate": "a row for each row of the constraints; columns in the order of v, SI units"},
        settings=CHOSEN,
        constrained=True,
        called="constraints.jacobian_rate",
    ),
    "constraint_bias": Quantity(
        "The acceleration of the rows at zero acceleration of the joints, J' v",
        one(algorithms.constraint_bias, BOOK),
        (Q, V),
        {"bias": Kind.ROW_ACCELERATION},
        settings=CHOSEN,
        constrained=True,
        called="constraints.bias",
    ),
    "delassus_matrix": Quantity(
        "The inverse inertia that the constraints feel, J M^-1 J^T",
        one(algorithms.delassus_matrix, PROXIMAL, INERTIAS),
        (Q,),
        {"G": SQUARE_ROWS},
        settings=CHOSEN,
        regular=True,
        mass_matrix=INVERTIBLE,
        constrained=True,
        called="constraints.delassus_matrix",
    ),
    "delassus_inverse": Quantity(
        "The inertia that the constraints feel, (J M^-1 J^T)^-1",
        one(algorithms.delassus_inverse, PROXIMAL, INERTIAS),
        (Q,),
        {"inverse": SQUARE_ROWS},
        settings=CHOSEN,
        regular=True,
        mass_matrix=INVERTIBLE,
        constrained=True,
        closed_form=False,
        called="constraints.delassus_inverse",
    ),
    "constrained_dynamics": Quantity(
        "Accelerations and constraint forces that joint forces give",
        one(algorithms.constrained_dynamics, PROXIMAL, INERTIAS),
        (Q, V, TAU),
        {"a": Kind.ACCELERATION, **FORCES},
        loads=True,
        settings=CHOSEN | {"stabilization": (algorithms.NO_STABILIZATION,)},
        regular=True,
        mass_matrix=INVERTIBLE,
        constrained=True,
        closed_form=False,
        called="constraints.forward_dynamics",
    ),
    "switched_dynamics": Quantity(
        "Accelerations and constraint forces, with constraints that are switched on and off",
        one(algorithms.switched_dynamics, PROXIMAL, INERTIAS),
        (Q, V, TAU, Argument("active", Kind.ACTIVE)),
        {"a": Kind.ACCELERATION, **FORCES},
        loads=True,
        settings=CHOSEN | {"stabilization": (algorithms.NO_STABILIZATION,)},
        regular=True,
        mass_matrix=INVERTIBLE,
        constrained=True,
        closed_form=False,
        called="constraints.switched_dynamics",
    ),
    "constrained_inverse_dynamics": Quantity(
        "The least joint forces, with constraint forces, that give an acceleration",
        one(algorithms.constrained_inverse_dynamics, MISTRY),
        (Q, V, A),
        {"tau": Kind.FORCE, **FORCES},
        loads=True,
        settings=CHOSEN | {"actuated": SOME_JOINTS},
        constrained=True,
        closed_form=False,
        called="constraints.inverse_dynamics",
    ),
    "constrained_dynamics_derivatives": Quantity(
        "The derivatives of accelerations and constraint forces",
        {
            "analytic": Method(
                algorithms.constrained_derivatives,
                INERTIAS,
                (*PROXIMAL, *ANALYTIC),
                alternative=algorithms.constrained_derivatives_in_own_frames,
            ),
            **_differentiated("constrained_dynamics", "a", BY_Q_V_TAU, PROXIMAL),
        },
        (Q, V, TAU),
        _with_forces(BY_Q_V_TAU),
        loads=True,
        settings=CHOSEN | {"stabilization": (algorithms.NO_STABILIZATION,)},
        regular=True,
        mass_matrix=INVERTIBLE,
        constrained=True,
        called="constraints.forward_dynamics_derivatives",
    ),
    "switched_dynamics_derivatives": Quantity(
        "The derivatives of accelerations and forces of constraints that are switched on and off",
        {
            "analytic": Method(
                algorithms.switched_derivatives,
                INERTIAS,
                (*PROXIMAL, *ANALYTIC),
                alternative=algorithms.switched_derivatives_in_own_frames,
            ),
        },
        (Q, V, TAU, Argument("active", Kind.ACTIVE)),
        _with_forces(BY_Q_V_TAU),
        loads=True,
        settings=CHOSEN | {"stabilization": (algorithms.NO_STABILIZATION,)},
        regular=True,
        mass_matrix=INVERTIBLE,
        constrained=True,
        called="constraints.switched_dynamics_derivatives",
    ),
    "constrained_inverse_dynamics_derivatives": Quantity(
        "The derivatives of the least joint forces and of the constraint forces",
        _differentiated("constrained_inverse_dynamics", "tau", BY_Q_V_A, MISTRY),
        (Q, V, A),
        _with_forces(BY_Q_V_A),
        loads=True,
        settings=CHOSEN | {"actuated": SOME_JOINTS},
        constrained=True,
        called="constraints.inverse_dynamics_derivatives",
    ),
    "impact": Quantity(
        "The velocity after an impact at the constraints, and its impulses",
        one(algorithms.impact, PROXIMAL, INERTIAS),
        (Q, V, Argument("restitution", Kind.RATIO)),
        {"v": Kind.VELOCITY, "impulses": Kind.ROW_IMPULSE},
        settings=CHOSEN,
        regular=True,
        mass_matrix=INVERTIBLE,
        constrained=True,
        closed_form=False,
        called="constraints.impact",
    ),
    "projected_velocity": Quantity(
        "The nearest velocity that the constraints allow",
        one(algorithms.projected_velocity, AGHILI, INERTIAS),
        (Q, V),
        {"v": Kind.VELOCITY},
        settings=CHOSEN,
        regular=True,
        mass_matrix=INVERTIBLE,
        constrained=True,
        closed_form=False,
        called="constraints.project_velocity",
    ),
    "null_space_projection": Quantity(
        "The matrix that takes any velocity to the nearest that the constraints allow",
        one(algorithms.null_space_projection, AGHILI, INERTIAS),
        (Q,),
        {"N": "rows and columns in the order of v, SI units"},
        settings=CHOSEN,
        regular=True,
        mass_matrix=INVERTIBLE,
        constrained=True,
        closed_form=False,
        called="constraints.projection",
    ),
    "constrained_inertia": Quantity(
        "The mass matrix along the velocities that the constraints allow",
        one(algorithms.constrained_inertia, AGHILI, INERTIAS),
        (Q,),
        {"M": "symmetric; rows and columns in the order of v, SI units"},
        settings=CHOSEN,
        regular=True,
        mass_matrix=INVERTIBLE,
        constrained=True,
        closed_form=False,
        called="constraints.inertia",
    ),
    "closing_step": Quantity(
        "A step towards a configuration that the constraints allow",
        one(algorithms.closing_step, LEVENBERG),
        (Q, Argument("damping", Kind.RATIO), Argument("weights", Kind.WEIGHT)),
        {"q": Kind.CONFIGURATION, "errors": Kind.ROW_ERROR},
        constrained=True,
        closed_form=False,
        public=False,
    ),
}
