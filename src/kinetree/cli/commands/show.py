"""`kinetree show`: the viewer in the browser."""

from __future__ import annotations

import contextlib
import webbrowser
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

import kinetree
from kinetree.cli.command import (
    Argument,
    Floating,
    Package,
    RobotArgument,
    Units,
    Up,
    command,
    conventions,
    load_robot,
)


@command()
def show(
    robot: RobotArgument,
    trajectory: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option(help="Play the motion of this .npz, .parquet or .bvh file."),
    ] = None,
    folder: Annotated[
        Optional[Path],  # noqa: UP045 - as above
        typer.Option(help="Folder to search for meshes, instead of the robot file's."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 for all interfaces.")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(help="The port; if it is taken, the next free one is used.", min=1, max=65535),
    ] = 8080,
    allow: Annotated[
        Optional[list[str]],  # noqa: UP045 - as above
        typer.Option(help="Another host name under which the page may be opened."),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    floating: Floating = None,
    package: Package = None,
    argument: Argument = None,
    units: Units = None,
    up: Up = None,
) -> None:
    """Show a robot in the browser: move its joints, play a motion, simulate.

    A BVH file plays by itself, on its own skeleton.

    Example: kinetree show arm --trajectory motion.npz
    """
    from kinetree.show.view.viewer import Viewer

    motion: Any = trajectory
    if trajectory is not None and trajectory.suffix.lower() == ".bvh":
        motion = kinetree.read_bvh(trajectory, **conventions(units, up))
    if robot.lower().endswith(".bvh"):
        recorded = kinetree.read_bvh(robot, **conventions(units, up))
        loaded, motion = recorded.robot, recorded if motion is None else motion
    else:
        loaded = load_robot(robot, floating, package, argument)
    viewer = Viewer(loaded, motion, folder, host=host, port=port, allow=allow or ())
    typer.echo(f"{viewer.url} (press Ctrl-C to stop)")
    if browser:
        webbrowser.open(viewer.url)
    with contextlib.suppress(KeyboardInterrupt):
        viewer.wait()
    viewer.close()
