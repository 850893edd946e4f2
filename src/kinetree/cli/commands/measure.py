"""`kinetree demo`, `bench` and `doctor`: how Kinetree runs on this computer."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from kinetree.cli.command import (
    ROBOT,
    Floating,
    JsonOption,
    RobotArgument,
    command,
    complete_robot,
    echo_json,
    load_robot,
)


@command()
def demo(
    robot: Annotated[
        Optional[str],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Argument(
            help=f"{ROBOT} The arm if none is given.",
            show_default=False,
            autocompletion=complete_robot,
        ),
    ] = None,
    floating: Floating = None,
) -> None:
    """Load a robot, compile its dynamics, and show the results.

    Example: kinetree demo quadruped
    """
    from kinetree.cli.demo import report

    report(load_robot(robot or "arm", floating))


@command()
def bench(
    robot: RobotArgument,
    floating: Floating = None,
    batch: Annotated[int, typer.Option(help="Number of states in a batch.", min=1)] = 10_000,
    seconds: Annotated[float, typer.Option(help="Duration of each measurement, s.", min=0.0)] = 0.2,
    json: JsonOption = False,
) -> None:
    """Measure the speed on this computer, and compare it with other installed libraries.

    Rotor inertia, friction and springs are ignored, because not every library has them. Results
    are compared before anything is timed.

    Example: kinetree bench arm
    """
    from kinetree.cli import bench as benchmark

    loaded = load_robot(robot, floating)
    rows, remarks = benchmark.measure(loaded, batch, seconds)
    if json:
        echo_json(benchmark.as_json(loaded, rows, remarks, batch))
    else:
        benchmark.report(loaded, rows, remarks, batch)


@command()
def doctor(json: JsonOption = False) -> None:
    """Show versions, the processor, the cache, optional packages and GPUs, and run a self-test.

    The exit code is 1 if kernels cannot be compiled, cannot be cached, or give wrong results.

    Example: kinetree doctor --json
    """
    from kinetree.cli import doctor as health

    found = health.diagnosis()
    if json:
        echo_json(found)
    else:
        health.report(found)
    if not health.healthy(found):
        raise typer.Exit(1)
