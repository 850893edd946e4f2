"""Regressors: forces, momenta and energies as matrices times the inertial parameters."""

from __future__ import annotations

from kinetree import algorithms
from kinetree.model.parameters import FIVE, TEN
from kinetree.model.prepare import Preparation
from kinetree.quantities.citations import ADAPTIVE, ENERGY_MODEL, REGRESSORS
from kinetree.quantities.row import A, Argument, Kind, Q, Quantity, V, one

NOTHING = Preparation.NOTHING  # the parameters are those of the bodies in their own frames
COLUMNS = f"for each body a column each for {', '.join(TEN)}, SI units"
ROWS = f"rows in the order of v; {COLUMNS}"

REGRESSOR_QUANTITIES: dict[str, Quantity] = {
    "regressor": Quantity(
        "The matrix that gives joint forces from the inertial parameters",
        one(algorithms.regressor, REGRESSORS, NOTHING),
        (Q, V, A),
        {"Y": ROWS},
    ),
    "drive_regressor": Quantity(
        "The joint forces of a unit of each number of a drive",
        one(algorithms.drive_regressor, REGRESSORS, NOTHING),
        (Q, V, A),
        {"Y": f"rows in the order of v; a column each for {', '.join(FIVE)}, SI units"},
        called="regressors.drive",
    ),
    "base_wrench_regressor": Quantity(
        "The matrix that gives the wrench on the base from the inertial parameters",
        one(algorithms.base_wrench_regressor, REGRESSORS, NOTHING),
        (Q, V, A),
        {"Y": f"a row each for force x y z, then moment x y z; {COLUMNS}"},
        called="regressors.base_wrench",
    ),
    "momentum_regressor": Quantity(
        "The matrices that give the generalised momentum and its rate from the inertial parameters",
        one(algorithms.momentum_regressor, (*REGRESSORS, *ENERGY_MODEL), NOTHING),
        (Q, V),
        {"Y": f"momentum; {ROWS}", "rate": f"rate of the momentum less tau; {ROWS}"},
        called="regressors.momentum",
    ),
    "energy_regressor": Quantity(
        "The row that gives the energy from the inertial parameters",
        one(algorithms.energy_regressor, ENERGY_MODEL, NOTHING),
        (Q, V),
        {"Y": COLUMNS},
        called="regressors.energy",
    ),
    "passivity_regressor": Quantity(
        "The matrix that gives M ar + C vr + g from the inertial parameters",
        one(algorithms.passivity_regressor, ADAPTIVE, NOTHING),
        (Q, V, Argument("vr", Kind.VELOCITY), Argument("ar", Kind.ACCELERATION)),
        {"Y": ROWS},
        called="regressors.passivity",
    ),
}
