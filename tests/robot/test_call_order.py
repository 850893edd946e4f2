"""Every method of a robot takes states in one order, then settings by name."""

import inspect

import pytest

import kinetree as kt
from kinetree.robot.core import Door

ROBOT = kt.robots.arm()
ORDER = ("q", "v", "a", "tau")
"""What a state is made of; where both are taken, a stands before tau."""
BY_POSITION = {
    "actuation.law": {"controller"},
    "kernel": {"method"},
    "citation": {"method"},
    "custom_kernel": {"name"},
    "random": {"rng", "batch"},
    "rollout": {"dt"},
    "linearize": {"dt"},
    "simulate": {"controller"},
    "simulate_adaptive": {"controller"},
    "optimal_control": {"final"},
    "show": {"trajectory"},
    "on_ground": {"links"},
    "edit.attach_payload": {"com", "inertia"},
    "edit.replace_inertia": {"com", "inertia"},
    "coriolis.passivity_forces": {"ar"},
    "constraints.impact": {"restitution"},
    "constraints.embed": {"independent"},
    "derivatives.inverse_dynamics_second": {"weights"},
    "derivatives.forward_dynamics_second": {"weights"},
    "cartesian.state": {"v"},
    "cartesian.jacobian": {"point"},
    "cartesian.points": {"at"},
    "cartesian.generalized_forces": {"f"},
    "cartesian.body_wrenches": {"joint_force"},
}
"""Arrays and parts of a request that may be left out, though they are given by position."""


def methods():
    """Every public method of a robot, those behind doors such as "edit.lock" included."""
    for name in filter(is_public, dir(ROBOT)):
        value = getattr(ROBOT, name)
        if isinstance(value, Door):
            inside = ((f"{name}.{x}", getattr(value, x)) for x in filter(is_public, dir(value)))
            yield from ((full, method) for full, method in inside if inspect.ismethod(method))
        elif inspect.ismethod(value):
            yield name, value


def is_public(name):
    return not name.startswith("_")


METHODS = dict(methods())
OTHER_STATES = ("cartesian.", "charts.velocities_along")
"""What takes states of links, and samples over time, whose times stand first as in `Motion`."""


def positional(name):
    parameters = inspect.signature(METHODS[name]).parameters.values()
    return [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]


@pytest.mark.parametrize("name", [x for x in METHODS if not x.startswith(OTHER_STATES)])
def test_a_state_is_given_in_one_order_before_all_else(name):
    names = [p.name for p in positional(name)]
    state = [x for x in ORDER if x in names]
    assert names[: len(state)] == state


@pytest.mark.parametrize("name", METHODS)
def test_a_setting_is_given_by_name(name):
    optional = {p.name for p in positional(name) if p.default is not p.empty}
    assert optional == BY_POSITION.get(name, set())


def test_the_list_of_exceptions_names_methods():
    assert set(BY_POSITION) <= set(METHODS)


def test_a_robot_has_about_seventy_public_names():
    assert len(list(filter(is_public, dir(ROBOT)))) <= 82  # 14 doors and 68 others
