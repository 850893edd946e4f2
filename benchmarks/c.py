"""Our C code beside Pinocchio's C++ and the C that CasADi prints from Pinocchio's own model.

python -m benchmarks.c [--quick]

Needs gcc and g++, and Eigen's headers and CasADi besides the test extra (pip install cmeel-eigen
casadi); without CasADi that column is empty. Everything is compiled for this processor, each
contestant's results are checked against the interpreter, and all are timed in turn by one program,
over the same hundred states: C calls C, without Python. Compiling takes minutes; --quick leaves the
humanoid out.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from rich.console import Console
from rich.table import Table

import kinetree as kt
from benchmarks.pinocchio_rows import AGREEMENT, Case, cases
from kinetree.compiler.graph import interpret

HERE = Path(__file__).parent
QUANTITIES = ("inverse_dynamics", "forward_dynamics_derivatives")
CONTESTANTS = ("Kinetree", "Pinocchio", "CasADi")
STATES = 100
NATIVE = ("-march=native", "-w")
BOOST = (
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)
CASADI_LEVEL = {"inverse_dynamics": "-O3", "forward_dynamics_derivatives": "-O1"}
"""One function of a hundred thousand lines takes a compiler too long at a higher level."""


@dataclass(frozen=True)
class Row:
    """The times of one quantity of one robot, in seconds a call; NaN where there is none."""

    robot: str
    quantity: str
    seconds: tuple[float, ...]


def folders(*tail: str) -> list[Path]:
    """Folders of installed packages that have headers or libraries."""
    found = [Path(entry).joinpath(*tail) for entry in sys.path if entry]
    return [path for path in found if path.is_dir()]


def includes() -> list[str]:
    eigen = [*folders("cmeel.prefix", "include", "eigen3"), Path("/usr/include/eigen3")]
    if not any(path.is_dir() for path in eigen):
        sys.exit("Eigen's headers are missing: pip install cmeel-eigen")
    paths = [*folders("cmeel.prefix", "include"), *eigen, *folders("casadi", "include")]
    return [f"-I{path}" for path in paths]


def libraries(casadi: bool) -> list[str]:
    paths = folders("cmeel.prefix", "lib") + (folders("casadi") if casadi else [])
    names = ["-lpinocchio_default", "-lboost_serialization", *(["-lcasadi"] if casadi else [])]
    return [*(f"-L{p}" for p in paths), *(f"-Wl,-rpath,{p}" for p in paths), *names]


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def casadi_printer(folder: Path) -> Path | None:
    """The program that prints CasADi's C, if CasADi is installed."""
    if importlib.util.find_spec("casadi") is None:
        return None
    program, source = folder / "casadi_printer", str(HERE / "c_casadi.cpp")
    options = ["-std=c++17", "-O0", "-w", *BOOST, *includes()]  # runs once
    run(["g++", *options, source, "-o", str(program), *libraries(casadi=True)], folder)
    return program


def row(case: Case, quantity: str, printer: Path | None, folder: Path) -> Row:
    """Generate, compile, check and time one quantity of one robot."""
    folder.mkdir()
    robot, model = case.robot, case.peer
    model.saveToText(str(folder / "model.txt"))
    kernel = robot.kernel(quantity)
    code = kernel.c_code(name="ours_function")
    code.save(folder)
    (folder / "ours.h").write_text('#include "ours_function.h"\n')
    objects = ["ours_function.o"]
    ours = [f"-O{code.level}", "-std=c99", "-ffp-contract=fast", *NATIVE, "-c", "ours_function.c"]
    run(["gcc", *ours], folder)
    if printer is not None:
        run([str(printer), "model.txt", quantity, "theirs"], folder)
        run(["gcc", CASADI_LEVEL[quantity], *NATIVE, "-c", "theirs.c"], folder)
        objects.append("theirs.o")
    options = [f"-DQUANTITY={QUANTITIES.index(quantity)}", f"-DCASADI={int(printer is not None)}"]
    options += ["-std=c++17", "-O3", "-DNDEBUG", *NATIVE, *BOOST, "-I.", *includes()]
    driver = [str(HERE / "c_driver.cpp"), *objects, "-o", "driver"]
    run(["g++", *options, *driver, *libraries(casadi=False)], folder)
    states = _states(robot)
    np.concatenate(states, axis=1).tofile(folder / "states")
    printed = run(["./driver", "model.txt", "states", "results"], folder)
    _check(case.name, quantity, interpret(kernel.program, *states), folder / "results")
    seconds = [float(line) for line in printed.split()]
    return Row(case.name, quantity, tuple(seconds + [float("nan")] * (3 - len(seconds))))


def _states(robot: kt.Robot) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [robot.random(rng, STATES), *rng.standard_normal((2, STATES, robot.nv))]


def _check(robot: str, quantity: str, expected: tuple[np.ndarray, ...], file: Path) -> None:
    """Refuse results that are not the interpreter's; the peers' matrices are stored by columns."""
    each = [x[0].size for x in expected]
    found = np.fromfile(file)
    count = found.size // sum(each)
    contestants = 2 + (count % 3 == 0 and count % 2 != 0)
    for k, values in enumerate(found.reshape(count, sum(each))):
        who, state = CONTESTANTS[k % contestants], k // contestants
        parts = np.split(values, np.cumsum(each)[:-1])
        for number, (part, wanted) in enumerate(zip(parts, expected, strict=True)):
            given = part.reshape(wanted[state].shape, order="C" if who == "Kinetree" else "F")
            if number == 2 and who != "Kinetree":  # of the symmetric inverse, one triangle
                given = np.triu(given) + np.triu(given, 1).T
            scale = max(1.0, float(np.abs(wanted[state]).max()))
            error = float(np.abs(given - wanted[state]).max()) / scale
            if not error < AGREEMENT:
                sys.exit(f"{robot}, {quantity}: {who} differs from the interpreter by {error:.1e}")


def table(rows: list[Row]) -> Table:
    result = Table(title="One call in C, µs, and how many times longer the peers take")
    for head in ("robot", "quantity", *CONTESTANTS, "Pinocchio ×", "CasADi ×"):
        result.add_column(head)
    for r in rows:
        ours = r.seconds[0]
        ratios = [f"{x / ours:.1f}" for x in r.seconds[1:]]
        result.add_row(r.robot, r.quantity, *(f"{x * 1e6:.3f}" for x in r.seconds), *ratios)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.c", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the arm only")
    options = parser.parse_args()
    panda, talos, _ = cases()
    wanted = [(panda, QUANTITIES[0])]
    wanted += [] if options.quick else [(talos, QUANTITIES[1])]
    console = Console(width=140, highlight=False)
    console.print(f"pinocchio {pin.__version__}, kinetree {kt.__version__}, {os.uname().machine}")
    with tempfile.TemporaryDirectory() as folder:
        printer = casadi_printer(Path(folder))
        if printer is None:
            console.print("CasADi is not installed: its column is empty")
        rows = [row(*pair, printer, Path(folder) / pair[0].name) for pair in wanted]
    console.print(table(rows))


if __name__ == "__main__":
    main()
