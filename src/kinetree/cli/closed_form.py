"""`kinetree symbolic`: a quantity in closed form, as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinetree.cli.options import check_settings
from kinetree.errors import KinetreeError, UnknownNameError, unknown
from kinetree.model import Model
from kinetree.quantities import QUANTITIES, Derived
from kinetree.quantities.settings import ordered
from kinetree.robot.symbolic import ClosedForm, closed_form, printed

LARGEST = 6
SHORT = {"christoffel": "christoffel_symbols", "coriolis": "coriolis_matrix", "mass": "mass_matrix"}
LETTERS = {"christoffel_symbols": "Gamma", "jacobian": "J", "pose": "T"}
"""Of quantities whose results have longer names."""


def closed_form_of(
    model: Model,
    quantity: str,
    method: str,
    settings: Mapping[str, Any],
    latex: bool,
    simplify: bool,
) -> str:
    """The entries of a quantity that are not zero, one a line.

    Arguments:
        quantity: a name of `quantities.QUANTITIES`, or one of `SHORT`.
        settings: by name; the default for those not given.
    """
    name = SHORT.get(quantity, quantity)
    _check(model, name, settings)
    if model.nv > LARGEST and simplify:
        raise KinetreeError(
            f"robot {model.name!r} has {model.nv} degrees of freedom: closed forms of more than "
            f"{LARGEST} fill pages and take hours to simplify; --no-simplify prints them without "
            "simplifying"
        )
    form = closed_form(model, name, method, *ordered(name, settings), simplify=simplify)
    results = list(QUANTITIES[name].results)
    if len(results) == 1:
        return printed(form, LETTERS.get(name, results[0]), latex)
    parts = (ClosedForm(entries, form.symbols) for entries in form.entries)
    return "\n".join(
        printed(part, result, latex) for part, result in zip(parts, results, strict=True)
    )


def _check(model: Model, name: str, settings: Mapping[str, Any]) -> None:
    """Refuse unknown quantities, and settings that must be given by an option."""
    if name not in QUANTITIES:
        direct = [
            known
            for known, row in QUANTITIES.items()
            if not all(isinstance(how, Derived) for how in row.methods.values())
        ]
        found = unknown("quantity", name, QUANTITIES, "kinetree")
        raise UnknownNameError(f"{found}. There are closed forms of {', '.join(direct)}")
    check_settings(model, name, settings)
