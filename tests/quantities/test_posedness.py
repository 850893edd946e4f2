"""Whether forces determine accelerations: each judgement, its reason, and where it is heard."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.algorithms.pivots import pivots
from kinetree.errors import ModelWarning, SingularModelError
from kinetree.model.configurations import neutral_configuration
from kinetree.model.model import NO_INERTIA
from kinetree.quantities import QUANTITIES, posedness
from kinetree.robot.load import check_file, load_model
from kinetree.spatial import Inertia, Symmetric3, Vector3
from tests.algorithms.test_identities import SEEDS, state
from tests.random_models import models

INERTIA = "<inertial><mass value='{}'/><inertia ixx='{}' iyy='1' izz='1'/></inertial>"
SLANTED = "<origin xyz='0.1 0.2 0.3' rpy='1 2 3'/>"


def chain(*links, origin="", more=""):
    """The URDF of links l0, l1, ... joined by revolute joints j1, j2, ..., each with its axis."""
    text = "".join(f"<link name='l{i}'>{inertia}</link>" for i, (inertia, _) in enumerate(links))
    for i, (_, axis) in enumerate(links[1:], 1):
        text += f"""<joint name='j{i}' type='continuous'><parent link='l{i - 1}'/>
            <child link='l{i}'/>{origin}<axis xyz='{axis}'/></joint>"""
    return f"<robot name='r'>{text}{more}</robot>"


SOLID = INERTIA.format(1, 1)
FOREARM = chain(("", ""), (SOLID, "1 0 0"), (SOLID, "0 1 0"), origin=SLANTED)
"""A root without inertia before a roll joint, as Valkyrie's forearm has it."""


def messages(model):
    return [(f.severity, f.joint, f.message) for f in posedness.findings(model)]


# singular though not by structure


def test_a_massless_root_that_floats_before_a_roll_joint_is_singular():
    assert messages(load_model(FOREARM)) == []
    ((severity, joint, message),) = messages(load_model(FOREARM, base="floating"))
    assert (severity, joint) == ("error", "root_joint")
    assert message.startswith("it moves without moving any inertia while joint 'j1' moves against")
    assert message.endswith("give the links inertia, or lock the joint")


def test_loading_it_warns_and_checking_lists_it():
    with pytest.warns(ModelWarning, match=r"error: joint 'root_joint': it moves without moving"):
        robot = kt.load(FOREARM, base="floating")
    (problem,) = [p for p in robot.problems() if p.severity == "error"]
    assert [p.message for p in check_file(FOREARM, base="floating")] == [problem.message]
    assert check_file(FOREARM) == check_file(FOREARM, base="fixed") == []


NEEDY = sorted(name for name, row in QUANTITIES.items() if row.mass_matrix)


@pytest.mark.parametrize("quantity", NEEDY)
def test_what_needs_the_inverse_of_a_singular_mass_matrix_is_refused(quantity):
    robot = kt.Robot(load_model(FOREARM, base="floating"))
    wanted = {"accelerated": ("j2",), "frame": robot.frames[-1]}
    settings = {name: x for name, x in wanted.items() if name in QUANTITIES[quantity].settings}
    with pytest.raises(SingularModelError) as caught:
        robot.kernel(quantity, **settings)
    (finding,) = posedness.findings(robot.model)
    assert str(caught.value) == (
        f"{quantity} of robot 'r' is not defined: joint 'root_joint': {finding.message}"
    )


def test_those_are_all_that_divide_by_the_mass_matrix():
    assert {name for name in QUANTITIES if "forward" in name} <= set(NEEDY)
    assert {name for name in QUANTITIES if "inverse" in name and "mass" in name} <= set(NEEDY)


def test_what_needs_no_inverse_has_an_answer():
    robot = kt.Robot(load_model(FOREARM, base="floating"))
    q, v = robot.random(0), np.ones(robot.nv)
    M = robot.mass_matrix(q)
    assert np.linalg.cond(M) > 1e15
    assert np.isfinite(robot.inverse_dynamics(q, v, v)).all()


def test_a_singular_joint_that_is_accelerated_leaves_the_others_determined():
    robot = kt.Robot(load_model(FOREARM, base="floating"))
    rng = np.random.default_rng(0)
    q, (v, a) = robot.random(rng), rng.standard_normal((2, robot.nv))
    tau = robot.inverse_dynamics(q, v, a)
    found, forces = robot.hybrid_dynamics(q, v, a, tau, ["j1"])
    assert found == pytest.approx(a, rel=1e-9, abs=1e-9)
    assert forces == pytest.approx(tau, rel=1e-9, abs=1e-9)


