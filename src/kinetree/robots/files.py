"""Robot files that come with the package: something to load, show and edit."""

from __future__ import annotations

from pathlib import Path

from kinetree.errors import among, unknown

FOLDER = Path(__file__).parent / "descriptions"


def file(name: str) -> Path:
    """The URDF file of a built-in robot, which is installed with the package.

    Arguments:
        name: "arm", whose links are drawn by a mesh, or "quadruped".

    Returns:
        The path of the file, for `kinetree.load` and for the command `kinetree`.
    """
    files = {path.stem: path for path in sorted(FOLDER.glob("*.urdf"))}
    if not among(name, files):
        raise unknown("robot file", name, files, "kinetree")
    return files[name]
