"""Derivatives as robots give them: every method on every built-in robot, first and second order."""

from itertools import product

import numpy as np
import pytest

import kinetree as kt
from kinetree import algorithms
from kinetree.algorithms import AXES, POINTS
from kinetree.compiler.graph import interpret
from kinetree.errors import SingularChartError
from kinetree.model.loads import PointForce
from kinetree.spatial import Force, Vector3
from tests.algorithms.test_derivatives import slopes, worst
from tests.algorithms.test_identities import forward
from tests.algorithms.test_ways import BUILT_IN
from tests.tolerances import EXACT, PEER, relative_error

INVERSE, FORWARD = "inverse_dynamics_derivatives", "forward_dynamics_derivatives"
METHODS = {INVERSE: ("analytic", "balafoutis-patel", "graph"), FORWARD: ("analytic", "graph")}
ALGORITHMS = {INVERSE: algorithms.rnea, FORWARD: forward}

# forward dynamics of the human figure takes minutes to differentiate as a graph
CASES = [
    (name, what) for what in METHODS for name in BUILT_IN if (name, what) != ("human", FORWARD)
]
LARGE = 8_000
"""Operations of programs that are interpreted here, to save compiling them."""

DIFFERENCES = 1e-6
"""Relative; these central differences themselves are good to 1e-9."""


def leg():
    """A hinge and a ball, whose orientation is a quaternion."""
    return kt.robots.human().edit.subtree("left_thigh")


def states(robot, seed, *batch):
    rng = np.random.default_rng(seed)
    return robot.random(rng, batch), *rng.standard_normal((2, *batch, robot.nv))


def by_method(robot, quantity, method, *state):
    kernel = robot.kernel(quantity, method)
    if kernel.interface.cost > LARGE:
        return interpret(kernel.program, *state)
    return getattr(robot, quantity)(*state, method=method)


def differences(robot, function, q, *vectors):
    """The derivatives of function(q, *vectors) by each, with a last axis of length nv."""
    h, found = 1e-5, []
    for k in range(1 + len(vectors)):
        ends = []
        for step in (h * np.eye(robot.nv), -h * np.eye(robot.nv)):
            moved = [x + step if i == k else x for i, x in enumerate(vectors, 1)]
            ends.append(function(q if k else robot.integrate(q, step), *moved))
        found.append(np.moveaxis(ends[0] - ends[1], 0, -1) / (2 * h))
    return found


# first order


@pytest.mark.slow
@pytest.mark.parametrize(("name", "quantity"), CASES)
def test_all_methods_agree_with_each_other_and_with_complex_steps(name, quantity):
    robot = BUILT_IN[name]()
    state = states(robot, 3, 4)
    found = [by_method(robot, quantity, m, *state) for m in METHODS[quantity]]
    assert max(worst(other, found[0]) for other in found[1:]) < PEER
    one = [x[0].tolist() for x in state]
    expected = slopes(robot.model, ALGORITHMS[quantity], *one)
    assert worst([x[0] for x in found[0]], expected) < PEER


def test_derivatives_of_a_human_figures_forward_dynamics_are_those_of_complex_steps():
    robot = BUILT_IN["human"]()
    state = [x.tolist() for x in states(robot, 3)]
    expected = slopes(robot.model, forward, *state)
    assert worst(algorithms.forward_derivatives(robot.model, *state), expected) < PEER