def test_a_singular_robot_that_is_wholly_accelerated_has_an_answer():
    robot = kt.Robot(load_model(FOREARM, base="floating"))
    q, v = robot.random(0), np.ones(robot.nv)
    found, forces = robot.hybrid_dynamics(q, v, v, 0 * v, robot.joints)
    assert (found == v).all()
    assert forces == pytest.approx(robot.inverse_dynamics(q, v, v), rel=1e-9)


def test_numbers_that_are_arguments_are_not_judged():
    robot = kt.Robot(load_model(FOREARM, base="floating"))
    family = robot.parametric([kt.Payload("l0")])
    rng = np.random.default_rng(0)
    q, (v, a) = robot.random(rng), rng.standard_normal((2, robot.nv))
    load = [1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    tau = family.inverse_dynamics(q, v, a, load)
    assert family.forward_dynamics(q, v, tau, load) == pytest.approx(a, rel=1e-9, abs=1e-9)


def test_joints_that_share_a_coordinate_are_judged_by_the_factored_mass_matrix():
    fingers = """<link name='f'/><link name='g'/>
        <joint name='a' type='prismatic'><parent link='l2'/><child link='f'/></joint>
        <joint name='b' type='prismatic'><parent link='l2'/><child link='g'/>
        <mimic joint='a' multiplier='-1'/></joint>"""
    text = chain(("", ""), (SOLID, "1 0 0"), (SOLID, "0 1 0"), origin=SLANTED, more=fingers)
    (finger,) = messages(load_model(text))
    assert finger[:2] == ("error", "a")
    heavy = text.replace("<link name='g'/>", f"<link name='g'>{SOLID}</link>")
    assert messages(load_model(heavy)) == []
    (root,) = messages(load_model(heavy, base="floating"))
    assert root[:2] == ("error", "root_joint")
    assert "while joint 'j1' moves against it" in root[2]


def test_many_joints_that_cancel_are_named_up_to_four():
    coaxial = [(SOLID, "1 0 0")] * 6
    text = chain(
        ("", ""), *[("", a) for a in ("0 1 0", "1 0 0", "0 1 0", "1 0 0", "0 0 1")], *coaxial
    )
    first = next(m for m in messages(load_model(text, base="floating")) if m[1] == "root_joint")
    assert first[2].count("'j") <= posedness.NAMED


# inertia about the axis


def test_a_tiny_moment_that_is_meant_determines_the_acceleration():
    for least in ("1e-6", "1e-15", "1e-30"):
        robot = kt.Robot(load_model(chain(("", ""), (INERTIA.format(1, least), "1 0 0"))))
        assert posedness.findings(robot.model) == ()
        assert robot.mass_matrix([0.3]).tolist() == [[float(least)]]
        a = robot.forward_dynamics([0.3], [0.0], [2.0])
        assert a == pytest.approx([2.0 / float(least)], rel=1e-12)


def test_a_tiny_moment_is_kept_on_a_robot_that_floats():
    text = chain((SOLID, ""), (INERTIA.format(1, "1e-15"), "1 0 0"))
    robot = kt.Robot(load_model(text, base="floating"))
    tau = np.zeros(7)
    tau[6] = 1e-15
    a = robot.without("gravity").forward_dynamics(robot.neutral(), np.zeros(7), tau)
    assert a[6] == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("axis", ["1 0 0", "1 1 0", "0.3 -0.5 0.8"])
def test_a_rod_turned_about_itself_has_no_inertia_however_it_lies(axis):
    u = np.array([float(x) for x in axis.split()])
    u /= np.linalg.norm(u)
    I = np.eye(3) - np.outer(u, u)
    places = {"ixx": (0, 0), "iyy": (1, 1), "izz": (2, 2)}
    places |= {"ixy": (0, 1), "ixz": (0, 2), "iyz": (1, 2)}
    tensor = " ".join(f"{name}='{float(I[at])!r}'" for name, at in places.items())
    rod = f"<inertial><mass value='1'/><inertia {tensor}/></inertial>"
    ((severity, joint, message),) = messages(load_model(chain(("", ""), (rod, axis))))
    assert (severity, joint) == ("error", "j1")
    assert "what link 'l1' and all it carries have lies on its axis" in message


def test_a_rotor_is_inertia_enough():
    model = load_model(chain(("", ""), ("", "1 0 0")))
    assert len(posedness.findings(model)) == 1
    body = model.bodies[0]
    driven = replace(model, bodies=(replace(body, drive=kt.Drive(armature=0.1)),))
    assert posedness.findings(driven) == ()


# digits, neutral configurations, masses that cannot be


@pytest.mark.parametrize(("light", "lost"), [(1e-10, 10), (1e-12, 12)])
def test_lost_digits_are_a_warning(light, lost):
    text = chain(("", ""), (INERTIA.format(light, light), "1 0 0"), (SOLID, "1 0 0"))
    ((severity, joint, message),) = messages(load_model(text))
    assert (severity, joint) == ("warning", "j1")
    assert f"accelerations lose {lost} of their 16 digits" in message
    kt.Robot(load_model(text)).kernel("forward_dynamics")
    assert messages(load_model(text.replace(str(light), "1e-6"))) == []


def test_what_is_singular_at_the_neutral_configuration_only_is_a_note():
    text = chain(("", ""), ("", "1 0 0"), ("", "0 1 0"), (SOLID, "1 0 0"))
    model = load_model(text)
    assert messages(model) == []
    (note,) = [p for p in check_file(text) if "joint" in p.element]
    assert (note.severity, note.element) == ("note", "joint 'j1'")
    assert "at the neutral configuration" in note.message
    assert "while joint 'j3' moves against it" in note.message
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = kt.load(text)
    q, v, a = robot.random(0), np.zeros(3), np.ones(3)
    found = robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a))
    assert found == pytest.approx(a, rel=1e-9)


