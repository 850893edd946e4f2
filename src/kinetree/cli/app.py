"""The commands and their options."""

from __future__ import annotations

import contextlib
import json as json_format
import warnings
import webbrowser
from collections.abc import Callable
from functools import wraps
from glob import escape, glob
from pathlib import Path
from typing import Annotated, Any, Optional

import typer
from rich.console import Console

import kinetree
from kinetree.cli import bench as benchmark
from kinetree.cli import doctor as health
from kinetree.cli import info as contents
from kinetree.cli import operations
from kinetree.cli.batch import Job, run_job
from kinetree.cli.closed_form import closed_form_of
from kinetree.cli.compile import ACTIONS, cache_report, compile_all
from kinetree.cli.convert import convert_to
from kinetree.cli.demo import report
from kinetree.cli.export import TARGETS, Export, write_export
from kinetree.cli.identify import report as identification_report
from kinetree.cli.identify import run as run_identification
from kinetree.cli.options import (
    AboutOption,
    AcceleratedOption,
    AxesOption,
    FrameOption,
    KindOption,
    LinksOption,
    MethodOption,
    OrientationOption,
    PartsOption,
    given_settings,
)
from kinetree.cli.paper import reproduce
from kinetree.cli.simulate import CONTROLLERS
from kinetree.cli.simulate import report as simulation_report
from kinetree.cli.simulate import run as run_simulation
from kinetree.cli.transition import report as transition_report
from kinetree.cli.transition import run as run_transition
from kinetree.errors import KinetreeError, MissingFileError
from kinetree.model.load import check_file
from kinetree.model.problem import SEVERITIES, Problem
from kinetree.quantities import PUBLIC
from kinetree.typing import Base

