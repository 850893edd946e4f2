"""Formulas that may solve a loop: whoever asks compares them with solutions and takes one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kinetree.model.constraints import FrameConstraint, LoopJoint, Rod
from kinetree.model.embedding import FrameLoop, Path, Stage
from kinetree.model.embedding.start import Fit
from kinetree.model.embedding.triangle import Crank, Slider, Triangle
from kinetree.model.joints import Joint
from kinetree.model.plane import plane_axes
from kinetree.spatial import Vector3


def formulas(loop: FrameLoop, joints: Sequence[Joint], start: Fit, known: int) -> Iterator[Stage]:
    """Stages that solve a loop if its geometry is what they take it for.

    Arguments:
        loop: the loop.
        joints: its unknown joints, in the order of their coordinates.
        start: values near the results.
        known: how many coordinates come before the unknown ones.

    Returns:
        Candidates, with either choice of side.
    """
    paths = (loop.to_frame, loop.to_base)
    for own, other in (paths, paths[::-1]):
        if not own.links or own.links[-1].start != known or not _is_last(own, known):
            continue
        if isinstance(loop.constraint, Rod) and len(joints) == 1 and _is_known(other, known):
            yield from _rod(own, other, loop.constraint, start)
        elif _is_hinge(loop.constraint) and len(joints) == 2 and _is_last(other, known):
            yield from _pin(own, other, start)


def _rod(own: Path, other: Path, rod: Rod, start: Fit) -> Iterator[Stage]:
    crank = _crank(own)
    if crank is not None:
        for side in (1.0, -1.0):
            yield Triangle(crank, _pivot(own), other, rod.length, True, side, None, start)


def _pin(own: Path, other: Path, start: Fit) -> Iterator[Stage]:
    crank, follower = _crank(own), _crank(other)
    for side in (1.0, -1.0):
        if crank is not None and follower is not None:
            length = follower.square**0.5
            pivots = (_pivot(own), _pivot(other))
            yield Triangle(crank, *pivots, length, False, side, follower, start)
        for first, second, slider_first in ((own, other, False), (other, own, True)):
            turning, line = _crank(first), _axis(second.links[-1].joint, "prismatic")
            if turning is not None and line is not None:
                point = second.end.translation
                paths = (_pivot(first), _pivot(second))
                yield Slider(turning, *paths, line, point, side, start, slider_first)


def _crank(path: Path) -> Crank | None:
    """The end of a path as a point that turns with its last joint."""
    axis = _axis(path.links[-1].joint, "revolute")
    if axis is None:
        return None
    first, second = plane_axes(axis)
    crank = Crank(first, second, axis, path.end.translation)
    return crank if crank.square > 0.0 else None


def _pivot(path: Path) -> Path:
    """The path to the frame of its last joint."""
    return replace(path, links=path.links[:-1], end=path.links[-1].placement)


def _is_hinge(constraint: FrameConstraint) -> bool:
    joint = constraint.joint if isinstance(constraint, LoopJoint) else None
    return joint is not None and _axis(joint, "revolute") is not None


def _axis(joint: Joint, kind: str) -> Vector3 | None:
    """The axis of a joint, if URDF has a type of one axis for it."""
    element = joint.urdf()
    return element.axis if element is not None and element.type == kind else None


def _is_last(path: Path, known: int) -> bool:
    """Whether the last joint of a path is unknown, and no other of it."""
    return (
        bool(path.links)
        and path.links[-1].start >= known
        and all(link.start < known for link in path.links[:-1])
    )


def _is_known(path: Path, known: int) -> bool:
    return all(link.start < known for link in path.links)
