"""The quantities that a robot can compute: one row defines everything about one quantity."""

from kinetree.quantities.actuation import ACTUATION
from kinetree.quantities.cartesian import CARTESIAN
from kinetree.quantities.constraints import CONSTRAINTS
from kinetree.quantities.contact import CONTACT
from kinetree.quantities.coriolis import CORIOLIS_QUANTITIES, christoffel_pattern
from kinetree.quantities.derivatives import DERIVATIVES
from kinetree.quantities.dynamics import DYNAMICS
from kinetree.quantities.kinematics import KINEMATICS
from kinetree.quantities.regressors import REGRESSOR_QUANTITIES
from kinetree.quantities.row import (
    ANY_FRAME,
    SOME_BODIES,
    SOME_CONSTRAINTS,
    SOME_JOINTS,
    Argument,
    Derived,
    Kind,
    Method,
    Quantity,
    plain,
)
from kinetree.quantities.simulation import SIMULATION

QUANTITIES: dict[str, Quantity] = (
    KINEMATICS
    | DYNAMICS
    | CORIOLIS_QUANTITIES
    | REGRESSOR_QUANTITIES
    | DERIVATIVES
    | SIMULATION
    | CARTESIAN
    | CONSTRAINTS
    | ACTUATION
    | CONTACT
)
PUBLIC = tuple(name for name, row in QUANTITIES.items() if row.public)
"""The quantities that users can call on a robot; `calling` says how."""


def calling(quantity: str) -> str:
    """How users call a quantity on a robot: a method, or a door and its method."""
    return QUANTITIES[quantity].called or quantity


__all__ = [
    "ANY_FRAME",
    "PUBLIC",
    "QUANTITIES",
    "SOME_BODIES",
    "SOME_CONSTRAINTS",
    "SOME_JOINTS",
    "Argument",
    "Derived",
    "Kind",
    "Method",
    "Quantity",
    "calling",
    "christoffel_pattern",
    "plain",
]
