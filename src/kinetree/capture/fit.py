"""The human figure fitted to a recorded skeleton: its lengths from the bones, its motion, too.

A skeleton's rest pose is rarely the figure's, whose arms hang. Each segment is turned, once and
for all, so that its direction at rest is that of its bone; from then on it turns with the bone.
What the figure's elbows and knees cannot follow is left to least squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kinetree.capture.bvh import MotionCapture
from kinetree.capture.segments import SEGMENTS, SIDES, TRUNK, recognised
from kinetree.errors import KinetreeError, among, unknown
from kinetree.robot import Robot
from kinetree.robots.human import MEAN, Proportions, human
from kinetree.typing import Array

DOWN, UP = (0.0, 0.0, -1.0), (0.0, 0.0, 1.0)


class Fit(NamedTuple):
    """A human figure that moves as a recorded skeleton does.

    Attributes:
        robot: the figure, with the lengths of the skeleton.
        q: its configurations, (frames, nq).
        residual: how far each joint is from where the skeleton has it, (frames, bodies, 2), m and
            rad.
        joints: maps each segment to the joint of the skeleton that it follows.
    """

    robot: Robot
    q: Array
    residual: Array
    joints: dict[str, str]


def fit_human(
    capture: MotionCapture, *, joints: Mapping[str, str] | None = None, mass: float = MEAN.mass
) -> Fit:
    """Fit the human figure to a recorded motion.

    Arguments:
        capture: from `read_bvh`, with a floating base.
        joints: maps a segment of the figure, such as "left_thigh", to the joint of the skeleton at
            which it begins. Segments that are not given are recognised by their names.
        mass: of the figure, kg.

    Returns:
        The figure, its configurations, and how far they are from the skeleton.
    """
    matched = _recognised(capture.robot, joints or {})
    skeleton = _Skeleton(capture.robot, matched)
    figure = human("floating", _proportions(skeleton, mass))
    x, R = _targets(capture, skeleton, figure)
    q, residual = figure.cartesian.configuration(x, R, at="origin", method="least-squares")
    return Fit(figure, figure.charts.continuous(q), residual, matched)


def _recognised(robot: Robot, given: Mapping[str, str]) -> dict[str, str]:
    """The skeleton's joint of every segment."""
    for segment, joint in given.items():
        if not among(segment, SEGMENTS):
            raise unknown("segment", segment, SEGMENTS, "the human figure")
        if not among(joint, robot.bodies):
            raise unknown("joint", joint, robot.bodies, f"skeleton {robot.name!r}")
    matched = recognised(robot.bodies, given)
    for segment in SEGMENTS:
        if segment not in matched:
            raise KinetreeError(
                f"skeleton {robot.name!r} has no joint recognised as the figure's {segment!r}; "
                f"name it with joints={{{segment!r}: ...}}. Its joints are "
                f"{', '.join(robot.bodies[:8])}..."
            )
    return matched


class _Skeleton:
    """The rest pose of a recorded skeleton, upright."""

    def __init__(self, robot: Robot, joints: Mapping[str, str]) -> None:
        self.robot, self.joints = robot, joints
        poses = robot.poses(robot.neutral())
        self.at = {name: poses[k, :3, 3] for k, name in enumerate(robot.bodies)}
        self.parents = {
            body.name: robot.bodies[body.parent] if body.parent >= 0 else ""
            for body in robot.model.bodies
        }
        self.frames = robot.model.frames

    def place(self, segment: str) -> Array:
        return self.at[self.joints[segment]]

    def way(self, start: str, end: str) -> Array:
        """From the beginning of one segment to that of another."""
        return self.place(end) - self.place(start)

    def length(self, start: str, end: str) -> float:
        """The mean over both sides."""
        ways = [self.way(f"{side}_{start}", f"{side}_{end}") for side in SIDES]
        return float(np.mean([np.linalg.norm(way) for way in ways]))

    def breadth(self, part: str) -> float:
        return float(np.linalg.norm(self.way(f"left_{part}", f"right_{part}"))) / 2.0

    def facing(self) -> Array:
        """The figure's axes (ahead, left, up) in the skeleton's rest pose, as columns.

        Left is from hip to hip, or from shoulder to shoulder where both hips are at one place.
        """
        across = [self.way(f"right_{x}", f"left_{x}") for x in ("thigh", "upper_arm")]
        ways = [way * (1.0, 1.0, 0.0) for way in across]
        left = next((way for way in ways if np.linalg.norm(way) > 0.0), np.array([0.0, 1.0, 0.0]))
        left = left / np.linalg.norm(left)
        return np.stack([np.cross(left, UP), left, np.array(UP)], axis=1)