@pytest.mark.slow
@pytest.mark.parametrize(("name", "quantity"), CASES)
def test_the_default_is_the_cheapest_method(name, quantity):
    robot = BUILT_IN[name]()
    costs = {m: robot.kernel(quantity, m).interface.cost for m in METHODS[quantity]}
    default = robot.kernel(quantity)
    assert default.interface.cost == min(costs.values()) == costs[default.method]
    if quantity == FORWARD or robot.nv > 2:  # where two joints are all, graphs save a few more
        assert costs["analytic"] < costs["graph"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arm", "quadruped", "cart pole", "double pendulum"])
def test_derivatives_of_forward_dynamics_are_those_of_inverse_dynamics_solved(name):
    robot = BUILT_IN[name]()
    q, v, tau = states(robot, 4, 5)
    found = robot.forward_dynamics_derivatives(q, v, tau)
    felt = robot.inverse_dynamics_derivatives(q, v, robot.forward_dynamics(q, v, tau))
    M, one = robot.mass_matrix(q), np.broadcast_to(np.eye(robot.nv), felt.da.shape)
    assert relative_error(felt.da, M) < EXACT
    expected = [np.linalg.solve(M, x) for x in (-felt.dq, -felt.dv, one)]
    assert worst(found, expected) < PEER


@pytest.mark.parametrize("quantity", METHODS)
def test_batches_broadcast_and_results_go_where_they_are_told(quantity):
    robot = BUILT_IN["arm"]()
    q, v, a = states(robot, 5, 2, 3)
    derivatives = getattr(robot, quantity)
    found = derivatives(q, v[0], a[0, 0])
    assert [x.shape for x in found] == [(2, 3, 7, 7)] * 3
    alone = derivatives(q[1, 2], v[0, 2], a[0, 0])
    assert worst([x[1, 2] for x in found], alone) < EXACT
    out = tuple(np.full((2, 3, 7, 7), np.nan) for _ in range(3))
    told = derivatives(q, v[0], a[0, 0], out=out)
    assert all(x is y for x, y in zip(told, out, strict=True))
    assert worst(out, found) == 0.0


def test_compiled_derivatives_under_loads_equal_the_algorithms():
    robot = BUILT_IN["arm"]()
    model, state = robot.model, states(robot, 6)
    w, f = np.random.default_rng(6).standard_normal((2, 6))
    external = {"tool": w, kt.Point("tool"): f}
    acting = [
        ("tool", Force(Vector3(*w[:3]), Vector3(*w[3:]))),
        ("tool", PointForce(Vector3(*f[:3]), Vector3(*f[3:]))),
    ]
    lists = [x.tolist() for x in state]
    for quantity, algorithm in (
        (INVERSE, algorithms.inverse_derivatives),
        (FORWARD, algorithms.forward_derivatives),
    ):
        found = getattr(robot, quantity)(*state, external=external)
        assert worst(found, algorithm(model, *lists, acting)) < PEER
    held = robot.derivatives.gravity_forces(state[0], external=external)
    assert relative_error(held, algorithms.gravity_derivatives(model, lists[0], acting)) < EXACT


def test_compiled_derivatives_of_the_mass_matrix_equal_the_algorithms():
    robot = leg()
    q, model = robot.random(1), robot.model
    dM = algorithms.mass_derivatives(model, q.tolist())
    assert relative_error(robot.derivatives.mass_matrix(q), dM) < EXACT
    inverse = algorithms.mass_inverse_derivatives(model, q.tolist())
    assert relative_error(robot.derivatives.mass_matrix_inverse(q), inverse) < PEER


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arm", "quadruped"])
@pytest.mark.parametrize("axes", AXES)
def test_derivatives_of_a_frames_motion_are_those_of_differences(name, axes):
    robot = BUILT_IN[name]()
    q, v, a = states(robot, 7)
    frame = robot.frames[-1]
    velocity = differences(robot, lambda q, v: robot.velocity(q, v, frame, axes=axes), q, v)
    assert worst(robot.derivatives.velocity(q, v, frame, axes=axes), velocity) < DIFFERENCES
    for kind in ("classical", "spatial"):
        setting = {"frame": frame, "axes": axes, "kind": kind}
        found = robot.derivatives.acceleration(q, v, a, **setting)
        expected = differences(robot, lambda *x, s=setting: robot.acceleration(*x, **s), q, v, a)
        assert worst(found, expected) < DIFFERENCES


@pytest.mark.slow
@pytest.mark.parametrize(("name", "about"), [*product(["arm"], POINTS), ("quadruped", "world")])
def test_derivatives_of_the_momentum_and_its_rate_are_those_of_differences(name, about):
    robot = BUILT_IN[name]()
    q, v, a = states(robot, 8)
    momentum = differences(robot, lambda q, v: robot.momentum(q, v, about=about), q, v)
    assert worst(robot.derivatives.momentum(q, v, about=about), momentum) < DIFFERENCES
    rate = differences(robot, lambda *x: robot.centroidal.momentum_rate(*x, about=about), q, v, a)
    assert worst(robot.derivatives.momentum_rate(q, v, a, about=about), rate) < DIFFERENCES


# second order


@pytest.mark.slow
@pytest.mark.parametrize("what", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("make", [lambda: kt.robots.chain(2, seed=1), leg], ids=["chain", "ball"])
def test_second_derivatives_are_those_of_differences_of_the_first(make, what):
    robot = make()
    state = states(robot, 9)
    first = getattr(robot, f"{what}_derivatives")
    second = getattr(robot.derivatives, f"{what}_second")
    found = second(*state)
    qq, qv, qu = differences(robot, lambda *x: first(*x).dq, *state)
    vq, vv, vu = differences(robot, lambda *x: first(*x).dv, *state)
    assert worst(found, (qq, qv, vv, qu)) < DIFFERENCES
    assert relative_error(found.qv, vq.swapaxes(1, 2)) < DIFFERENCES
    assert not vu.any()
    for symmetric in (found.vv, found.qq)[: 2 if robot.nq == robot.nv else 1]:
        assert relative_error(symmetric, symmetric.swapaxes(1, 2)) < PEER
    weights = np.random.default_rng(9).standard_normal(robot.nv)
    weighted = [np.einsum("i,ijk->jk", weights, x) for x in found]
    assert worst(second(*state, weights=weights), weighted) < PEER


# where there is no answer


def test_in_a_singular_chart_accelerations_have_no_derivatives():
    robot = leg().edit.rechart("zyx")
    q, v, u = states(robot, 10)
    assert robot.joints == ("left_shank_joint", "left_foot_joint")
    q[2] = np.pi / 2
    assert np.isfinite(robot.inverse_dynamics_derivatives(q, v, u)).all()
    for singular in (
        lambda: robot.forward_dynamics_derivatives(q, v, u),
        lambda: robot.derivatives.forward_dynamics_second(q, v, u, weights=v),
        lambda: robot.derivatives.mass_matrix_inverse(q),
    ):
        with pytest.raises(SingularChartError, match="left_foot_joint"):
            singular()
