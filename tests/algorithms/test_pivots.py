"""Pivots are those of the mass matrix, whatever way they are found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree import algorithms
from kinetree.algorithms.ltl import elimination_order, factor
from kinetree.algorithms.pivots import Pivot, pivots
from kinetree.compiler.graph import interpret, trace
from tests.algorithms.test_identities import SEEDS, state
from tests.random_models import models, regular_models
from tests.tolerances import EXACT, relative_error


def eliminated(model, q, held=()):
    """The pivots of M from its factors, by coordinate, with the sizes on which they round.

    A pivot is w.M w, where w is 1 at its own coordinate and moves those eliminated before so that
    they feel no force. What rounds in M is multiplied by w twice.
    """
    M = algorithms.crba(model, q)
    order = [k for k in elimination_order(model) if k not in held]
    D_inv = factor(M, order).D_inv
    dense = np.array(M)
    found = {}
    for n, (k, d) in enumerate(zip(order, D_inv, strict=True)):
        before = order[n + 1 :]
        w = np.zeros(model.nv)
        w[before] = -np.linalg.solve(dense[np.ix_(before, before)], dense[before, k])
        w[k] = 1.0
        found[k] = 1.0 / d, np.abs(w) @ np.abs(dense) @ np.abs(w)
    return found


def assert_pivots(found, expected):
    """Assert that pivots are those which `eliminated` gives."""
    assert found.keys() == expected.keys()
    for k, (free, size) in expected.items():
        assert found[k].free == pytest.approx(free, abs=EXACT * max(size, found[k].held))


@given(regular_models(), SEEDS)
def test_pivots_are_the_diagonal_of_the_factored_mass_matrix(model, seed):
    q, _, _ = state(model, seed)
    assert_pivots(pivots(model, q), eliminated(model, q))


@given(models(), SEEDS)
def test_beside_a_pivot_stands_the_diagonal_of_the_mass_matrix(model, seed):
    q, _, _ = state(model, seed)
    M = algorithms.crba(model, q)
    for k, pivot in pivots(model, q).items():
        assert pivot.held >= M[k][k] * (1.0 - EXACT)
        assert pivot.free <= pivot.held * (1.0 + EXACT)


@given(regular_models(), SEEDS, st.data())
def test_joints_that_are_accelerated_are_held(model, seed, data):
    q, _, _ = state(model, seed)
    told = set(data.draw(st.lists(st.sampled_from(model.coordinate_order))))
    held = {k for i in told for k in range(*model.v_slices[i].indices(model.nv))}
    assert_pivots(pivots(model, q, told), eliminated(model, q, held))


def test_some_bodies_have_the_pivots_that_all_have():
    model = kt.robots.quadruped().model
    q = kt.Robot(model).random(0).tolist()
    leg = {i for i, body in enumerate(model.bodies) if "front_left" in body.name}
    whole, part = pivots(model, q), pivots(model, q, bodies=leg)
    assert part == {k: whole[k] for i in leg for k in [model.v_slices[i].start]}


def test_a_joint_without_inertia_leaves_what_carries_it_its_own():
    idle = kt.load(
        """<robot name="r"><link name="base"/><link name="ghost"/><link name="arm">
        <inertial><mass value="2"/><inertia ixx="3" iyy="3" izz="3"/></inertial></link>
        <joint name="first" type="continuous"><parent link="base"/><child link="arm"/></joint>
        <joint name="second" type="continuous"><parent link="arm"/><child link="ghost"/></joint>
        </robot>"""
    ).model
    assert pivots(idle, [0.3, 0.4]) == {0: Pivot(3.0, 3.0), 1: Pivot(0.0, 0.0)}


def test_they_can_be_traced():
    model = kt.robots.arm().model

    def function(q):
        return {"pivots": [pivot.free for _, pivot in sorted(pivots(model, q).items())]}

    q = kt.Robot(model).random(0)
    (values,) = interpret(trace("pivots", function, {"q": (7,)}), q)
    expected = [pivot.free for _, pivot in sorted(pivots(model, q.tolist()).items())]
    assert relative_error(values, expected) < EXACT
    assert np.min(values) > 0.0