def _proportions(skeleton: _Skeleton, mass: float) -> Proportions:
    """The figure's lengths: limbs as the bones have them, the rest in proportion to the legs."""
    legs = {"thigh": skeleton.length("thigh", "shank"), "shank": skeleton.length("shank", "foot")}
    ratio = sum(legs.values()) / (MEAN.thigh.length + MEAN.shank.length)
    lengths = {
        **legs,
        "upper_arm": skeleton.length("upper_arm", "forearm"),
        "forearm": skeleton.length("forearm", "hand"),
        "lower_trunk": float(np.linalg.norm(skeleton.way("lower_trunk", "middle_trunk"))),
        "middle_trunk": float(np.linalg.norm(skeleton.way("middle_trunk", "upper_trunk"))),
        "upper_trunk": float(np.linalg.norm(skeleton.way("upper_trunk", "head"))),
    }
    for name in ("head", "hand", "foot"):
        lengths[name] = getattr(MEAN, name).length * ratio
    usable = {name: max(x, 0.02) for name, x in lengths.items()}
    sizes = Proportions(mass, skeleton.breadth("upper_arm"), skeleton.breadth("thigh"))
    return sizes.with_lengths(**usable)


def _targets(capture: MotionCapture, skeleton: _Skeleton, figure: Robot) -> tuple[Array, Array]:
    """Where each segment of the figure should be: the origin of its bone, turned with the bone."""
    poses = capture.robot.poses(capture.q)
    facing = skeleton.facing()
    x = np.empty((len(poses), len(figure.bodies), 3))
    R = np.empty((len(poses), len(figure.bodies), 3, 3))
    for k, segment in enumerate(figure.bodies):
        bone = poses[:, capture.robot.bodies.index(skeleton.joints[segment])]
        x[:, k] = bone[:, :3, 3]
        R[:, k] = bone[:, :3, :3] @ _aligned(skeleton, segment, facing)
    return x, R


def orientations(robot: Robot, joints: Mapping[str, str]) -> dict[str, Array]:
    """The orientation of each segment of the figure in the rest pose of a skeleton, (3, 3).

    Arguments:
        robot: the skeleton.
        joints: where its segments begin.
    """
    skeleton = _Skeleton(robot, joints)
    facing = skeleton.facing()
    return {segment: _aligned(skeleton, segment, facing) for segment in joints}


def _aligned(skeleton: _Skeleton, segment: str, facing: Array) -> Array:
    """A segment's orientation in the rest pose of the skeleton."""
    side, _, part = segment.partition("_")
    after = {"upper_arm": "forearm", "forearm": "hand", "thigh": "shank", "shank": "foot"}
    if segment in TRUNK or part not in after:
        inner = {"hand": "forearm", "foot": ""}.get(part, "")
        return _aligned(skeleton, f"{side}_{inner}", facing) if inner else facing
    way = skeleton.way(segment, f"{side}_{after[part]}")
    return _shortest_turn(facing @ np.array(DOWN), way) @ facing


def _shortest_turn(start: Array, end: Sequence[float] | Array) -> Array:
    """The rotation by the smallest angle from one direction to another, if that has a length."""
    if not np.any(end):
        return np.eye(3)
    a, b = start / np.linalg.norm(start), np.asarray(end) / np.linalg.norm(end)
    axis, cosine = np.cross(a, b), float(a @ b)
    if cosine < -0.999999:  # any axis across will do
        across = np.cross(a, np.eye(3)[int(np.abs(a).argmin())])
        u = across / np.linalg.norm(across)
        return 2.0 * np.outer(u, u) - np.eye(3)
    W = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + W + W @ W / (1.0 + cosine)
