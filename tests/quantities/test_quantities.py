"""Every row of the table of quantities, held against the method of Robot that gives it."""

import inspect
from typing import get_args, get_type_hints

import pytest

import kinetree as kt
from kinetree import typing as kinds
from kinetree.algorithms import AXES, POINTS
from kinetree.model.edit import CHARTS
from kinetree.quantities import PUBLIC, QUANTITIES, SOME_CONSTRAINTS, SOME_JOINTS, calling
from kinetree.quantities.settings import PINOCCHIO
from kinetree.robot import doors
from tests.test_docstrings import compared

DOORS = vars(doors)
RENAMED = {("momentum_observer", "r"): "residual"}
"""Arguments of methods that have a longer name than in the table."""
NOT_A_METHOD = {("coriolis_matrix", "factorization"), ("christoffel_symbols", "sparse")}
"""Parameters by which a method chooses between rows or methods of a row."""


LISTS = (SOME_CONSTRAINTS, SOME_JOINTS)
"""Settings that list names; none stands for the usual ones."""


def method_of(quantity):
    """The method that gives a quantity, found in its door if it has one."""
    found = kt.Robot
    *door, name = calling(quantity).split(".")
    for part in door:
        found = get_type_hints(getattr(found, part).function, DOORS)["return"]
    return getattr(found, name)


def parameters(quantity):
    method = method_of(quantity)
    return [p for name, p in inspect.signature(method).parameters.items() if name != "self"]


@pytest.mark.parametrize("quantity", PUBLIC)
def test_a_method_takes_what_its_row_says_in_that_order(quantity):
    row = QUANTITIES[quantity]
    expected = [RENAMED.get((quantity, name), name) for name, _ in row.arguments]
    expected += list(row.settings)
    expected += ["external"] if row.loads else []
    expected += ["method"] if len(row.methods) > 1 and quantity != "coriolis_matrix" else []
    names = [p.name for p in parameters(quantity)]
    extra = {p for q, p in NOT_A_METHOD if q == quantity}
    extra |= {"weights"} if quantity.endswith("_second_derivatives") else set()
    assert [name for name in names if name not in extra] == [*expected, "out"]


@pytest.mark.parametrize("quantity", PUBLIC)
def test_the_defaults_of_a_method_are_the_first_values_of_its_row(quantity):
    defaults = {p.name: p.default for p in parameters(quantity)}
    for name, valid in QUANTITIES[quantity].settings.items():
        if defaults[name] is not inspect.Parameter.empty:
            assert defaults[name] == (() if valid in LISTS else valid[0])


@pytest.mark.parametrize("quantity", PUBLIC)
def test_the_types_of_a_method_allow_what_its_row_has(quantity):
    hints = get_type_hints(method_of(quantity))
    row = QUANTITIES[quantity]
    if "method" in hints:
        assert set(get_args(hints["method"])) == {"auto", *row.methods}
    for name in ("kind", "about"):
        if name in hints:
            assert get_args(hints[name]) == tuple(row.settings[name])


def test_the_other_types_allow_what_there_is():
    theirs = {word.upper() for word in PINOCCHIO} | {"local", "local_world_aligned"}
    assert set(get_args(kinds.Axes)) == {*AXES, *theirs}
    assert get_args(kinds.About) == POINTS
    assert set(get_args(kinds.ChartName)) == set(CHARTS)
    assert set(get_args(kinds.Factorization)) == set(QUANTITIES["coriolis_matrix"].methods)


@pytest.mark.parametrize("quantity", PUBLIC)
def test_the_docstring_of_a_method_is_compared_with_its_signature(quantity):
    """By `tests/test_docstrings.py`, which finds what it checks by itself."""
    assert method_of(quantity) in compared()


def test_what_is_not_public_is_not_a_method():
    for name in QUANTITIES.keys() - set(PUBLIC):
        assert not hasattr(kt.Robot, name)


def test_an_unknown_quantity_is_told_the_public_ones():
    with pytest.raises(kt.errors.UnknownNameError) as caught:
        kt.robots.arm().kernel("something else")
    assert "chart_volumes" not in str(caught.value)
