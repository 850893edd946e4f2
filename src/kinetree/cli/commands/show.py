"""`kinetree show`: the viewer in the browser."""

from __future__ import annotations

import contextlib
import webbrowser
from pathlib import Path
from typing import Annotated, Optional

import typer

from kinetree.cli.command import Floating, RobotArgument, command, load_robot


@command()
def show(
    robot: RobotArgument,
    trajectory: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option(help="Play the motion of this .npz or .parquet file."),
    ] = None,
    folder: Annotated[
        Optional[Path],  # noqa: UP045 - as above
        typer.Option(help="Where meshes are looked for, instead of the robot file's folder."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 lets others in.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="The first free port from here on.", min=1, max=65535)
    ] = 8080,
    allow: Annotated[
        Optional[list[str]],  # noqa: UP045 - as above
        typer.Option(help="A host's name, besides this computer's, at which the page is opened."),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    floating: Floating = False,
) -> None:
    """Show a robot in the browser: move its joints, play a motion, simulate.

    Example: kinetree show panda.urdf --trajectory motion.npz
    """
    from kinetree.show.view.viewer import Viewer, load_trajectory

    loaded = load_robot(robot, floating)
    motion = None if trajectory is None else load_trajectory(trajectory)
    viewer = Viewer(loaded, motion, folder, host=host, port=port, allow=allow or ())
    typer.echo(f"{viewer.url} (Ctrl-C ends it)")
    if browser:
        webbrowser.open(viewer.url)
    with contextlib.suppress(KeyboardInterrupt):
        viewer.wait()
    viewer.close()
