"""Coriolis matrices, Christoffel symbols, and what control does with them."""

from __future__ import annotations

from typing import Any

from kinetree import algorithms
from kinetree.model import Model
from kinetree.model.configurations import neutral_configuration
from kinetree.model.prepare import Preparation
from kinetree.quantities.citations import CORIOLIS, TUTORIAL
from kinetree.quantities.row import SQUARE, TAU, Argument, Kind, Method, Q, Quantity, V, one

INERTIAS = Preparation.INERTIAS
MATRICES = {name: algorithms.coriolis_matrix(f) for name, f in algorithms.FACTORIZATIONS.items()}


def christoffel_pattern(model: Model) -> list[tuple[int, int, int]]:
    """The indices of the symbols that can be nonzero for robots of this structure.

    One of those that are equal by symmetry: j <= k, unless velocities are no rates of coordinates.
    """
    triples = sorted(algorithms.symbols(model, neutral_configuration(model)))
    symmetric = model.nq == model.nv
    return [(i, j, k) for i, j, k in triples if j <= k or not symmetric]


def _christoffel_values(model: Model, q: Any) -> Any:
    values = algorithms.symbols(model, q)
    return [values[triple] for triple in christoffel_pattern(model)]


CORIOLIS_QUANTITIES: dict[str, Quantity] = {
    "coriolis_matrix": Quantity(
        "A matrix C with C v the Coriolis and centrifugal forces",
        {
            "christoffel": Method(MATRICES["christoffel"], INERTIAS, (*CORIOLIS, "niemeyer1991")),
            # is no function of the mass matrix alone
            "spatial": Method(MATRICES["spatial"], sources=CORIOLIS),
            # depends on where the links have their origins
            "lagrange": Method(algorithms.lagrange_coriolis, Preparation.NOTHING, TUTORIAL),
        },
        (Q, V),
        {"C": SQUARE},
    ),
    "mass_and_coriolis": Quantity(
        "The mass matrix, its rate and the Coriolis matrix from one pass",
        one(algorithms.coriolis, (*CORIOLIS, "niemeyer1991"), INERTIAS),
        (Q, V),
        {
            "M": f"mass matrix; {SQUARE}",
            "rate": f"its time derivative; {SQUARE}",
            "C": f"Coriolis matrix; {SQUARE}",
        },
        called="coriolis.with_mass_matrix",
    ),
    "christoffel_symbols": Quantity(
        "The Christoffel symbols of the first kind",
        one(algorithms.christoffel_symbols, CORIOLIS, INERTIAS),
        (Q,),
        {"symbols": "[i][j][k] is Gamma_ijk, each axis in the order of v, SI units"},
    ),
    "christoffel_values": Quantity(
        "The Christoffel symbols that are not zero by structure nor equal by symmetry",
        one(_christoffel_values, CORIOLIS, INERTIAS),
        (Q,),
        {"values": "in the order of the pattern"},
        public=False,
    ),
    "passivity_forces": Quantity(
        "M ar + C vr + g, the law of Slotine and Li",
        one(algorithms.passivity_forces, (*CORIOLIS, "niemeyer1991"), INERTIAS),
        (Q, V, Argument("vr", Kind.VELOCITY), Argument("ar", Kind.ACCELERATION)),
        {"tau": Kind.FORCE},
        called="coriolis.passivity_forces",
    ),
    "momentum_observer": Quantity(
        "A step of the generalised-momentum observer",
        one(algorithms.momentum_observer, (*CORIOLIS, "deluca2003"), INERTIAS),
        (Q, V, TAU, Argument("r", Kind.FORCE)),
        {"p": Kind.MOMENTUM, "rate": Kind.FORCE},
        called="coriolis.momentum_observer",
    ),
}
