"""`kinetree simulate` and `transition`: motions of a robot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from kinetree.cli.choices import CONTROLLERS
from kinetree.cli.command import (
    Floating,
    JsonOption,
    Overwrite,
    RobotArgument,
    Units,
    Up,
    command,
    complete_robot,
    conventions,
    echo_json,
    load_robot,
    one_of,
)
from kinetree.cli.outputs import check_outputs
from kinetree.cli.progress import progress_line


@command()
def simulate(
    robot: RobotArgument,
    controller: Annotated[
        str,
        typer.Option(
            help=f"The controller: {', '.join(CONTROLLERS)}.",
            autocompletion=one_of(CONTROLLERS),
        ),
    ] = "none",
    target: Annotated[
        str, typer.Option(help="The controller's target: nq numbers, separated by commas.")
    ] = "",
    start: Annotated[
        str,
        typer.Option(
            help="Initial configuration: nq numbers, or the name of a keyframe; neutral by default."
        ),
    ] = "",
    time: Annotated[float, typer.Option(help="Simulated time, s.")] = 5.0,
    dt: Annotated[float, typer.Option(help="Time step, s.")] = 1e-3,
    method: Annotated[
        str,
        typer.Option(
            help="The integrator: euler, implicit-springs, midpoint, rk4, variational, ... By "
            "default euler; implicit-springs with --stops spring."
        ),
    ] = "auto",
    record: Annotated[
        str, typer.Option(help="More quantities to record, separated by commas: energy, ...")
    ] = "",
    stops: Annotated[str, typer.Option(help="Joint limits: 'spring', 'clamp' or 'none'.")] = "none",
    ground: Annotated[
        bool, typer.Option("--ground", help="Put level ground under the robot.")
    ] = False,
    output: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option("--output", "-o", help="Write the motion to this .npz or .parquet file."),
    ] = None,
    plot: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option(help="Draw the motion into this file."),
    ] = None,
    floating: Floating = None,
    overwrite: Overwrite = False,
    json: JsonOption = False,
) -> None:
    """Simulate a robot with a controller.

    Example: kinetree simulate arm --start 0.3,0.3,0,0.3,0,0.3,0 --stops spring -o fall.npz
    """
    from kinetree.cli.simulate import report, run, summary, write
    from kinetree.simulate.result import checked_file

    check_outputs([output, plot], overwrite, picture=plot)
    if output is not None:
        checked_file(output)
    moved = load_robot(robot, floating)
    found = run(moved, controller, target, start, time, dt, method, record, stops, ground)
    files = write(moved, found, output, plot)
    if json:
        echo_json(summary(found, files))
    else:
        typer.echo("\n".join(report(moved, found, stops, files)))


LeaveOption = Annotated[
    Optional[float],  # noqa: UP045 - typer reads the annotation on Python 3.10
    typer.Option("--from", help="Time at which to leave the first motion, s. Default: its end."),
]
EnterOption = Annotated[
    Optional[float],  # noqa: UP045 - typer reads the annotation on Python 3.10
    typer.Option("--to", help="Time at which to enter the second motion, s. Default: its start."),
]
OutputOption = Annotated[
    Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
    typer.Option("--output", "-o", help="Write the whole motion to this .bvh or .npz file."),
]
DurationOption = Annotated[
    Optional[float],  # noqa: UP045 - typer reads the annotation on Python 3.10
    typer.Option(
        help="Duration of the transition, s. Default: chosen from the speeds of both motions."
    ),
]
PlotOption = Annotated[
    Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
    typer.Option(help="Plot forces and costs into this file."),
]
FiguresOption = Annotated[
    Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
    typer.Option(help="Draw stick figures into this file, or a video: .gif or .mp4."),
]
RootOption = Annotated[
    str,
    typer.Option(
        help="How a floating base is carried: 'passive' allows no force on it, a number is the "
        "weight of that force, 'auto' allows the ground's where feet stand, and any without feet."
    ),
]
FeetOption = Annotated[
    str,
    typer.Option(help="Frames that may stand, separated by commas; 'auto' by name, or 'none'."),
]
AlignOption = Annotated[
    bool, typer.Option(help="Move the second motion along the ground to continue the first.")
]
MotionRobot = Annotated[
    str,
    typer.Option(
        help="Robot of NPZ files: a robot file or a built-in robot.", autocompletion=complete_robot
    ),
]


@command()
def transition(
    first: Annotated[Path, typer.Argument(help="The motion to leave: .bvh or .npz.")],
    second: Annotated[Path, typer.Argument(help="The motion to enter: .bvh or .npz.")],
    leave: LeaveOption = None,
    enter: EnterOption = None,
    duration: DurationOption = None,
    output: OutputOption = None,
    plot: PlotOption = None,
    figures: FiguresOption = None,
    mass: Annotated[float, typer.Option(help="Mass of the figure in a BVH file, kg.")] = 70.0,
    root: RootOption = "auto",
    feet: FeetOption = "auto",
    align: AlignOption = True,
    hold: Annotated[str, typer.Option(help="Frames held in place, separated by commas.")] = "",
    robot: MotionRobot = "",
    floating: Floating = None,
    coefficients: Annotated[
        int | None,
        typer.Option(help="Number of spline coefficients per coordinate; by default 26 a second."),
    ] = None,
    units: Units = None,
    up: Up = None,
    overwrite: Overwrite = False,
    json: JsonOption = False,
) -> None:
    """Compute a minimum-effort transition between two recorded motions.

    A skeleton whose joints have the names of human joints gets a human's masses and ranges of
    motion. In any other, each bone gets mass in proportion to its length. Standing feet do not
    move, and the ground carries the figure. Warnings name what is doubtful about the result.

    Example: kinetree transition walk.bvh run.bvh --from 1.2 --to 0.4 -o both.bvh
    """
    from kinetree.cli.transition import check_endings, report, run, summary, write

    check_outputs([output, plot, figures], overwrite, picture=plot)
    check_endings(output, figures)
    figure = load_robot(robot, floating) if robot else None
    joined = run(
        first,
        second,
        leave,
        enter,
        duration,
        {"mass": mass, **conventions(units, up)},
        root,
        hold,
        feet,
        align,
        figure,
        coefficients=coefficients,
        method="gauss-newton",
        tolerance=1e-4,
        iterations=300,
        progress=progress_line("P"),
    )
    files = write(joined, output, plot, figures)
    if json:
        echo_json(summary(joined, files))
    else:
        typer.echo("\n".join(report(joined, files)))
