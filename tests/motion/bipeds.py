"""A small biped with twelve joints and box-shaped feet, and poses in which it stands."""

import numpy as np

import kinetree as kt
from kinetree.robots.building import box


def biped():
    """A torso on two legs of six hinges, 34 kg."""
    figure = kt.Assembly("biped", "torso", box(20.0, 0.2, 0.3, 0.4))
    soles = []
    for side, y in (("left", 1), ("right", -1)):
        yaw, roll, thigh = f"{side}_yaw", f"{side}_roll", f"{side}_thigh"
        shank, ankle, foot = f"{side}_shank", f"{side}_ankle", f"{side}_foot"
        hinge, small = kt.joints.Revolute, box(0.5, 0.05, 0.05, 0.05)
        figure.add(yaw, "torso", hinge("z"), (0.0, 0.1 * y, -0.2), small)
        figure.add(roll, yaw, hinge("x"), (0.0, 0.0, 0.0), small)
        figure.add(thigh, roll, hinge("y"), (0.0, 0.0, 0.0), box(3.0, 0.1, 0.1, 0.3))
        figure.add(shank, thigh, hinge("y"), (0.0, 0.0, -0.35), box(2.0, 0.08, 0.08, 0.3))
        figure.add(ankle, shank, hinge("y"), (0.0, 0.0, -0.35), small)
        figure.add(foot, ankle, hinge("x"), (0.0, 0.0, 0.0), box(0.8, 0.2, 0.1, 0.05))
        half = kt.geometry.Box((0.1, 0.05, 0.02))
        soles.append(kt.geometry.Collider(f"{side}_sole", foot, half, (0.03, 0.0, -0.03)))
    return figure.robot("floating").collide(*soles)


def standing(robot, bend=0.3, lean=0.0, side=0.0):
    """Both feet flat on the ground, the left one where it always is."""
    turn = np.zeros(robot.nv)
    parts = {"thigh": lean - bend, "shank": 2.0 * bend, "ankle": -bend - lean}
    parts |= {"roll": side, "foot": -side}
    for i, name in enumerate(robot.labels.v):
        for part, angle in parts.items():
            if part in name:
                turn[i] = angle
    q = robot.integrate(robot.neutral(), turn)
    q[:3] -= robot.pose(q, "left_foot")[:3, 3] - np.array([0.0, 0.1, 0.05])
    return q
