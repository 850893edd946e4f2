"""`kinetree convert`: one kind of robot file to another."""

from __future__ import annotations

from pathlib import Path

from kinetree.cli.outputs import check_outputs
from kinetree.errors import KinetreeError
from kinetree.files.atomic import complete
from kinetree.robot import Robot

ENDINGS = (".urdf", ".xml", ".mjcf")


def convert_to(robot: Robot, output: Path, overwrite: bool) -> None:
    """Write a robot to a file, complete or not at all.

    Arguments:
        output: ends with .urdf, or with .xml or .mjcf for MJCF.
        overwrite: whether an existing file may be replaced.
    """
    check_outputs([output], overwrite)
    if output.suffix.lower() not in ENDINGS:
        raise KinetreeError(f"{output}: a name that ends with .urdf, or .xml for MJCF, is expected")
    with complete(output) as temporary:
        robot.save(temporary)
