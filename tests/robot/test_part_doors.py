"""Whatever is given to methods that know contacts and actuators, it is taken or refused."""

import numpy as np
import pytest

import kinetree as kt
from kinetree import geometry as g
from tests.doors import ROBOT, arguments_of, wrong_answers
from tests.equipped_robots import equipped

STATE = np.array([0.1, 0.2])
FLOOR, BALL = g.Collider("floor", None, g.Plane()), g.Collider("ball", "tip", g.Sphere(0.1))
GROUND = ROBOT.collide(FLOOR, BALL, g.ContactPair("floor", "ball"))
MOVING = {"q": STATE, "v": STATE, "tau": STATE}
CALLS = {
    "contact.dynamics": (GROUND.contact.dynamics, MOVING),
    "contact.forces": (GROUND.contact.forces, MOVING),
    "actuation.law": (equipped(ROBOT).actuation.law, {}),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_an_odd_value_is_taken_or_refused_by_an_error_of_ours(name):
    call, given = CALLS[name]
    call(**given)
    names = [a for a in arguments_of(call) if a != "out"]
    assert [x for a in names for x in wrong_answers(call, given, a, words=("",))] == []


@pytest.mark.parametrize("contact", [None, False])
def test_contact_dynamics_without_contact_are_refused(contact):
    with pytest.raises(kt.errors.KinetreeError, match="leaves contacts out"):
        GROUND.contact.dynamics(**MOVING, contact=contact)
