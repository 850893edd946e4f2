"""Colliders, pairs and options that are read from MJCF, against MuJoCo's own contacts."""

from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.contact import touches
from kinetree.spatial import Rotation, Transform, Vector3

mujoco = pytest.importorskip("mujoco")
gymnasium = pytest.importorskip("gymnasium")
ASSETS = Path(gymnasium.__file__).parent / "envs/mujoco/assets"
pytestmark = pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
PAIRED = """
<mujoco>
  <option timestep="0.005" cone="elliptic" impratio="3" integrator="implicitfast">
    <flag filterparent="{parent}"/></option>
  <default><joint solreflimit="0.05 0.9" solimplimit="0.8 0.9 0.01 0.4 3" margin="0.1"
    solreffriction="0.03 1.1" frictionloss="0.1"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" margin="0.01" solref="0.05 1" friction="0.3"/>
    <geom name="table" type="box" size="1 1 0.1" contype="2" conaffinity="4"/>
    <body name="a" pos="0 0 0.4"><freejoint/>
      <geom name="ball" size="0.2" priority="1" condim="4" friction="0.9 0.1 0.2"/>
      <geom name="pad" type="box" size="0.1 0.1 0.2" solmix="3" condim="6" gap="0.02"/>
      <body name="b" pos="0.3 0 0"><joint name="hinge" axis="0 1 0" range="-1 1"/>
        <geom name="rod" type="capsule" size="0.1 0.2" margin="0.02" solref="-100 -10"/>
        <body name="c" pos="0.3 0 0"><geom name="tip" size="0.15" contype="3"/>
          <body name="d" pos="0.2 0 0"><joint name="last" axis="0 0 1"/>
            <geom name="end" size="0.15" contype="0" conaffinity="0"/>
            <geom name="hand" type="capsule" size="0.1 0.1"/></body></body></body></body>
    <body name="e" pos="0.1 0 0.3"><freejoint/>
      <geom name="other" size="0.3" conaffinity="2"/></body>
  </worldbody>
  <contact><exclude body1="b" body2="e"/>
    <pair geom1="end" geom2="floor" condim="3" friction="1 2 3 4 5" solreffriction="0.1 0.2"/>
    <pair geom1="rod" geom2="hand" margin="0.03" gap="0.01" solref="0.1 1"/>
  </contact>
</mujoco>"""


def frame_pose(data, geom):
    """Of a geom in MuJoCo."""
    R = data.geom_xmat[geom].reshape(3, 3)
    return Transform(Rotation(*(Vector3(*row) for row in R)), Vector3(*data.geom_xpos[geom]))


def read(source):
    """A robot and MuJoCo's model of it."""
    if isinstance(source, Path):
        return kt.load(source), mujoco.MjModel.from_xml_path(str(source))
    return kt.load(source), mujoco.MjModel.from_xml_string(source)


def check_contacts(source, states, reach):
    """Every contact of MuJoCo's is a touch of ours, with the same parameters, and vice versa."""
    robot, m = read(source)
    shapes = {c.name: c.shape for c in robot.model.colliders}
    d, rng, count = mujoco.MjData(m), np.random.default_rng(0), 0
    geoms = {m.geom(i).name: i for i in range(m.ngeom)}
    for _ in range(states):
        mujoco.mj_resetData(m, d)
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv) * reach, 1.0)
        mujoco.mj_fwdPosition(m, d)
        expected = [
            (m.geom(c.geom[0]).name, m.geom(c.geom[1]).name, c) for c in d.contact if not c.exclude
        ]
        ours = []
        for pair in robot.model.contacts:
            X1, X2 = (frame_pose(d, geoms[name]) for name in (pair.first, pair.second))
            found = touches(shapes[pair.first], X1, shapes[pair.second], X2, pair.margin)
            ours += [(pair, t) for t in found if t.distance < pair.margin]
        assert sorted(p.name for p, _ in ours) == sorted(f"{a}/{b}" for a, b, _ in expected)
        for first, second, c in expected:
            pair, touch = min(
                ((p, t) for p, t in ours if (p.first, p.second) == (first, second)),
                key=lambda x: np.abs(np.array([*x[1].point]) - c.pos).max(),
            )
            np.testing.assert_allclose(touch.distance, c.dist, atol=1e-9)
            np.testing.assert_allclose([*touch.point], c.pos, atol=1e-9)
            np.testing.assert_allclose([*touch.normal], c.frame[:3], atol=1e-9)
            assert pair.condim == c.dim
            for name in ("friction", "solref", "solimp", "solreffriction"):
                np.testing.assert_allclose(getattr(pair, name), getattr(c, name), rtol=1e-15)
            assert pair.margin == pytest.approx(c.includemargin)
        count += len(expected)
    return count


@pytest.mark.parametrize("name", ["humanoid", "ant", "hopper", "half_cheetah", "walker2d"])
def test_contacts_of_gymnasiums_robots_are_mujocos(name):
    assert check_contacts(ASSETS / f"{name}.xml", 40, 0.5) > 20


@pytest.mark.parametrize("parent", ["enable", "disable"])
def test_pairs_exclusions_masks_and_mixed_parameters_are_mujocos(parent):
    assert check_contacts(PAIRED.format(parent=parent), 100, 0.3) > 300


def test_options_and_softness_are_kept():
    robot = kt.load(PAIRED.format(parent="enable"))
    options = robot.model.contact_options
    assert (options.timestep, options.cone, options.impratio) == (0.005, "elliptic", 3.0)
    assert options.integrator == "implicitfast"
    hinge = next(b for b in robot.model.bodies if b.joint_name == "hinge").softness
    assert hinge.limit.solref == (0.05, 0.9)
    assert hinge.limit.solimp == (0.8, 0.9, 0.01, 0.4, 3.0)
    assert hinge.limit.margin == 0.1
    assert hinge.friction.solref == (0.03, 1.1)
    locked = robot.edit.lock({"last": 0.0}).model
    assert locked.contact_options == options
    assert next(b for b in locked.bodies if b.joint_name == "hinge").softness == hinge


def test_a_soft_equality_keeps_its_softness():
    text = PAIRED.format(parent="enable").replace(
        "<contact>",
        '<equality><connect body1="c" body2="e" anchor="0 0 0" solref="0.1 0.7"/></equality>'
        "<contact>",
    )
    (loop,) = kt.load(text).model.constraints
    assert loop.softness.solref == (0.1, 0.7)
    assert loop.renamed("x").softness == loop.softness


def test_contacts_are_left_out_when_asked_or_when_the_file_says_so():
    text = PAIRED.format(parent="enable")
    assert kt.load(text, contact=False).model.contacts == ()
    off = text.replace('<flag filterparent="enable"/>', '<flag contact="disable"/>')
    robot = kt.load(off)
    assert robot.model.contacts == ()
    assert robot.model.colliders
