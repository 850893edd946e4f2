"""Rows of docs/mujoco.md, against MuJoCo itself."""

import re
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.formats import mjcf_honoured as honoured
from kinetree.model.formats.honoured import table
from kinetree.robot.load import check_file
from tests.tolerances import relative_error

mujoco = pytest.importorskip("mujoco")
CLOSE = 1e-10
PAGE = Path(__file__).parents[2] / "docs/mujoco.md"


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    path = tmp_path_factory.mktemp("mujoco") / "arm.xml"
    with pytest.warns(kt.errors.ModelWarning):
        kt.robots.arm().save(path)
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    robot, data = kt.load(path), mujoco.MjData(model)
    rng = np.random.default_rng(0)
    q, (v, tau) = robot.random(rng), rng.standard_normal((2, robot.nv))
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
    mujoco.mj_forward(model, data)
    return robot, model, data, q, v, tau


def test_the_rows_of_dynamics(both):
    robot, model, data, q, v, tau = both
    M = np.zeros((robot.nv, robot.nv))
    mujoco.mj_fullM(model, data, M)
    assert relative_error(robot.mass_matrix(q), M) < CLOSE
    assert relative_error(robot.forward_dynamics(q, v, tau), data.qacc) < CLOSE
    bare = robot.without("damping", "friction", "springs")
    assert relative_error(bare.bias_forces(q, v), data.qfrc_bias) < CLOSE


def test_the_rows_of_kinematics(both):
    robot, model, data, q, _, _ = both
    body = robot.bodies[-1]
    number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)
    linear, angular = np.zeros((2, 3, robot.nv))
    mujoco.mj_jacBody(model, data, linear, angular, number)
    assert relative_error(robot.jacobian(q, body), np.vstack([linear, angular])) < CLOSE
    pose = robot.pose(q, body)
    assert np.allclose(pose[:3, 3], data.xpos[number], atol=CLOSE)
    assert np.allclose(pose[:3, :3].ravel(), data.xmat[number], atol=CLOSE)


def test_the_rows_of_configurations_and_steps(both):
    robot, model, data, q, v, tau = both
    moved, difference, dt = q.copy(), np.zeros(robot.nv), 1e-3
    mujoco.mj_integratePos(model, moved, v, dt)
    assert np.allclose(robot.integrate(q, v * dt), moved)
    mujoco.mj_differentiatePos(model, difference, 1.0, q, moved)
    assert np.allclose(robot.difference(q, moved), difference)
    model.opt.timestep = dt
    mujoco.mj_step(model, data)
    q1, v1 = robot.step(q, v, tau, dt, method="implicit-damping")
    assert np.allclose(q1, data.qpos, atol=CLOSE)
    assert np.allclose(v1, data.qvel, atol=1e-8)
    assert robot.kernel("step").jacobian().interface.outputs


@pytest.fixture(scope="module")
def linkage():
    """The page's four-bar in both, closed and at rest."""
    text = re.search(r'four_bar = """(.+?)"""', PAGE.read_text(), re.DOTALL)[1]
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    robot, data = kt.load(text).without("contacts"), mujoco.MjData(model)
    q = robot.constraints.assemble([0.5, 0.5, 1.0])
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    return robot, model, data, q


def test_the_rows_of_equalities(linkage):
    robot, model, data, q = linkage
    J, M = data.efc_J.reshape(-1, robot.nv), np.zeros((robot.nv, robot.nv))
    mujoco.mj_fullM(model, data, M)
    ours = robot.constraints.jacobian(q)
    assert len(J) == len(ours) == 3
    # rows are along other axes: what they span, and what does not depend on axes, is the same
    assert np.linalg.matrix_rank(np.vstack([J, ours]), tol=1e-9) == np.linalg.matrix_rank(J)
    theirs = np.linalg.eigvalsh(J @ np.linalg.solve(M, J.T))
    found = np.linalg.eigvalsh(robot.constraints.delassus_matrix(q))
    assert np.allclose(found, theirs, atol=CLOSE)


def test_the_row_of_switches(linkage):
    robot, model, data, q = linkage
    zero = np.zeros(robot.nv)
    data.eq_active[:] = 0
    mujoco.mj_forward(model, data)
    a, forces, _ = robot.constraints.switched_dynamics(q, zero, zero, [0.0])
    assert np.allclose(a, data.qacc, atol=1e-8)
    assert not forces.any()
    closed, *_ = robot.constraints.switched_dynamics(q, zero, zero, [1.0])
    assert np.allclose(closed, robot.forward_dynamics(q, zero, zero))


