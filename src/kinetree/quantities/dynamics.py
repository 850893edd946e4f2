"""Inverse and forward dynamics, the mass matrix, energy and momentum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinetree import algorithms
from kinetree.algorithms import POINTS
from kinetree.algorithms.constraints import constrained_accelerations
from kinetree.algorithms.contact import contact_dynamics
from kinetree.model import Model
from kinetree.model.prepare import Preparation
from kinetree.quantities.citations import (
    BOOK,
    CENTROIDAL,
    CORIOLIS,
    LECTURE,
    NEWTON_EULER,
    OPERATIONAL_SPACE,
    PROXIMAL,
    REPORT,
    SOFT,
    TENSORS,
    TUTORIAL,
)
from kinetree.quantities.kinematics import FRAME, rate_of
from kinetree.quantities.posedness import INVERTIBLE, POSITIVE
from kinetree.quantities.row import (
    SIX_ROWS,
    SOME_JOINTS,
    SQUARE,
    TAU,
    WEIGHTS,
    A,
    Kind,
    Method,
    Q,
    Quantity,
    V,
    one,
)

NOTHING, INERTIAS = Preparation.NOTHING, Preparation.INERTIAS
WHOLE = Preparation.WHOLE_INERTIAS
INVERSE_DYNAMICS = {
    "balafoutis-patel": Method(algorithms.balafoutis_patel, INERTIAS, TENSORS),
    "rnea": Method(algorithms.rnea, INERTIAS, NEWTON_EULER),
    "liu-jain": Method(algorithms.liu_jain, INERTIAS, TUTORIAL),
}


def _by_inverse_dynamics(make: Callable[..., Any]) -> dict[str, Method]:
    """The methods of a quantity that is inverse dynamics at a special motion."""
    return {
        name: Method(make(m.algorithm), m.preparation, m.sources)
        for name, m in INVERSE_DYNAMICS.items()
    }


def _gravity(inverse_dynamics: Callable[..., Any]) -> Callable[..., Any]:
    def gravity_forces(model: Model, q: Any) -> Any:
        zero = [0.0] * model.nv
        return inverse_dynamics(model, q, zero, zero)

    return gravity_forces


def _bias(inverse_dynamics: Callable[..., Any]) -> Callable[..., Any]:
    def bias_forces(model: Model, q: Any, v: Any, loads: Any) -> Any:
        return inverse_dynamics(model, q, v, [0.0] * model.nv, loads)

    return bias_forces


def accelerations_with_contact(model: Model, q: Any, v: Any, tau: Any, loads: Any) -> Any:
    """qdd with contacts, solved for as by default."""
    return contact_dynamics(model, q, v, tau, loads)[0]


def _hybrid(algorithm: Callable[..., Any]) -> Callable[..., Any]:
    def hybrid_dynamics(
        model: Model, q: Any, v: Any, a: Any, tau: Any, loads: Any, accelerated: Any
    ) -> Any:
        number = {body.joint_name: i for i, body in enumerate(model.bodies)}
        return algorithm(model, q, v, a, tau, loads, {number[name] for name in accelerated})

    return hybrid_dynamics


FORCES = {"tau": Kind.FORCE}
WRENCH = "force x y z in N, then moment x y z in N m"
DYNAMICS: dict[str, Quantity] = {
    # inverse dynamics
    "inverse_dynamics": Quantity(
        "The joint forces that give an acceleration",
        INVERSE_DYNAMICS,
        (Q, V, A),
        FORCES,
        loads=True,
    ),
    "joint_wrenches": Quantity(
        "All that each joint transmits onto its body",
        one(algorithms.joint_wrenches, NEWTON_EULER, NOTHING),
        (Q, V, A),
        {"wrenches": f"for each body {WRENCH}"},
        loads=True,
    ),
    "gravity_forces": Quantity(
        "The joint forces that hold the robot at rest",
        _by_inverse_dynamics(_gravity),
        (Q,),
        FORCES,
    ),
    "bias_forces": Quantity(
        "The joint forces at zero acceleration",
        _by_inverse_dynamics(_bias),
        (Q, V),
        FORCES,
        loads=True,
    ),
    "coriolis_forces": Quantity(
        "Coriolis and centrifugal forces",
        {
            name: Method(m.algorithm, m.preparation, tuple(dict.fromkeys((*LECTURE, *m.sources))))
            for name, m in _by_inverse_dynamics(algorithms.coriolis_forces).items()
        }
        | {"lagrange": Method(algorithms.lagrange_coriolis_forces, sources=TUTORIAL)},
        (Q, V),
        FORCES,
    ),
    # the mass matrix
    "mass_matrix": Quantity(
        "The mass matrix",
        {
            "crba": Method(
                algorithms.crba,
                INERTIAS,
                (*BOOK, *CORIOLIS),
                alternative=algorithms.crba_in_one_frame,
            ),
            "rnea": Method(algorithms.mass_by_unit_accelerations, INERTIAS, LECTURE),
            "lagrange": Method(algorithms.lagrange_mass, sources=TUTORIAL),
        },
        (Q,),
        {"M": f"symmetric; {SQUARE}"},
    ),
    "mass_matrix_rate": Quantity(
        "The time derivative of the mass matrix",
        one(algorithms.mass_matrix_rate, CORIOLIS, INERTIAS),
        (Q, V),
        {"rate": f"symmetric; {SQUARE}"},
        called="coriolis.mass_matrix_rate",
    ),
    "mass_matrix_inverse": Quantity(
        "The inverse of the mass matrix",
        {
            "ltl": Method(algorithms.mass_matrix_inverse, INERTIAS, BOOK),
            "aba": Method(algorithms.minverse, sources=("carpentier2018",), mimics=False),
        },
        (Q,),
        {"inverse": f"symmetric; {SQUARE}"},
        regular=True,
        mass_matrix=INVERTIBLE,
    ),
    "mass_matrix_factor": Quantity(
        "L with M = L^T L, sparse as the robot branches",
        one(algorithms.mass_matrix_factor, BOOK, INERTIAS),
        (Q,),
        {"L": f"lower triangular; {SQUARE}"},
        regular=True,
        mass_matrix=POSITIVE,
    ),
    "operational_space_inertia": Quantity(
        "The inertia that a frame feels, (J M^-1 J^T)^-1",
        one(algorithms.operational_space_inertia, OPERATIONAL_SPACE, INERTIAS),
        (Q,),
        {"inertia": "symmetric; rows and columns linear x y z, then angular x y z, SI units"},
        settings=FRAME | {"rows": ("pose", "position")},
        regular=True,
        mass_matrix=INVERTIBLE,
        full_rank=True,
    ),
    # forward dynamics
    "forward_dynamics": Quantity(
        "The acceleration that joint forces give",
        {
            "aba": Method(
                algorithms.aba, sources=BOOK, mimics=False, constraints=False, contacts=False
            ),
            "crba": Method(
                algorithms.forward_crba,
                sources=(*LECTURE, *BOOK),
                constraints=False,
                contacts=False,
            ),
            "proximal": Method(
                constrained_accelerations, Preparation.INERTIAS, PROXIMAL, contacts=False
            ),
            "newton": Method(accelerations_with_contact, sources=SOFT, constraints=False),
        },
        (Q, V, TAU),
        {"a": Kind.ACCELERATION},
        loads=True,
        regular=True,
        mass_matrix=INVERTIBLE,
    ),
    "hybrid_dynamics": Quantity(
        "The motion when some joints are given their acceleration, the others their force",
        {
            "aba": Method(
                _hybrid(algorithms.hybrid_dynamics),
                sources=BOOK,
                mimics=False,
                constraints=False,
                contacts=False,
            ),
            "crba": Method(
                _hybrid(algorithms.hybrid_crba),
                sources=(*LECTURE, *BOOK),
                constraints=False,
                contacts=False,
            ),
        },
        (Q, V, A, TAU),
        {"a": Kind.ACCELERATION, "tau": Kind.FORCE},
        loads=True,
        settings={"accelerated": SOME_JOINTS},
        regular=True,
        mass_matrix=INVERTIBLE,
    ),
    # energy and momentum
    "kinetic_energy": Quantity(
        "The kinetic energy of bodies and rotors",
        one(algorithms.kinetic_energy, TUTORIAL, INERTIAS),
        (Q, V),
        {"energy": "J"},
        rigid=True,
    ),
    "potential_energy": Quantity(
        "The energy of gravity and of the joints' springs",
        one(algorithms.potential_energy, TUTORIAL, WHOLE),
        (Q,),
        {"energy": "J"},
        rigid=True,
    ),
    "momentum": Quantity(
        "Linear and angular momentum",
        one(algorithms.momentum, CENTROIDAL, WHOLE),
        (Q, V),
        {"momentum": "linear x y z in N s, then angular x y z in N m s"},
        settings={"about": POINTS},
    ),
    "momentum_matrix": Quantity(
        "The matrix that gives the momentum from the velocity",
        one(algorithms.momentum_matrix, CENTROIDAL, WHOLE),
        (Q,),
        {"matrix": SIX_ROWS},
        settings={"about": POINTS},
    ),
    "momentum_matrix_rate": Quantity(
        "The time derivative of the momentum matrix",
        one(rate_of(algorithms.momentum_matrix), CENTROIDAL, WHOLE),
        (Q, V),
        {"rate": SIX_ROWS},
        settings={"about": POINTS},
        called="centroidal.momentum_matrix_rate",
    ),
    "momentum_rate": Quantity(
        "How fast the momentum changes at an acceleration",
        one(algorithms.momentum_rate, CENTROIDAL, WHOLE),
        (Q, V, A),
        {"rate": WRENCH},
        settings={"about": POINTS},
        called="centroidal.momentum_rate",
    ),
    "effort": Quantity(
        "The weighted sum of squared joint forces",
        one(algorithms.effort, REPORT, INERTIAS),
        (Q, V, A, WEIGHTS),
        {"effort": "N^2 m^2 (or N^2)"},
        loads=True,
        public=False,
    ),
}
