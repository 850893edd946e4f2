"""What a user waits for: the demo of a fresh clone, a file of states, the viewer's page.

python -m benchmarks.product [demo|run|viewer ...] [--rows N] [--json FILE]

`demo` needs a package index; `run` the extra `files` and about 3 GB of disk for 10 M rows;
`viewer` the extra `view`, example-robot-data, Playwright and Chromium (or KINETREE_BROWSER names
it).
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import kinetree as kt

REPOSITORY = Path(__file__).parents[1]
PIECE = 1 << 18
"""Rows that are computed at once, as many as `kinetree run` takes at most."""
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
G1 = "share/example-robot-data/robots/g1_description/urdf/g1_29dof_rev_1_0.urdf"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.product", description=__doc__)
    parser.add_argument("parts", nargs="*", help="demo, run, viewer; all of them by default")
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the file of states")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    options = parser.parse_args()
    measures: dict[str, Callable[[], dict[str, float]]] = {
        "demo": demo,
        "run": lambda: run(options.rows),
        "viewer": viewer,
    }
    unknown = set(options.parts) - set(measures)
    if unknown:
        parser.error(f"unknown part {', '.join(unknown)}; valid are {', '.join(measures)}")
    found = {part: measures[part]() for part in options.parts or measures}
    for part, figures in found.items():
        print(part, *(f"  {name}: {value:,.2f}" for name, value in figures.items()), sep="\n")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


def demo() -> dict[str, float]:
    """`make demo` on a fresh clone, with an environment and a cache of its own."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "kinetree"
        subprocess.run(["git", "clone", "--quiet", str(REPOSITORY), str(clone)], check=True)
        env = {name: x for name, x in os.environ.items() if name != "PYTHONPATH"}
        env["KINETREE_CACHE"] = str(Path(folder) / "cache")
        command = ["make", "demo", f"PYTHON={getattr(sys, '_base_executable', sys.executable)}"]
        first = _measured(command, cwd=clone, env=env)
        again = _measured(command, cwd=clone, env=env)
    return {
        "make demo, install included, s": first.seconds,
        "of which computing, s": first.computing,
        "make demo again, s": again.seconds,
    }


def run(rows: int) -> dict[str, float]:
    """`kinetree run` on a Parquet file of an arm's states, and the dynamics of as many alone.

    Arguments:
        rows: of the file.
    """
    robot = kt.robots.arm()
    with tempfile.TemporaryDirectory() as folder:
        states, torques = Path(folder) / "states.parquet", Path(folder) / "torques.parquet"
        _write_states(robot, states, rows)
        command = ["run", "inverse_dynamics", "arm", str(states), "-o", str(torques), "--zero", "a"]
        found = _measured([sys.executable, "-m", "kinetree", *command, "--json"])
        return {
            "rows": rows,
            "read, MB": states.stat().st_size / 1e6,
            "written, MB": torques.stat().st_size / 1e6,
            "kinetree run, s": found.seconds,
            "of which computing, s": found.computing,
            "largest memory, MB": found.memory,
            "dynamics alone, s": _dynamics_alone(robot, rows),
        }


def _write_states(robot: kt.Robot, path: Path, rows: int) -> None:
    """Random states, with the same numbers again after each piece."""
    import pyarrow
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    q, v = robot.random(rng, PIECE), rng.standard_normal((PIECE, robot.nv))
    names = [f"q.{x}" for x in robot.labels.q] + [f"v.{x}" for x in robot.labels.v]
    table = pyarrow.table(dict(zip(names, np.concatenate([q, v], axis=1).T, strict=True)))
    with parquet.ParquetWriter(path, table.schema) as file:
        for first in range(0, rows, PIECE):
            file.write_table(table.slice(0, min(PIECE, rows - first)))


def _dynamics_alone(robot: kt.Robot, rows: int) -> float:
    """The time of the kernel for as many states, from memory to memory, on all cores."""
    rng = np.random.default_rng(0)
    q, v = robot.random(rng, PIECE), rng.standard_normal((PIECE, robot.nv))
    kt.set_threads(None)
    out = robot.inverse_dynamics(q, v, np.zeros(robot.nv))
    started = time.perf_counter()
    for first in range(0, rows, PIECE):
        size = min(PIECE, rows - first)
        robot.inverse_dynamics(q[:size], v[:size], np.zeros(robot.nv), out=out[:size])
    seconds = time.perf_counter() - started
    kt.set_threads(1)
    return seconds


def viewer() -> dict[str, float]:
    """`kinetree show` of Unitree's G1 with its meshes, until a browser shows them.

    The kernels are in the cache. The browser runs already, and renders on the processor.
    """
    from playwright.sync_api import sync_playwright

    file = next(str(x) for x in (Path(p) / "cmeel.prefix" / G1 for p in sys.path) if x.is_file())
    with sync_playwright() as driver:
        name = os.environ.get("KINETREE_BROWSER") or shutil.which("chromium")
        browser = driver.chromium.launch(executable_path=name, args=FLAGS)
        _shown(browser, file)
        figures = _shown(browser, file)
        browser.close()
    return figures


def _shown(browser: Any, file: str) -> dict[str, float]:
    """The times from the command to the address, to the controls, and to the last new picture."""
    command = [sys.executable, "-m", "kinetree", "show", file, "--no-browser", "--port", "8410"]
    page = browser.new_page(viewport={"width": 800, "height": 500})
    page.set_default_timeout(120_000)
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        url = _address(process)
        served = time.perf_counter() - started
        page.goto(url, wait_until="commit")
        page.get_by_text("left_knee_joint, rad").wait_for()
        controls = time.perf_counter() - started
        drawn = _still_since(page) - started
    finally:
        process.terminate()
        process.wait()
        page.close()
    return {"address, s": served, "page with controls, s": controls, "robot drawn, s": drawn}


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("http"):
            return line.split()[0]
    raise RuntimeError("kinetree show ended before it said its address")


def _still_since(page: Any, patience: float = 3.0) -> float:
    """When the scene's pixels changed for the last time."""
    from PIL import Image

    last, since = np.zeros(0), time.perf_counter()
    while time.perf_counter() - since < patience:
        asked = time.perf_counter()
        picture = np.array(Image.open(io.BytesIO(page.screenshot())))[:, :450, :3]
        if picture.shape != last.shape or (picture != last).any(axis=-1).mean() > 0.01:
            last, since = picture, asked
    return since


class Measured(NamedTuple):
    """What a command took.

    seconds: from its start to its end.
    computing: on all processors together, s; another load changes it less.
    memory: the largest that one process held, MB.
    """

    seconds: float
    computing: float
    memory: float


def _measured(command: Sequence[str], **options: Any) -> Measured:
    """Run a command to its end, which must be a good one."""
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, **options) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed")
    seconds = time.perf_counter() - started
    return Measured(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