HONOURED = {x.name: x for x in honoured.HONOURED}
JOINT = """<body name="b"><joint name="j" axis="0 1 0" range="-90 90"/>
<geom size="0.1" pos="0.2 0 0"/><site name="s"/>"""
FIXED = '<fixed name="t" KEYS><joint joint="j" coef="1"/></fixed>'
SPATIAL = '<spatial name="t" KEYS><site site="s"/><site site="w"/></spatial>'


def tendon(kind, **keys):
    return "tendon", kind.replace("KEYS", " ".join(f'{k}="{v}"' for k, v in keys.items()))


def actuator(tag, **keys):
    return "actuator", f"<{tag} " + " ".join(f'{k}="{v}"' for k, v in keys.items()) + "/>"


EXAMPLES = {
    "`motor`, `position`, `velocity`, `damper`": [
        actuator("motor", joint="j"),
        actuator("position", joint="j", kp=1),
        actuator("velocity", joint="j"),
        actuator("damper", joint="j", ctrlrange="0 1"),
    ],
    "`intvelocity`, `cylinder`, `general` with `dyntype`": [
        actuator("intvelocity", joint="j", actrange="-1 1"),
        actuator("cylinder", joint="j"),
        *(
            actuator("general", joint="j", dyntype=kind, dynprm=0.1)
            for kind in ("integrator", "filter", "filterexact")
        ),
    ],
    "`muscle`": [actuator("muscle", joint="j", lengthrange="0 1")],
    "`lengthrange`": [
        actuator("muscle", joint="j"),
        actuator("muscle", joint="j", lengthrange="-1 1"),
    ],
    "`joint`, `jointinparent`, `gear`": [
        actuator("motor", joint="j", gear=2),
        actuator("motor", jointinparent="j"),
    ],
    "`tendon` of an actuator": [tendon(FIXED), actuator("motor", tendon="t")],
    "`site`, `refsite`": [
        actuator("motor", site="s", gear="1 0 0 0 0 0"),
        actuator("motor", site="s", refsite="w", gear="1 0 0 0 0 0"),
    ],
    "`slidersite`, `cranksite`, `cranklength`": [
        actuator("motor", slidersite="w", cranksite="s", cranklength=2)
    ],
    "`ctrlrange`, `forcerange`, `actrange`": [
        actuator("general", joint="j", ctrlrange="-1 1", forcerange="-1 1"),
        actuator("general", joint="j", dyntype="integrator", actrange="-1 1"),
    ],
    "`actuatorfrcrange` of a joint": [
        ("worldbody", '<body><joint actuatorfrcrange="-1 1"/><geom size="0.1" pos="1 0 0"/></body>')
    ],
    "`range` of a ball joint": [
        ("worldbody", '<body><joint type="ball" range="0 60"/><geom size="0.1"/></body>'),
    ],
    "`springyield`, polynomial `stiffness`, `damping`": [
        ("worldbody", f'<body><joint {keys}/><geom size="0.1" pos="1 0 0"/></body>')
        for keys in ('stiffness="2" springyield="1"', 'stiffness="2 1"', 'damping="2 1"')
    ],
    "`eulerdamp` of `flag`": [("option", '<flag eulerdamp="disable"/>')],
    "`actearly`": [actuator("general", joint="j", dyntype="filter", actearly="true")],
    "`adhesion`, `body`": [actuator("adhesion", body="b", ctrlrange="0 1")],
    "`plugin`, user dynamics": [
        actuator("general", joint="j", dyntype="user", actdim=1),
    ],
    "`armature`, `damping` of an actuator": [
        actuator("motor", joint="j", armature=1),
        actuator("motor", joint="j", damping=1),
    ],
    "`fixed` tendon": [tendon(FIXED)],
    "`spatial`: `site`, `pulley`, `geom`, `sidesite`": [
        tendon(SPATIAL),
        (
            "tendon",
            '<spatial><site site="s"/><pulley divisor="2"/><site site="s"/>'
            '<geom geom="g" sidesite="w"/><site site="w"/></spatial>',
        ),
    ],
    "`stiffness`, `springlength`, `damping`": [
        tendon(SPATIAL, stiffness=1, springlength="0.1 0.2", damping=1)
    ],
    "`frictionloss` of a tendon": [tendon(FIXED, frictionloss=1)],
    "`armature` of a fixed tendon": [tendon(FIXED, armature=1)],
    "`actuatorfrcrange` of a tendon": [tendon(FIXED, actuatorfrcrange="-1 1")],
    "`armature` of a spatial tendon": [tendon(SPATIAL, armature=1)],
    "`range` of a tendon": [tendon(SPATIAL, range="0 1")],
    "sensors of sites and frames": [
        ("sensor", f'<{kind} site="s"/>')
        for kind in ("accelerometer", "gyro", "velocimeter", "force", "torque", "magnetometer")
    ],
    "sensors of joints, tendons, actuators": [("sensor", '<jointpos joint="j"/>')],
    "sensors of subtrees and energy": [("sensor", '<subtreecom body="b"/><e_kinetic/>')],
    "`touch`": [("sensor", '<touch site="s"/>')],
    "`rangefinder` of a site": [("sensor", '<rangefinder site="s"/>')],
    "`jointlimitpos`, `tendonlimitfrc` and the like": [
        ("sensor", f'<jointlimit{kind} joint="j"/>') for kind in ("pos", "vel", "frc")
    ],
    "`contact`: all `data` and `reduce`": [
        ("sensor", f'<contact geom1="g" data="found force dist" reduce="{how}"/>')
        for how in ("none", "mindist", "maxforce", "netforce")
    ],
    "`rangefinder` of a camera, `plugin`, `user`": [
        ("sensor", '<user dim="1"/>'),
    ],
    "`distance`, `normal`, `fromto` of geoms": [
        ("sensor", f'<{kind} body1="b" geom2="g" cutoff="1"/>')
        for kind in ("distance", "normal", "fromto")
    ],
    "`insidesite`, `camprojection`, `clock`": [
        ("sensor", '<insidesite site="w" objtype="site" objname="s"/>'),
        ("worldbody", '<camera name="c"/></worldbody><sensor><camprojection site="s" camera="c"/>'),
        ("sensor", "<clock/>"),
    ],
    "`key`: `qpos`, `qvel`, `act`, `ctrl`": [("keyframe", '<key qpos="1" qvel="2"/>')],
    "`ref` of a joint, `pos` of a free body": [
        ("worldbody", '<body pos="1 0 0"><joint ref="20"/><geom size="0.1" pos="1 0 0"/></body>'),
        ("worldbody", '<body pos="1 0 0"><freejoint/><geom size="0.1"/></body>'),
    ],
    "`numeric` of `custom`": [("custom", '<numeric name="n" data="1"/>')],
    "`gravcomp` of a body": [
        ("worldbody", '<body gravcomp="1"><joint/><geom size="0.1" pos="1 0 0"/></body>')
    ],
    "`density`, `viscosity`, `wind`": [("option density='1' viscosity='1' wind='1 0 0'", "")],
    "`fluidshape`, `fluidcoef` of a geom": [
        (
            "worldbody",
            '<body><joint/><geom size="0.1" pos="1 0 0" fluidshape="ellipsoid"/></body>',
        ),
    ],
    "`actuatorgravcomp` of a joint": [
        (
            "worldbody",
            '<body gravcomp="1"><joint actuatorgravcomp="true"/><geom size="0.1" pos="1 0 0"/>'
            "</body>",
        )
    ],
}
"""What each row of the table stands for: sections of MJCF and what is in them."""


def test_the_page_has_the_table_of_what_is_honoured():
    assert table("MJCF", honoured.HONOURED) in PAGE.read_text()
    assert set(EXAMPLES) == set(HONOURED)


@pytest.mark.parametrize("row", EXAMPLES)
def test_what_is_honoured_is_read_without_a_remark_and_the_rest_with_one(row):
    world = f'{JOINT}</body><site name="w" pos="0 0 1"/><geom name="g" size="0.1" pos="1 0 1"/>'
    examples = EXAMPLES[row]
    if row == "`tendon` of an actuator":  # which needs one
        examples = [("tendon", "</tendon>".join([examples[0][1], f"<actuator>{examples[1][1]}"]))]
    for section, inside in examples:
        opened = [x for x in ("actuator", "sensor") if f"<{x}>" in inside]
        end = opened[0] if opened else section.split()[0]
        more = f"<{section}>{inside}</{end}>"
        text = f"<mujoco><worldbody>{world}</worldbody>{more}</mujoco>"
        found = [x for x in check_file(text) if x.severity != "error"]
        assert bool(found) != HONOURED[row].honoured, (inside, found)