def test_axes_of_one_joint_that_coincide_are_named_as_such():
    model = kt.robots.human().edit.rechart("zxz").model
    notes = list(posedness.neutral_findings(model))
    assert notes
    assert all("its axes are dependent" in note.message for note in notes)


@pytest.mark.parametrize(("mass", "base"), [(-1.5, "floating"), (1, "fixed")])
def test_a_negative_inertia_is_called_so(mass, base):
    odd = INERTIA.format(mass, -1)
    found = messages(load_model(chain((SOLID, ""), (odd, "1 0 0"), origin=SLANTED), base=base))
    assert found
    for severity, _, message in found:
        assert severity == "error"
        assert message.startswith("the inertia that resists it is negative (-")


def test_masses_that_cancel_are_called_so():
    text = chain((SOLID, ""), (INERTIA.format(-1, 1), "1 0 0"))
    ((_, joint, message),) = messages(load_model(text, base="floating"))
    assert joint == "root_joint"
    assert "negative masses or moments cancel positive ones" in message


def test_a_negative_inertia_has_accelerations_but_no_root():
    robot = kt.Robot(load_model(chain(("", ""), (INERTIA.format(1, -1), "1 0 0"))))
    assert robot.forward_dynamics([0.0], [0.0], [1.0]) == pytest.approx([-1.0])
    with pytest.raises(SingularModelError, match=r"mass_matrix_factor .* negative"):
        robot.mass_matrix_factor([0.0])


def test_a_negative_rotor_inertia_is_called_so():
    model = load_model(chain(("", ""), (SOLID, "1 0 0")))
    driven = replace(model.bodies[0], drive=kt.Drive(armature=-3.0))
    ((_, joint, message),) = messages(replace(model, bodies=(driven,)))
    assert joint == "j1"
    assert message.startswith("the inertia that resists it is negative (-2)")


# the bounds that clear most joints


@given(models(), SEEDS, st.data())
def test_what_the_bounds_clear_needs_no_recursion(model, seed, data):
    scales = st.sampled_from((0.0, 1e-12, 1e-6, 1.0))
    model = replace(
        model,
        bodies=tuple(
            replace(b, inertia=_scaled(b.inertia, data.draw(scales))) for b in model.bodies
        ),
    )
    cleared = set(model.coordinate_order) - posedness._doubtful(model)
    for q in (state(model, seed)[0], neutral_configuration(model)):
        found = pivots(model, q)
        for i in cleared:
            for k in range(*model.v_slices[i].indices(model.nv)):
                assert found[k].free > 0.99 * posedness.ILL_CONDITIONED * found[k].held


def _scaled(inertia: Inertia, s: float) -> Inertia:
    return (
        Inertia(inertia.mass * s, inertia.moment * s, inertia.rotational * s) if s else NO_INERTIA
    )


def test_usual_robots_are_cleared_by_bounds_alone():
    for made in (kt.robots.arm, kt.robots.human, kt.robots.quadruped, kt.robots.cart_pole):
        assert posedness._doubtful(made().model) == set()


def test_a_model_is_judged_once(monkeypatch):
    model = load_model(FOREARM, base="floating")
    first = posedness.findings(model)
    monkeypatch.setattr(posedness, "_doubtful", None)
    assert posedness.findings(model) is first


def test_an_inertia_with_a_moment_but_no_mass_is_looked_at():
    model = load_model(chain(("", ""), (SOLID, "1 0 0")))
    odd = Inertia(0.0, Vector3(1.0, 0.0, 0.0), Symmetric3.diagonal(1.0))
    assert posedness._doubtful(replace(model, bodies=(replace(model.bodies[0], inertia=odd),)))
