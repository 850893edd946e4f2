"""Pictures without a browser."""

import numpy as np
import pytest

pytest.importorskip("PIL")
pytest.importorskip("imageio")

import imageio.v3

import kinetree as kt
from kinetree.errors import KinetreeError
from kinetree.geometry import Collider, ContactPair, Plane, Sphere


def test_a_picture_has_the_robots_colours_in_front_of_white():
    a = kt.Assembly("r")
    a.add("l", "base", kt.joints.Revolute("z"), mass=1.0, inertia=[1.0, 1.0, 1.0])
    a.add_shape("l", "box", (1.0, 1.0, 1.0), color=(1.0, 0.0, 0.0))
    picture = kt.plot.picture(a.robot(), width=120, height=80)
    assert picture.shape == (80, 120, 3)
    assert (picture[0, 0] == 255).all()
    red, green, blue = (int(x) for x in picture[40, 60])
    assert red > 100
    assert green == blue == 0


def test_what_is_near_hides_what_is_behind():
    a = kt.Assembly("r")
    a.add("l", "base", kt.joints.Revolute("z"), mass=1.0, inertia=[1.0, 1.0, 1.0])
    ahead = np.array([0.72, -0.58, 0.38])  # towards the camera
    a.add_shape("l", "sphere", (0.3,), 0.5 * ahead, color=(0.0, 0.0, 1.0))
    a.add_shape("l", "sphere", (0.3,), -0.5 * ahead, color=(1.0, 0.0, 0.0))
    picture = kt.plot.picture(a.robot(), width=90, height=90)
    middle = picture[45, 45]
    assert middle[2] > 100 > middle[0]


def test_contact_forces_are_arrows_in_front_of_the_robot():
    a = kt.Assembly("r")
    a.add("l", "base", kt.joints.Floating(), mass=1.0, inertia=[1.0, 1.0, 1.0])
    a.add_shape("l", "sphere", (0.1,), color=(0.0, 0.0, 1.0))
    robot = a.robot().collide(
        Collider("floor", None, Plane()),
        Collider("skin", "l", Sphere(0.1)),
        ContactPair("floor", "skin"),
    )
    q = np.array([0.0, 0.0, 0.0999, 0.0, 0.0, 0.0, 1.0])
    red = [
        kt.plot.picture(robot, q, contact_forces=[[0.0, 0.0, f]])[..., 0].astype(int).sum()
        for f in (2.0, 4.0)
    ]
    plain = kt.plot.picture(robot, q)
    assert (plain[..., 0].astype(int).sum() < np.array(red)).all()
    assert red[0] < red[1]
    strong = kt.plot.picture(robot, q, contact_forces=[[30.0, 0.0, 500.0]])
    assert (strong[:2] == plain[:2]).all()  # the head of the arrow is in the picture
    assert strong[..., 0].astype(int).sum() > red[0]
    with pytest.raises(KinetreeError, match=r"contact_forces"):
        kt.plot.picture(robot, q, contact_forces=[[0.0, 0.0]])


def test_a_motion_becomes_a_gif(tmp_path):
    robot = kt.robots.double_pendulum()
    run = robot.simulate([1.0, 0.5], [0.0, 0.0], time=0.5, dt=0.01)
    kt.plot.video(robot, run, tmp_path / "a.gif", fps=20, width=80, height=60)
    pictures = imageio.v3.imread(tmp_path / "a.gif", index=None)
    assert pictures.shape[1:3] == (60, 80)
    assert (pictures[0] != pictures[-1]).any()
    with pytest.raises(KinetreeError, match=r".gif or .mp4"):
        kt.plot.video(robot, run, tmp_path / "a.avi")
