"""`kinetree simulate` and `transition`: motions of a robot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from kinetree.cli.choices import CONTROLLERS
from kinetree.cli.command import (
    Floating,
    JsonOption,
    RobotArgument,
    command,
    complete_robot,
    echo_json,
    load_robot,
    one_of,
)


@command()
def simulate(
    robot: RobotArgument,
    controller: Annotated[
        str,
        typer.Option(
            help=f"What gives the joint forces: {', '.join(CONTROLLERS)}.",
            autocompletion=one_of(CONTROLLERS),
        ),
    ] = "none",
    target: Annotated[
        str, typer.Option(help="The controller's target: nq numbers with commas between them.")
    ] = "",
    start: Annotated[str, typer.Option(help="Where it starts; neutral by default.")] = "",
    time: Annotated[float, typer.Option(help="For how long, s.")] = 5.0,
    dt: Annotated[float, typer.Option(help="The step, s.")] = 1e-3,
    method: Annotated[
        str, typer.Option(help="The integrator: euler, midpoint, rk4, variational, ...")
    ] = "auto",
    record: Annotated[
        str, typer.Option(help="What else to keep, with commas between: energy, momentum, ...")
    ] = "",
    stops: Annotated[
        str, typer.Option(help="What happens at joint limits: nothing, 'spring' or 'clamp'.")
    ] = "",
    output: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option("--output", "-o", help="Write the motion to this .npz or .parquet file."),
    ] = None,
    plot: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option(help="Draw the motion into this file."),
    ] = None,
    floating: Floating = False,
    json: JsonOption = False,
) -> None:
    """Simulate a robot under a controller.

    Example: kinetree simulate arm --controller pd --time 2 -o motion.npz --plot motion.png
    """
    from kinetree.cli.simulate import report, run, summary, write

    found = run(
        load_robot(robot, floating), controller, target, start, time, dt, method, record, stops
    )
    files = write(found, output, plot)
    if json:
        echo_json(summary(found, files))
    else:
        typer.echo("\n".join(report(found, files)))


@command()
def transition(
    first: Annotated[Path, typer.Argument(help="The motion to leave: .bvh or .npz.")],
    second: Annotated[Path, typer.Argument(help="The motion to enter.")],
    leave: Annotated[float, typer.Option("--from", help="When the first is left, s.")],
    enter: Annotated[float, typer.Option("--to", help="When the second is entered, s.")],
    duration: Annotated[float, typer.Option(help="Of the transition, s.")] = 0.5,
    output: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option("--output", "-o", help="Write the whole motion to this .bvh or .npz file."),
    ] = None,
    plot: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option(help="Draw forces and costs into this file."),
    ] = None,
    mass: Annotated[float, typer.Option(help="Of a BVH file's figure, kg.")] = 70.0,
    root: Annotated[
        str, typer.Option(help="The weight of a free root's force, or 'passive' for no force.")
    ] = "0",
    hold: Annotated[str, typer.Option(help="Frames that stay, with commas between.")] = "",
    robot: Annotated[
        str,
        typer.Option(
            help="Of NPZ files: a robot file or a built-in one.", autocompletion=complete_robot
        ),
    ] = "",
    floating: Floating = False,
    coefficients: Annotated[int, typer.Option(help="Of each coordinate's spline.")] = 12,
    json: JsonOption = False,
) -> None:
    """Make a transition of least effort between two recorded motions.

    Example: kinetree transition walk.bvh run.bvh --from 1.2 --to 0.4 -o both.bvh
    """
    from kinetree.cli.transition import report, run, summary, write

    figure = load_robot(robot, floating) if robot else None
    whole, found, capture = run(
        first,
        second,
        leave,
        enter,
        duration,
        mass,
        root,
        hold,
        figure,
        coefficients=coefficients,
        method="gauss-newton",
        tolerance=1e-5,
    )
    files = write(whole, found, capture, output, plot)
    if json:
        echo_json(summary(found, files))
    else:
        typer.echo("\n".join(report(found, files)))
