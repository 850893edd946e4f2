"""Lint: each finding, its severity and its place; nothing on what is right."""

from dataclasses import replace

import pytest
from hypothesis import given

import kinetree as kt
from kinetree.errors import MissingFileError
from kinetree.model.lint import joint_problems
from kinetree.model.model import Drive, Limits
from kinetree.robot.load import check_file, load_model
from kinetree.robot.problems import problems_of_model
from tests.random_models import inertias, regular_models


def robot(inertial="", limit="<limit lower='-1' upper='1' effort='1' velocity='1'/>", more=""):
    return f"""<robot name='r'>
<link name='a'/>
<link name='b'>{inertial}</link>
<joint name='j' type='revolute'><parent link='a'/><child link='b'/>{limit}{more}</joint>
</robot>"""


def inertial(mass=1.0, xx=0.1, yy=0.1, zz=0.1, xy=0.0):
    return (
        f"<inertial><mass value='{mass}'/>"
        f"<inertia ixx='{xx}' iyy='{yy}' izz='{zz}' ixy='{xy}'/></inertial>"
    )


GOOD = inertial()


@pytest.mark.parametrize(
    ("text", "severity", "line", "message"),
    [
        (robot(inertial(mass=-1.0)), "error", 3, "link 'b': its mass is negative: -1 kg"),
        (robot(inertial(mass=0.0)), "warning", 3, "a rotational inertia but no mass"),
        (robot(inertial(mass=2500.0)), "warning", 3, "its mass is 2500 kg: is it in grams?"),
        (robot(inertial(xx=-0.1)), "error", 3, "not positive: principal moments (-0.1, 0.1, 0.1)"),
        (robot(inertial(xy=0.3)), "error", 3, "not positive: principal moments (-0.2, 0.1, 0.4)"),
        (robot(inertial(zz=0.5)), "warning", 3, "(0.1, 0.1, 0.5) break the triangle inequality"),
        (robot(inertial(xx=0.0)), "note", 3, "no extent across an axis"),
        (
            robot(GOOD, "<limit lower='1' upper='-1'/>"),
            "error",
            4,
            "joint 'j': its lower limit 1 is above its upper limit -1",
        ),
        (robot(GOOD, "<limit lower='2' upper='2'/>"), "note", 4, "both 2: it cannot move"),
        (
            robot(GOOD, "<limit lower='0' upper='1' effort='-3'/>"),
            "error",
            4,
            "its effort limit is negative: -3",
        ),
        (robot(GOOD, more="<dynamics damping='-1'/>"), "error", 4, "its damping is negative"),
        (robot(), "error", 4, "joint 'j': it moves without moving any inertia: link 'b' and all"),
    ],
)
def test_a_finding_has_its_severity_place_and_reason(text, severity, line, message):
    found = check_file(text)
    assert [p.severity for p in found if message in str(p)] == [severity]
    problem = next(p for p in found if message in str(p))
    assert problem.where == f"<string>:{line}"
    assert str(problem).startswith(f"<string>:{line}: {severity}: ")


def test_a_negative_mass_is_an_inertia():
    # summed with its rotational inertia it is zero, and with a positive one next to it, too
    (problem,) = check_file(robot(inertial(mass=-0.1)))
    assert problem.message == "its mass is negative: -0.1 kg"
    two = robot(inertial(mass=-1.0, xx=0.0, yy=0.0, zz=0.0)).replace(
        "</robot>",
        f"<link name='c'>{inertial(mass=1.0, xx=0.0, yy=0.0, zz=0.0)}</link><joint name='k' "
        "type='fixed'><parent link='a'/><child link='c'/></joint></robot>",
    )
    assert not [p for p in check_file(two) if "no inertia" in p.message]
    chain = two.replace(
        "<parent link='a'/><child link='c'/>", "<parent link='b'/><child link='c'/>"
    )
    moving = chain.replace("type='fixed'", "type='continuous'")
    assert not [p for p in check_file(moving) if "no inertia" in p.message]


def test_limits_that_no_position_lies_between_are_an_error():
    inf = float("inf")
    for limits, message in (
        (Limits(inf, inf), "its limits are both inf: no position lies between them"),
        (Limits(-inf, -inf), "its limits are both -inf: no position lies between them"),
        (Limits(inf, -inf), "its lower limit inf is above its upper limit -inf"),
    ):
        assert list(joint_problems(limits, Drive())) == [("error", message)]
    assert list(joint_problems(Limits(-inf, inf), Drive())) == []


def test_a_good_file_gives_no_finding():
    assert check_file(robot(GOOD)) == []


def test_what_keeps_a_file_from_loading_is_a_finding_too():
    text = robot(inertial(mass=-1.0)).replace("parent link='a'", "parent link='z'")
    found = check_file(text)
    assert [p.severity for p in found] == ["error", "warning", "error"]
    assert "no joint connects it" in found[1].message
    assert "no link 'z'" in found[-1].message
    (only,) = check_file("<robot><link/></robot>")
    assert "attribute 'name' is missing" in only.message
    with pytest.raises(MissingFileError):
        check_file("nowhere.urdf")


def test_a_model_lists_its_own():
    model = load_model(robot(inertial(zz=0.5)))
    (problem,) = problems_of_model(model)
    assert str(problem).startswith("warning: body 'b': its principal moments")
    (problem,) = problems_of_model(load_model(robot()))
    assert (problem.severity, problem.element) == ("error", "joint 'j'")


def test_a_spring_that_pushes_away_is_an_error():
    model = load_model(robot(GOOD))
    (body,) = model.bodies
    for drive in (Drive(stiffness=-1.0), Drive(stiffness=1.0)):
        found = problems_of_model(replace(model, bodies=(replace(body, drive=drive),)))
        assert len(found) == (drive.stiffness < 0.0)
    (problem,) = problems_of_model(
        replace(model, bodies=(replace(body, drive=Drive(stiffness=-1.0)),))
    )
    assert str(problem).startswith("error: joint 'j': its stiffness is negative")


@given(regular_models())
def test_what_is_physical_passes(model):
    assert [p for p in problems_of_model(model) if p.severity != "note"] == []


@given(inertias())
def test_a_point_mass_that_is_added_breaks_nothing(inertia):
    from kinetree.model.lint import inertia_problems
    from kinetree.spatial import Inertia, Symmetric3, Vector3

    point = Inertia.about_center(2.0, Vector3(0.3, -0.2, 0.5), Symmetric3.diagonal(0.0))
    assert list(inertia_problems([inertia + point])) == [[]]


def test_built_in_robots_have_no_problem():
    for made in (kt.robots.arm, kt.robots.human, kt.robots.quadruped, kt.robots.cart_pole):
        assert made().problems() == []
