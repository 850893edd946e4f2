"""Loading a robot: a file in, a `Robot` out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from kinetree.model.formats.read import load_model
from kinetree.robot import Robot
from kinetree.typing import Base, Chart


def load(
    source: str | os.PathLike[str],
    base: Base = "fixed",
    joints: Sequence[str] | None = None,
    locked: Mapping[str, float | Sequence[float]] | None = None,
    mimic: bool = True,
    chart: Chart = "quaternion",
    folder: str | os.PathLike[str] | None = None,
    gravity: Sequence[float] | None = None,
    mount: Any = None,
) -> Robot:
    """Load a robot from a URDF or MJCF file, or the skeleton of a BVH file.

    The format is detected from the content.

    Implausible numbers, and elements that are left out, are reported in an `errors.ModelWarning`.

    Arguments:
        source: the path of the file, or its text (a string that starts with '<').
        base: "fixed" puts the root link on the world; "floating" lets it move freely, with
            q = (x y z, qx qy qz qw) and v = (linear, angular) in its own frame in front.
        joints: the moving joints in the order of their coordinates. By default depth first,
            children in the alphabetical order of their joints' names.
        locked: maps a joint's name to the value at which it is held.
        mimic: whether joints that mimic others follow them (they then have no coordinate of their
            own), or move on their own.
        chart: of free orientations: "quaternion"; "exponential", the rotation vector; or a sequence
            of Euler angles such as "zyx". In the last two v is the rate of q.
        folder: where the files that an MJCF file names may lie; by default in its own folder.
        gravity: the acceleration of free fall, m/s^2, instead of the file's or (0, 0, -9.81).
        mount: the pose of the root link of a fixed base in the world: a 4x4 matrix, a Transform, or
            a point; by default the origin.

    Returns:
        The robot, ready to be called.
    """
    return Robot(
        load_model(
            source,
            base=base,
            joints=joints,
            locked=locked,
            mimic=mimic,
            chart=chart,
            folder=folder,
            gravity=gravity,
            mount=mount,
        )
    )