app = typer.Typer(
    help="A robot's description turned into its dynamics, as machine code.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

BUILT_IN = ("arm", "cart_pole", "double_pendulum", "human", "quadruped")
ROBOT = f"A URDF or MJCF file, or a built-in robot: {', '.join(BUILT_IN)}."


def _robots(incomplete: str) -> list[str]:
    """What a robot's name may go on with: built-in names, files and folders."""
    files = glob(f"{escape(incomplete)}*")
    paths = [f"{path}/" if Path(path).is_dir() else path for path in files]
    return [name for name in (*BUILT_IN, *paths) if name.startswith(incomplete)]


def _quantities(incomplete: str) -> list[str]:
    return [name for name in PUBLIC if name.startswith(incomplete)]


RobotArgument = Annotated[
    str, typer.Argument(help=ROBOT, show_default=False, autocompletion=_robots)
]
Floating = Annotated[bool, typer.Option(help="Let the base float.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")]


def command(code: int = 1) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command whose users' errors are messages, never tracebacks.

    Arguments:
        code: the exit code of an error.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def run(*args: Any, **options: Any) -> None:
            try:
                with warnings.catch_warnings():
                    warnings.showwarning = _show_warning  # type: ignore[assignment]
                    function(*args, **options)
            except (KinetreeError, OSError) as e:
                typer.echo(f"kinetree: {e}", err=True)
                raise typer.Exit(code) from None

        return app.command()(run)

    return register


def _show_warning(message: Warning | str, *_: Any) -> None:
    """A warning as a message, without the line of code that gave it."""
    typer.echo(f"kinetree: warning: {message}", err=True)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kinetree {kinetree.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of every command."""


@command()
def demo(
    robot: Annotated[
        Optional[str],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Argument(help=f"{ROBOT} The arm if none is given.", show_default=False),
    ] = None,
    floating: Floating = False,
) -> None:
    """Load a robot, compile its dynamics, and show the results.

    Example: kinetree demo quadruped --floating
    """
    report(_robot(robot or "arm", floating))


@command()
def ops(
    robot: RobotArgument,
    floating: Floating = False,
    everything: Annotated[bool, typer.Option("--all", help="Count slow methods, too.")] = False,
    markdown: Annotated[bool, typer.Option(help="Print a table in Markdown.")] = False,
) -> None:
    """Count the multiplications and additions of every algorithm for a robot.

    Example: kinetree ops panda.urdf --markdown
    """
    operations.report(_robot(robot, floating), everything, markdown)


@command()
def compile(
    robot: RobotArgument,
    quantities: Annotated[
        list[str], typer.Argument(help="What to compile: inverse_dynamics, mass_matrix, ...")
    ],
    dtype: Annotated[
        str, typer.Option(help="float64, float32, or both with a comma between them.")
    ] = "float64",
    method: MethodOption = "",
    frame: FrameOption = "",
    axes: AxesOption = "",
    kind: KindOption = "",
    about: AboutOption = "",
    accelerated: AcceleratedOption = "",
    orientation: OrientationOption = "",
    parts: PartsOption = "",
    links: LinksOption = "",
    floating: Floating = False,
) -> None:
    """Compile quantities of a robot into the cache, for start-up or for a container.

    Example: kinetree compile arm inverse_dynamics forward_dynamics_derivatives
    """
    settings = given_settings(
        frame=frame,
        axes=axes,
        kind=kind,
        about=about,
        accelerated=accelerated,
        orientation=orientation,
        parts=parts,
        links=links,
    )
    dtypes = [name.strip() for name in dtype.split(",")]
    compile_all(_robot(robot, floating), quantities, dtypes, method, settings, Console())


@command()
def cache(
    action: Annotated[str, typer.Argument(help=f"{', '.join(ACTIONS)}.")] = "show",
    file: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Argument(help="The file to export to or to import from.", show_default=False),
    ] = None,
) -> None:
    """Show the cache of machine code, or ship it: export it to a file, import it elsewhere.

    What is imported is machine code: import only files of people you trust.

    Example: kinetree cache export kernels.zip
    """
    cache_report(action, file, Console())


@command()
def export(
    robot: RobotArgument,
    quantity: Annotated[
        str,
        typer.Argument(help="What to export: inverse_dynamics, mass_matrix, jacobian, ..."),
    ],
    target: Annotated[str, typer.Option(help=f"The language: {', '.join(TARGETS)}.")] = "c",
    output: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option("--output", "-o", help="Folder of the files; by default the quantity's name."),
    ] = None,
    dtype: Annotated[str, typer.Option(help="float64 (double) or float32 (float).")] = "float64",
    name: Annotated[
        str, typer.Option(help="Of the function and its files; by default the quantity's.")
    ] = "",
    floating: Floating = False,
    method: MethodOption = "",
    frame: FrameOption = "",
    axes: AxesOption = "",
    kind: KindOption = "",
    about: AboutOption = "",
    accelerated: AcceleratedOption = "",
    orientation: OrientationOption = "",
    parts: PartsOption = "",
    links: LinksOption = "",
    lib: Annotated[bool, typer.Option("--lib", help="Build a shared library, too.")] = False,
) -> None:
    """Write a quantity as source code: C99 with a header, a self-test and a CMake file.

    Example: kinetree export arm inverse_dynamics -o firmware --dtype float32
    """
    settings = given_settings(
        frame=frame,
        axes=axes,
        kind=kind,
        about=about,
        accelerated=accelerated,
        orientation=orientation,
        parts=parts,
        links=links,
    )
    request = Export(quantity, target, output or Path(quantity), dtype, name, lib, method, settings)
    for path in write_export(_robot(robot, floating), request):
        typer.echo(path)


@command()
def symbolic(
    robot: RobotArgument,
    quantity: Annotated[
        str,
        typer.Argument(help="What to print: christoffel, coriolis, mass, jacobian, ..."),
    ] = "christoffel",
    method: MethodOption = "",
    frame: FrameOption = "",
    axes: AxesOption = "",
    kind: KindOption = "",
    about: AboutOption = "",
    accelerated: AcceleratedOption = "",
    orientation: OrientationOption = "",
    parts: PartsOption = "",
    links: LinksOption = "",
    latex: Annotated[bool, typer.Option(help="Print LaTeX.")] = False,
    simplify: Annotated[bool, typer.Option(help="Simplify every entry.")] = True,
) -> None:
    """Print a quantity in closed form, entry by entry, for a small mechanism.

    Example: kinetree symbolic double_pendulum mass --latex
    """
    settings = given_settings(
        frame=frame,
        axes=axes,
        kind=kind,
        about=about,
        accelerated=accelerated,
        orientation=orientation,
        parts=parts,
        links=links,
    )
    model = _robot(robot, floating=False).model
    typer.echo(closed_form_of(model, quantity, method, settings, latex, simplify))


@command()
def simulate(
    robot: RobotArgument,
    controller: Annotated[
        str, typer.Option(help=f"What gives the joint forces: {', '.join(CONTROLLERS)}.")
    ] = "none",
    target: Annotated[
        str, typer.Option(help="The controller's target: nq numbers with commas between them.")
    ] = "",
    start: Annotated[str, typer.Option(help="Where it starts; neutral by default.")] = "",
    time: Annotated[float, typer.Option(help="For how long, s.")] = 5.0,
    dt: Annotated[float, typer.Option(help="The step, s.")] = 1e-3,
    method: Annotated[
        str, typer.Option(help="The integrator: euler, midpoint, rk4, variational, ...")
    ] = "",
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
) -> None:
    """Simulate a robot under a controller.

    Example: kinetree simulate arm --controller pd --time 2 -o motion.npz --plot motion.png
    """
    found = run_simulation(
        _robot(robot, floating), controller, target, start, time, dt, method, record, stops
    )
    for line in simulation_report(found, output, plot):
        typer.echo(line)


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
    robot: Annotated[str, typer.Option(help="Of NPZ files: a robot file or a built-in one.")] = "",
    floating: Floating = False,
    coefficients: Annotated[int, typer.Option(help="Of each coordinate's spline.")] = 12,
) -> None:
    """Make a transition of least effort between two recorded motions.

    Example: kinetree transition walk.bvh run.bvh --from 1.2 --to 0.4 -o both.bvh
    """
    figure = _robot(robot, floating) if robot else None
    found = run_transition(
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
    for line in transition_report(*found, output, plot):
        typer.echo(line)


@command()
def identify(
    robot: RobotArgument,
    logs: Annotated[
        list[Path],
        typer.Argument(
            help="Measurements: .csv, .parquet, .npz, or a ROS bag (.bag, .mcap, .db3, a folder).",
            show_default=False,
        ),
    ],
    output: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option("--output", "-o", help="Write the new robot to this .urdf or .xml file."),
    ] = None,
    report: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option(help="Write a report to this .md or .html file."),
    ] = None,
    plot: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option(help="Draw measured and predicted forces into this file."),
    ] = None,
    cutoff: Annotated[
        float, typer.Option(help="Remove frequencies above, Hz; 0 takes the log as it is.")
    ] = 0.0,
    drives: Annotated[
        str, typer.Option(help="Numbers of drives to find: armature, damping, friction, ...")
    ] = "damping,friction",
    method: Annotated[str, typer.Option(help="log-cholesky, lmi or base.")] = "log-cholesky",
    weights: Annotated[str, typer.Option(help="joints, equal or robust.")] = "joints",
    trust: Annotated[float, typer.Option(help="How far inertias may be from the file's.")] = 1.0,
    share: Annotated[
        float, typer.Option(help="Of the last log that is fitted; the rest of it validates.")
    ] = 0.75,
    topic: Annotated[
        str, typer.Option(help="Of ROS bags with several topics of joint states.")
    ] = "",
    floating: Floating = False,
) -> None:
    """Find a robot's parameters from logs of its motion.

    Several logs are read one after the other: memory is needed for one of them.

    Example: kinetree identify panda.urdf log.csv -o better.urdf --report report.md
    """
    found = run_identification(
        _robot(robot, floating), logs, topic, cutoff, drives, method, weights, trust, share
    )
    for line in identification_report(found, output, report, plot):
        typer.echo(line)


@command()
def paper(
    folder: Annotated[
        Path, typer.Argument(help="Where to write README.md and the figures.", show_default=False)
    ],
) -> None:
    """Compute the tables and figures of Echeandia & Wensing again.

    Example: kinetree paper docs/paper
    """
    reproduce(folder)
    typer.echo(folder / "README.md")


@command(code=2)
def check(
    robot: RobotArgument,
    base: Annotated[
        Optional[str],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option(help="Judge the robot on a base that is 'fixed' or 'floating'."),
    ] = None,
    floating: Annotated[
        bool, typer.Option("--floating", help="Short for --base floating.")
    ] = False,
    strict: Annotated[bool, typer.Option(help="Fail on warnings, too.")] = False,
) -> None:
    """List everything wrong or doubtful in a robot file.

    Example: kinetree check panda.urdf --strict
    """
    problems = _problems(robot, "floating" if floating else base)
    for problem in problems:
        typer.echo(str(problem))
    counts = {s: sum(p.severity == s for p in problems) for s in SEVERITIES}
    summary = ", ".join(f"{n} {s}{'s' * (n != 1)}" for s, n in counts.items())
    typer.echo(f"{robot}: {summary}" if problems else f"{robot}: nothing to say")
    if counts["error"] or (strict and counts["warning"]):
        raise typer.Exit(1)


@command()
def info(robot: RobotArgument, floating: Floating = False, json: JsonOption = False) -> None:
    """Show what a robot consists of: tree, degrees of freedom, masses, limits, frames.

    Example: kinetree info panda.urdf --json
    """
    loaded = _robot(robot, floating)
    if json:
        typer.echo(json_format.dumps(contents.summary(loaded), indent=2))
    else:
        contents.report(loaded)


@command()
def convert(
    source: RobotArgument,
    output: Annotated[
        Path, typer.Argument(help="The new file: .urdf, or .xml for MJCF.", show_default=False)
    ],
    floating: Floating = False,
    overwrite: Overwrite = False,
) -> None:
    """Convert a robot file: URDF to MJCF, or MJCF to URDF.

    What the other format cannot express is a warning. Paths of meshes are kept as they are written.

    Example: kinetree convert panda.urdf panda.xml
    """
    convert_to(_robot(source, floating), output, overwrite)
    typer.echo(output)


@command()
def run(
    quantity: Annotated[
        str,
        typer.Argument(
            help="What to compute: inverse_dynamics, mass_matrix, ...", autocompletion=_quantities
        ),
    ],
    robot: RobotArgument,
    states: Annotated[
        Path, typer.Argument(help="The states: .csv, .npz or .parquet.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The results: .csv, .npz or .parquet.")
    ],
    zero: Annotated[
        str, typer.Option(help="Arguments that are zero and not in the file, such as v,a.")
    ] = "",
    keep: Annotated[
        str, typer.Option(help="Columns to copy to the output, with commas between them.")
    ] = "",
    threads: Annotated[int, typer.Option(help="How many; 0 for one a core.", min=0)] = 0,
    method: MethodOption = "",
    frame: FrameOption = "",
    axes: AxesOption = "",
    kind: KindOption = "",
    about: AboutOption = "",
    accelerated: AcceleratedOption = "",
    orientation: OrientationOption = "",
    parts: PartsOption = "",
    links: LinksOption = "",
    floating: Floating = False,
    overwrite: Overwrite = False,
    json: JsonOption = False,
) -> None:
    """Compute a quantity at every state of a file, larger than memory if need be.

    Columns are named as in q.elbow, v.elbow, tau.elbow (kinetree info lists the names), or numbered
    as in q_0. An NPZ file has arrays q, v, ... with one row a state. If the job is stopped, the
    same command goes on where it was.

    Example: kinetree run inverse_dynamics panda.urdf states.parquet -o torques.parquet --zero a
    """
    settings = given_settings(
        frame=frame,
        axes=axes,
        kind=kind,
        about=about,
        accelerated=accelerated,
        orientation=orientation,
        parts=parts,
        links=links,
    )
    zeros, kept = ([x.strip() for x in text.split(",") if x.strip()] for text in (zero, keep))
    job = Job(quantity, states, output, method, settings, zeros, kept, overwrite)
    loaded = _robot(robot, floating)
    kinetree.set_threads(threads or None)
    try:
        done = run_job(loaded, job, None if json else Console(stderr=True))
    except KeyboardInterrupt:
        typer.echo("kinetree: stopped; the same command goes on from here", err=True)
        raise typer.Exit(130) from None
    if json:
        typer.echo(json_format.dumps(done._asdict()))
    else:
        resumed = f", {done.resumed:,} of them from before" if done.resumed else ""
        typer.echo(f"{done.output}: {done.rows:,} states{resumed}, {done.seconds:.2f} s")


@command()
def show(
    robot: RobotArgument,
    trajectory: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads the annotation on Python 3.10
        typer.Option(help="Play the motion of this .npz or .parquet file."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 lets others in.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The first free port from here on.")] = 8080,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    floating: Floating = False,
) -> None:
    """Show a robot in the browser: move its joints, play a motion, simulate.

    Example: kinetree show panda.urdf --trajectory motion.npz
    """
    from kinetree.view.viewer import Viewer, load_trajectory

    loaded = _robot(robot, floating)
    motion = None if trajectory is None else load_trajectory(trajectory)
    folder = None if robot in BUILT_IN else Path(robot).parent
    viewer = Viewer(loaded, motion, folder, host, port)
    typer.echo(f"{viewer.url} (Ctrl-C ends it)")
    if browser:
        webbrowser.open(viewer.url)
    with contextlib.suppress(KeyboardInterrupt):
        viewer.wait()
    viewer.close()


@command()
def bench(
    robot: RobotArgument,
    floating: Floating = False,
    batch: Annotated[int, typer.Option(help="States of a batch.", min=1)] = 10_000,
    seconds: Annotated[float, typer.Option(help="How long to measure each time.", min=0.0)] = 0.2,
    json: JsonOption = False,
) -> None:
    """Measure the speed on this computer, beside the peers that are installed.

    Rotors, friction and springs are left out, because not every peer has them. Results are
    compared before anything is timed.

    Example: kinetree bench panda.urdf
    """
    loaded = _robot(robot, floating)
    rows, remarks = benchmark.measure(loaded, batch, seconds)
    if json:
        typer.echo(json_format.dumps(benchmark.as_json(loaded, rows, remarks, batch), indent=2))
    else:
        benchmark.report(loaded, rows, remarks, batch)


@command()
def doctor(json: JsonOption = False) -> None:
    """Show versions, the processor, the cache, optional packages and GPUs, and run a self-test.

    The exit code is 1 if kernels are not compiled, not kept, or wrong.

    Example: kinetree doctor --json
    """
    found = health.diagnosis()
    if json:
        typer.echo(json_format.dumps(found, indent=2))
    else:
        health.report(found)
    if not health.healthy(found):
        raise typer.Exit(1)


def _robot(name: str, floating: bool) -> kinetree.Robot:
    """A built-in robot by its name, or the robot of a file."""
    base: Base = "floating" if floating else "fixed"
    if name in BUILT_IN:
        return getattr(kinetree.robots, name)(base)
    try:
        return kinetree.load(name, base=base)
    except MissingFileError as e:
        raise _neither(e) from None


def _problems(name: str, base: str | None) -> list[Problem]:
    if name in BUILT_IN:
        return _robot(name, floating=base == "floating").model.problems()
    try:
        return check_file(name, base)
    except MissingFileError as e:
        raise _neither(e) from None


def _neither(e: MissingFileError) -> MissingFileError:
    """The error for a name that is neither a built-in robot nor a file."""
    return MissingFileError(
        f"{e}. The path of a URDF or MJCF file is expected, or the name of a built-in robot: "
        f"{', '.join(BUILT_IN)}"
    )
