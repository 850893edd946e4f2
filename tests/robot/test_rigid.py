"""Robots without moving joints: what has an answer is given, what has none says so."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, ShapeError, SingularModelError
from kinetree.quantities import QUANTITIES

TABLE = """<robot name="table"><link name="top"><inertial><origin xyz="1 2 3"/><mass value="4"/>
<inertia ixx="1" iyy="1" izz="1"/></inertial></link><link name="foot"/>
<joint name="leg" type="fixed"><parent link="top"/><child link="foot"/><origin xyz="0 0 -1"/>
</joint></robot>"""
NONE = np.zeros(0)


@pytest.fixture(scope="module")
def table():
    return kt.load(TABLE)


BATCHES = [(), (5,), (2, 3)]


@pytest.mark.parametrize("batch", BATCHES)
def test_configurations_are_empty(table, batch):
    q = table.random(0, batch)
    assert q.shape == (*batch, 0)
    assert table.neutral().shape == (0,)
    for result in (
        table.integrate(q, NONE),
        table.difference(NONE, q),
        table.normalize(q),
        table.charts.coordinate_rates(q, NONE),
    ):
        assert result.shape == (*batch, 0)
        assert result.dtype == float


@pytest.mark.parametrize("batch", BATCHES)
def test_what_stands_still_has_poses_velocities_and_a_centre(table, batch):
    q = np.zeros((*batch, 0))
    assert table.poses(q).shape == (*batch, 0, 4, 4)
    pose = table.pose(q, "foot")
    assert pose.shape == (*batch, 4, 4)
    assert (pose[..., :3, 3] == [0.0, 0.0, -1.0]).all()
    assert (
        table.center_of_mass(q).tolist() == np.broadcast_to([1.0, 2.0, 3.0], (*batch, 3)).tolist()
    )
    assert table.velocities(q, NONE).shape == (*batch, 0, 6)
    assert (table.velocity(q, NONE, "foot") == np.zeros((*batch, 6))).all()
    assert (table.acceleration(q, NONE, NONE, "foot") == np.zeros((*batch, 6))).all()
    assert table.kinetic_energy(q, NONE).shape == batch
    assert not np.any(table.potential_energy(q))


ANSWERED = {name for name, row in QUANTITIES.items() if row.rigid}


@pytest.mark.parametrize("quantity", sorted(QUANTITIES.keys() - ANSWERED))
def test_what_belongs_to_joints_says_that_there_is_none(table, quantity):
    row = QUANTITIES[quantity]
    known = {"frame": "foot", "accelerated": (), "actuated": ()}
    settings = {name: known[name] for name in row.settings if name in known}
    with pytest.raises(ShapeError, match="robot 'table' has no moving joint, so"):
        table.kernel(quantity, **settings)


def test_types_and_out_are_as_of_any_kernel(table):
    assert table.pose(np.zeros((2, 0), np.float32), "foot").dtype == np.float32
    out = np.empty((3, 4, 4))
    assert table.pose(np.zeros((3, 0)), "foot", out=out) is out
    assert (out[:, 2, 3] == -1.0).all()
    with pytest.raises(ShapeError, match=r"out for pose has shape \(2, 4, 4\); \(3, 4, 4\) is"):
        table.pose(np.zeros((3, 0)), "foot", out=np.empty((2, 4, 4)))
    with pytest.raises(ShapeError, match=r"q has shape \(3, 1\); the last axis must be 0"):
        table.pose(np.zeros((3, 1)), "foot")
    with pytest.raises(ShapeError, match="velocity takes q, v: 1 arrays were given"):
        table.kernel("velocity", frame="foot")(NONE)
    with pytest.raises(ShapeError, match="batch shapes do not broadcast"):
        table.velocity(np.zeros((3, 0)), np.zeros((2, 0)), "foot")
    kernel = table.kernel("pose", frame="foot")
    assert (kernel.gufunc(NONE) == table.pose(NONE, "foot")).all()
    for derivative in (kernel.jvp, kernel.vjp, kernel.jacobian, kernel.hessian):
        with pytest.raises(KinetreeError, match="there is nothing to differentiate by"):
            derivative()


def test_a_robot_without_mass_has_no_centre():
    robot = kt.load("<robot name='point'><link name='a'/></robot>")
    with pytest.raises(SingularModelError, match="center_of_mass of robot 'point' is not defined"):
        robot.center_of_mass(NONE)


def test_a_robot_whose_last_joint_is_locked_is_one_of_them():
    arm = kt.robots.arm()
    q = arm.random(0)
    still = arm.edit.lock(dict(zip(arm.joints, q, strict=True)))
    assert still.nv == 0
    assert still.pose(NONE, "tool") == pytest.approx(arm.pose(q, "tool"))
