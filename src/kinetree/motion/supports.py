"""Supports: frames that stand on the ground for some time, on an area of theirs.

A support has a frame, an interval of time, a coefficient of friction, and points of the frame.
While it lasts, the frame is held, so that its points are fixed in the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import KinetreeError, ShapeError, among, unknown
from kinetree.kinds import members, text
from kinetree.model.geometry import Box, Capsule, Sphere
from kinetree.motion.arrays import Array
from kinetree.robot.checks import finite_array, number
from kinetree.spatial import Transform
from kinetree.typing import ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot

LOWEST = 0.01
"""m: points of shapes that are higher above the lowest one do not touch the ground."""
FLAT = 1e-3
"""m: narrower areas count as a line or a point."""


@dataclass(frozen=True)
class Support:
    """A frame that stands on the ground for some time.

    While it stands, the frame does not move, and the ground acts on it with a force in the friction
    cone whose centre of pressure lies in the area.

    Arguments:
        frame: the name of the frame.
        first, last: the interval in which it stands, s; by default the whole transition.
        friction: the coefficient of friction; with it also the moment about the normal is bounded.
        area: the corners of the sole in the frame's axes, (n, 3), or one point, (3,), m. By default
            the lowest points of the frame's spheres, capsules and boxes; its origin if it has none.
        target: the pose in which it stands, a 4x4 matrix; by default that of the first state if the
            support begins with the transition, that of the second state if it ends with it.
        normal: of the ground, (3,).
    """

    frame: str
    first: float = 0.0
    last: float = np.inf
    friction: float = 0.8
    area: ArrayLike | None = None
    target: ArrayLike | None = None
    normal: ArrayLike = (0.0, 0.0, 1.0)


def checked_supports(given: Any) -> tuple[Support, ...]:
    """Supports with numbers for their times; an error if one has no meaning."""
    found = members("supports", given, Support, "a list of kinetree.Support")
    return tuple(map(_checked_support, found))


def _checked_support(support: Support) -> Support:
    what = f"a support of frame {support.frame!r:.60}: "
    text(f"{what}frame", support.frame)
    first = number(f"{what}first", support.first)
    endless = among(support.last, (np.inf,))
    last = np.inf if endless else number(f"{what}last", support.last)
    if not first < last:
        raise KinetreeError(f"{what}it ends at {last:g} s; it begins at {first:g} s")
    normal = finite_array(f"{what}normal", support.normal)
    if normal.shape != (3,) or not np.linalg.norm(normal) > 0.0:
        raise KinetreeError(f"{what}normal must be three numbers that are not all zero")
    area = support.area
    if area is not None:
        area = finite_array(f"{what}area", area)
        if area.shape[-1:] != (3,) or area.ndim > 2 or not area.size:
            raise ShapeError(
                f"{what}area has shape {area.shape}; a point, (3,), or corners, (n, 3), are "
                "expected, in the axes of the frame"
            )
    target = support.target
    if target is not None:
        target = finite_array(f"{what}target", target)
        if target.shape != (4, 4):
            raise ShapeError(f"{what}target has shape {target.shape}; (4, 4) is expected")
    friction = number(f"{what}friction", support.friction, above=0.0)
    normal = normal / np.linalg.norm(normal)
    return replace(
        support,
        first=first,
        last=last,
        friction=friction,
        area=area,
        target=target,
        normal=normal,
    )


def check_phases(robot: Robot, supports: Sequence[Support], duration: float) -> None:
    """Raise an error if supports are of unknown frames, outside of the motion, or overlap."""
    by_frame: dict[str, list[Support]] = {}
    for support in supports:
        if support.frame not in robot.frames:
            raise unknown("frame", support.frame, robot.frames, f"robot {robot.name!r}")
        if support.first >= duration or support.last <= 0.0:
            raise KinetreeError(
                f"frame {support.frame!r} stands from {support.first:g} to {support.last:g} s, "
                f"outside of the transition, which lasts {duration:g} s"
            )
        between = support.first > 0.0 and support.last < duration
        if between and support.target is None:
            raise KinetreeError(
                f"frame {support.frame!r} stands from {support.first:g} to {support.last:g} s, "
                "where neither end of the transition says where: give target=, its pose"
            )
        for other in by_frame.setdefault(support.frame, []):
            if max(other.first, support.first) < min(other.last, support.last):
                raise KinetreeError(
                    f"frame {support.frame!r} stands twice at "
                    f"t = {max(other.first, support.first):g} s: its supports overlap"
                )
        by_frame[support.frame].append(support)


def points_of(robot: Robot, support: Support, pose: Array) -> Array:
    """The points of a frame that touch the ground, in the world, (n, 3).

    Arguments:
        robot: whose frame it is.
        support: which frame, with which area.
        pose: in which it stands, (4, 4).
    """
    normal = np.asarray(support.normal)
    if support.area is None:
        points = _touching(robot, support.frame, pose, normal)
    else:
        points = np.atleast_2d(np.asarray(support.area)) @ pose[:3, :3].T + pose[:3, 3]
    heights = points @ normal
    return points[heights <= heights.min() + LOWEST] if support.area is None else points


def _touching(robot: Robot, frame: str, pose: Array, normal: Array) -> Array:
    """The lowest points of the shapes of a frame, in the world; its origin if it has none."""
    model = robot.model
    here = model.frame(frame)
    found = []
    for collider in model.colliders:
        if collider.frame is None:
            continue
        there = model.frame(collider.frame)
        if there.body != here.body or (there.name != frame and _own(robot, frame)):
            continue
        at = _matrix(here.placement.inverse() @ there.placement @ collider.at)
        X = pose @ at
        shape = collider.shape
        if isinstance(shape, Sphere):
            found.append(X[:3, 3] - shape.radius * normal)
        elif isinstance(shape, Capsule):
            for end in (-shape.half_length, shape.half_length):
                found.append(X[:3, :3] @ (0.0, 0.0, end) + X[:3, 3] - shape.radius * normal)
        elif isinstance(shape, Box):
            signs = np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T
            found.extend(signs * np.asarray(shape.half_edges) @ X[:3, :3].T + X[:3, 3])
    return np.array(found) if found else pose[None, :3, 3]


def _own(robot: Robot, frame: str) -> bool:
    """Whether a frame has shapes of its own."""
    return any(collider.frame == frame for collider in robot.model.colliders)


def _matrix(X: Transform) -> Array:
    matrix = np.eye(4)
    matrix[:3, :3] = [[float(x) for x in row] for row in X.rotation.rows]
    matrix[:3, 3] = [float(x) for x in X.translation]
    return matrix
