"""make bench: run everything, print the tables, write results.json.

python -m benchmarks [--only pinocchio|startup] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import platform
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import llvmlite.binding as llvm
from rich.console import Console
from rich.progress import track
from rich.table import Table

import kinetree as kt
from benchmarks.pinocchio_rows import BATCH, Row, SymbolsRow, comparisons, rows, symbols_rows
from benchmarks.startup import CASES, Startup, import_seconds, startup


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", choices=("pinocchio", "startup"), help="one part only")
    parser.add_argument("--json", type=Path, default=Path(__file__).with_name("results.json"))
    options = parser.parse_args()
    console = Console(width=230, highlight=False)
    results: dict[str, object] = {"machine": machine()}
    console.print(", ".join(f"{key} {value}" for key, value in machine().items()))
    if options.only != "startup":
        total = len(comparisons())
        measured = list(track(rows(), "comparing", total=total, console=console))
        symbols = list(symbols_rows())
        results["symbols"] = [asdict(r) for r in symbols]
        results["pinocchio"] = [
            asdict(r)
            | {"one_ratio": r.one_ratio, "batch_ratio": r.batch_ratio}
            | {"thread_ratio": r.thread_ratio}
            for r in measured
        ]
        console.print(comparison_table(measured))
        console.print(symbols_table(symbols))
    if options.only != "pinocchio":
        figures = list(track(startup(), "first calls", total=len(CASES) + 1, console=console))
        imported = import_seconds()
        results["startup"] = [asdict(f) for f in figures]
        results["import_seconds"] = imported
        console.print(startup_table(figures, imported))
    options.json.write_text(json.dumps(results, indent=1) + "\n")
    console.print(f"written to {options.json}")


def machine() -> dict[str, str]:
    return {
        "processor": llvm.get_host_cpu_name(),
        "python": platform.python_version(),
        "kinetree": kt.__version__,
        "pinocchio": version("pin"),
        "numpy": version("numpy"),
        "llvmlite": version("llvmlite"),
    }


def comparison_table(measured: list[Row]) -> Table:
    table = Table(
        title=f"time a state; batches of {BATCH:,} with out= given; ratios: Pinocchio / Kinetree",
        caption="arithmetic alone: the same program, its results added up and not written; writing "
        "alone: a kernel with the same results and no arithmetic; memory: the fraction of the "
        "batch's time that writing its results takes at the bandwidth measured in this run",
    )
    for head in ("robot", "quantity", "Pinocchio: what was called"):
        table.add_column(head, no_wrap=True)
    for head in (
        "differ by",
        "one call",
        "Pinocchio",
        "ratio",
        "batch",
        "Pinocchio",
        "ratio",
        "2 threads",
        "gain",
        "arithmetic alone",
        "writing alone",
        "memory",
    ):
        table.add_column(head, justify="right", no_wrap=True)
    for r in measured:
        table.add_row(
            r.robot,
            r.quantity,
            r.called,
            f"{r.error:.0e}",
            f"{r.one * 1e6:.2f} µs",
            f"{r.peer_one * 1e6:.2f} µs",
            f"{r.one_ratio:.1f} ×",
            f"{r.batch * 1e9:.0f} ns",
            f"{r.peer_loop * 1e9:.0f} ns",
            f"{r.batch_ratio:.0f} ×",
            f"{r.two_threads * 1e9:.0f} ns",
            f"{r.thread_ratio:.2f} ×",
            f"{r.arithmetic * 1e9:.0f} ns",
            f"{r.writing * 1e9:.0f} ns",
            f"{r.write_fraction:.0%}",
        )
    return table


def symbols_table(measured: list[SymbolsRow]) -> Table:
    table = Table(
        title="all Christoffel symbols of a mechanism of twenty joints; paper: C++, one call",
        caption="memory: as above",
    )
    for head in ("mechanism", "one call", "batch", "paper", "ratio, one", "ratio, batch", "memory"):
        table.add_column(head, justify="left" if head == "mechanism" else "right")
    for r in measured:
        table.add_row(
            r.robot,
            f"{r.one * 1e6:.2f} µs",
            f"{r.batch * 1e6:.2f} µs",
            f"{r.paper * 1e6:.0f} µs",
            f"{r.paper / r.one:.0f} ×",
            f"{r.paper / r.batch:.0f} ×",
            f"{r.write_fraction:.0%}",
        )
    return table


def startup_table(figures: list[Startup], imported: float) -> Table:
    table = Table(
        title=f"first calls; import kinetree takes {imported:.2f} s", title_justify="left"
    )
    for name in ("", "cold, one state, s", "then a batch, s", "warm, ms", "memory, MB"):
        table.add_column(name, justify="right" if name else "left")
    for f in figures:
        table.add_row(
            f.what, f"{f.one:.2f}", f"{f.batch:.2f}", f"{f.warm * 1e3:.0f}", f"{f.memory:.0f}"
        )
    return table


if __name__ == "__main__":
    main()
