"""Write docs/benchmarks.md and its pictures from the results in docs/benchmarks.

    python tools/benchmarks_page.py [RESULTS.json ...]

Results given as arguments, as `python -m benchmarks` writes them, replace the parts of cpu.json
that they have; a file of `python -m benchmarks.gpu` replaces gpu.json.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

DOCS = Path(__file__).parents[1] / "docs"
CPU, GPU = DOCS / "benchmarks/cpu.json", DOCS / "benchmarks/gpu.json"
PICTURES = DOCS / "pictures"
OURS, THEIRS = "#d9631e", "#7b8a99"
Row = dict[str, Any]

HEAD = """# Benchmarks

Kinetree compared with Pinocchio {pinocchio}, each called from Python on the same states in the same
process. Both must agree on the results of a row before it is timed, and nothing is compiled inside
the timed region. The commands at the end of this page produce the numbers and store them in
[cpu.json](benchmarks/cpu.json), from which `tools/benchmarks_page.py` writes this page and its
pictures.

Machine: {processor} (LLVM's name for the CPU), one thread unless stated, Python {python},
NumPy {numpy}, llvmlite {llvmlite}.
"""

ONE = """
## One state

The time of one call with one state; the axis is logarithmic. Most of it is the overhead of Python
and NumPy; the kernel can also be [called without it](native.md).

![one call](pictures/benchmarks_one.svg)

| robot | quantity | Kinetree | Pinocchio | ratio |
|-|-|-:|-:|-:|
"""

BATCH = """
## Ten thousand states

The time per state in a batch of 10,000. Pinocchio has no batches in Python, so it is called in a
loop: the ratio is the gain for a Python user, not a ratio of arithmetic. *Two threads* is the same
batch on two threads.

![batches](pictures/benchmarks_batch.svg)

| robot | quantity | Kinetree | two threads | Pinocchio, looped | ratio | differ by |
|-|-|-:|-:|-:|-:|-:|
"""

SYMBOLS = """
## Christoffel symbols

All symbols of mechanisms with twenty joints, compared with the times that Echeandia & Wensing
(2021) report for their C++ code on their machine.

| mechanism | one call | batch, per state | paper, one call |
|-|-:|-:|-:|
"""

STARTUP = """
## The first call

The first call of a quantity compiles it. *One state* and *batch* are compiled separately, each on
first use. *Again* is the first call in a new process, with the cache filled by the first process.
`import kinetree` takes {imported:.2f} s.

![first calls](pictures/benchmarks_startup.svg)

| | one state | then a batch | again | memory |
|-|-:|-:|-:|-:|
"""

ON_GPU = """
## GPU

Kernels on an {device}, whose memory copies {copy:.2f} TB/s. The arguments are millions of states in
GPU memory. *Of copy* is the memory traffic of arguments and results as a fraction of that
bandwidth. The results of this run are in [gpu.json](benchmarks/gpu.json).

![states per second on a GPU](pictures/benchmarks_gpu.svg)

| robot | quantity | type | million states per second | of copy |
|-|-|-|-:|-:|
"""

TAIL = """
## How to run them

    make bench                                  # these tables, into benchmarks/results.json
    python tools/benchmarks_page.py benchmarks/results.json   # this page from them
    kinetree bench robot.urdf                   # your own robot, beside other installed libraries

There are more benchmarks. Each is a module that prints a table:

| command | what it compares |
|-|-|
| `python -m benchmarks.c` | C code beside Pinocchio's C++ and CasADi's C |
| `python -m benchmarks.ecosystem` | PyTorch, JAX, CasADi, Numba |
| `python -m benchmarks.rollouts` | simulations beside MuJoCo's |
| `python -m benchmarks.constraints` | closed chains beside published solutions |
| `python -m benchmarks.contact` | steps with contact, and their derivatives, beside MuJoCo's |
| `python -m benchmarks.contact_checks` | contact against MuJoCo and closed forms; no speeds |
| `python -m benchmarks.files` | robot files beside their own simulators; no speeds |
| `python -m benchmarks.motion` | transitions and optimal control |
| `python -m benchmarks.reaching` | inverse kinematics, timing of paths, whole-body control |
| `python -m benchmarks.identify` | regressors and fits |
| `python -m benchmarks.cartesian` | link states and joint states |
| `python -m benchmarks.small` | small calls from Python |
| `python -m benchmarks.product` | the demo, batch jobs, the viewer's first page |
| `python -m benchmarks.gpu --json FILE` | CUDA kernels and the memory bandwidth |

Shared machines are noisy. Both libraries of a row therefore run alternately on the core that is
quieter at the moment, and the lower quartile of the times is reported. Figures differ by up to a
fifth from run to run.
"""


def page(cpu: Row, gpu: Row | None) -> str:
    """The text of the page."""
    rows = cpu["pinocchio"]
    parts = [
        HEAD.format(**cpu["machine"]),
        ONE + lines(one_line(r) for r in rows),
        BATCH + lines(batch_line(r) for r in rows),
        SYMBOLS + lines(symbols_line(r) for r in cpu["symbols"]),
        STARTUP.format(imported=cpu["import_seconds"])
        + lines(startup_line(r) for r in cpu["startup"]),
    ]
    if gpu:
        parts.append(
            ON_GPU.format(device=gpu["device"], copy=gpu["copy"] / 1e12)
            + lines(gpu_line(r) for r in gpu["rows"])
            + beside(gpu)
        )
    return "".join([*parts, TAIL])


def lines(rows: Any) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def words(quantity: str) -> str:
    return quantity.replace("_", " ")


def one_line(r: Row) -> list[str]:
    times = [f"{r[k] * 1e6:.2f} µs" for k in ("one", "peer_one")]
    return [r["robot"], words(r["quantity"]), *times, f"{r['one_ratio']:.1f} ×"]


def batch_line(r: Row) -> list[str]:
    times = [f"{r[k] * 1e9:,.0f} ns" for k in ("batch", "two_threads", "peer_loop")]
    ratio, error = f"{r['batch_ratio']:.0f} ×", f"{r['error']:.0e}"
    return [r["robot"], words(r["quantity"]), *times, ratio, error]


def symbols_line(r: Row) -> list[str]:
    times = [f"{r[k] * 1e6:.1f} µs" for k in ("one", "batch")]
    return [r["robot"], *times, f"{r['paper'] * 1e6:.0f} µs"]


def startup_line(r: Row) -> list[str]:
    cold = [f"{r[k]:.2f} s" for k in ("one", "batch")]
    return [words(r["what"]), *cold, f"{r['warm'] * 1e3:,.0f} ms", f"{r['memory']:.0f} MB"]


def beside(gpu: Row) -> str:
    """Rollouts on the GPU, and peers, a paragraph each."""
    rolled = [
        f"{r['robot']} under PD control, {r['steps']} steps of {r['systems']:,} systems in one "
        f"launch, {r['dtype']}: {r['rate']:,.0f} million steps per second."
        for r in gpu.get("rollouts", ())
    ]
    peers = [
        f"{name}: {rate:,.0f} million per second." for name, rate in gpu.get("peers", {}).items()
    ]
    return "".join(f"\n{paragraph}\n" for paragraph in (*rolled, *peers))


def gpu_line(r: Row) -> list[str]:
    rate, share = f"{r['states']:,.0f}", f"{r['bandwidth']:.0%}"
    return [r["robot"], words(r["quantity"]), r["dtype"], rate, share]


def pictures(cpu: Row, gpu: Row | None) -> dict[str, Figure]:
    """The figures of the page, by their names."""
    rows = [r for r in cpu["pinocchio"] if r["robot"] in ("Panda", "Talos", "Talos, floating")]
    labels = [f"{r['robot']}: {words(r['quantity'])}" for r in rows]
    first = cpu["startup"]
    found = {
        "benchmarks_one": bars(
            labels,
            {
                "Kinetree": [r["one"] * 1e6 for r in rows],
                "Pinocchio": [r["peer_one"] * 1e6 for r in rows],
            },
            "one call, µs",
        ),
        "benchmarks_batch": bars(
            labels,
            {
                "Kinetree": [r["batch"] * 1e9 for r in rows],
                "Pinocchio, looped": [r["peer_loop"] * 1e9 for r in rows],
            },
            "a state in a batch of 10,000, ns",
        ),
        "benchmarks_startup": bars(
            [words(r["what"]) for r in first],
            {
                "first call: compiled": [r["one"] for r in first],
                "again: with the cache": [r["warm"] for r in first],
            },
            "first call, s",
        ),
    }
    if gpu:
        found["benchmarks_gpu"] = gpu_bars(gpu["rows"])
    return found


def bars(labels: Sequence[str], series: dict[str, list[float]], axis: str) -> Figure:
    """Two horizontal bars a label, on a logarithmic axis."""
    figure = Figure(figsize=(8.0, 0.3 * len(labels) + 1.0), layout="constrained")
    panel = figure.subplots()
    for k, (name, values) in enumerate(series.items()):
        places = [i + 0.2 * (2 * k - 1) for i in range(len(labels))]
        panel.barh(places, values, height=0.38, label=name, color=(OURS, THEIRS)[k])
    panel.set_yticks(range(len(labels)), labels)
    panel.invert_yaxis()
    panel.set_xscale("log")
    panel.set_xlabel(axis)
    panel.margins(y=0.01)
    panel.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside upper right", ncols=2)
    return figure


def gpu_bars(rows: Sequence[Row]) -> Figure:
    keys = list(dict.fromkeys((r["robot"], r["quantity"]) for r in rows))
    rate = {(r["robot"], r["quantity"], r["dtype"]): r["states"] for r in rows}
    series = {d: [rate.get((*key, d), 0.0) for key in keys] for d in ("float32", "float64")}
    labels = [f"{robot}: {words(quantity)}" for robot, quantity in keys]
    return bars(labels, series, "million states a second")


def mark(cpu: Row, gpu: Row | None) -> str:
    """What the pictures carry, so that a test sees whether they are of these results."""
    return hashlib.sha256(json.dumps([cpu, gpu], sort_keys=True).encode()).hexdigest()[:16]


def results() -> tuple[Row, Row | None]:
    """The results that are kept."""
    return json.loads(CPU.read_text()), json.loads(GPU.read_text()) if GPU.exists() else None


def take(path: Path, write: Callable[[Path, Row], None]) -> None:
    """Keep the results of a run."""
    new = json.loads(path.read_text())
    if "device" in new:
        write(GPU, new)
    else:
        old = json.loads(CPU.read_text()) if CPU.exists() else {}
        write(CPU, old | new)


def main(files: list[str]) -> None:
    for name in files:
        take(Path(name), lambda at, kept: at.write_text(json.dumps(kept, indent=1) + "\n"))
    kept = results()
    (DOCS / "benchmarks.md").write_text(page(*kept))
    matplotlib.rcParams["svg.hashsalt"] = "kinetree"  # the same results, the same bytes
    for name, figure in pictures(*kept).items():
        about = {"Description": mark(*kept), "Date": None}
        figure.savefig(PICTURES / f"{name}.svg", metadata=about)
    print(f"written to {DOCS / 'benchmarks.md'}")


if __name__ == "__main__":
    main(sys.argv[1:])
