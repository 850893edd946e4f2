"""`kinetree paper`: the tables and figures of Echeandia & Wensing, computed again.

S. Echeandia & P. M. Wensing, Numerical methods to compute the Coriolis matrix and Christoffel
symbols for rigid-body systems, Journal of Computational and Nonlinear Dynamics 16 (2021).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from kinetree import algorithms, robots
from kinetree._optional import optional
from kinetree.cli import paper_symbols, paper_text
from kinetree.compiler.graph import trace
from kinetree.errors import KinetreeError
from kinetree.model import Model
from kinetree.robot import Robot

STATES = 1000
BODIES = (5, 10, 15)
# as the paper's text has them
TABLE_1 = {
    "C v - tau (RNEA)": (5.7e-14, 7.3e-12, 2.9e-11),
    "M' - (C + C^T)": (3.6e-15, 5.7e-14, 2.3e-13),
    "sum_k Gamma_11k v_k - C_11": (1.1e-13, 7.3e-12, 1.0e-12),
}
TABLE_2 = {
    "serial chain (20)": (18.0, 122.0),
    "branched mechanism (20)": (10.0, 33.0),
    "biped, floating base (6 + 20)": (13.0, 64.0),
    "quadruped, floating base (6 + 20)": (10.0, 37.0),
}
TABLE_3 = {"partials of H (4)": (1.23, 7.83, 27.1), "Algorithm 2": (0.97, 3.11, 5.88)}
MEASURING = 2.0  # seconds, each of the times in Table 2 and the figures
SIZES = (5, 8, 12, 16, 20)
LIMBS = (2, 3, 5, 7, 10)  # joints of each


def reproduce(folder: Path) -> None:
    """Compute everything and write README.md and the figures into a folder."""
    optional("matplotlib", "drawing the figures")
    optional("sympy", "Table 3")
    console = Console(stderr=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise KinetreeError(
            f"{folder} cannot be made: {e.strerror}; a folder is expected"
        ) from None
    parts = [HEAD]
    for title, make in (
        ("Table 1: residuals", table_1),
        ("Table 2: one call", table_2),
        ("Table 3: closed forms", table_3),
        ("Figures 3 to 5: growth", lambda: figures(folder)),
    ):
        with console.status(title):
            parts.append(f"## {title}\n\n{make()}")
        console.print(f"{title}: done")
    (folder / "README.md").write_text("\n\n".join(parts) + "\n")
    console.print(f"written to {folder / 'README.md'}")


HEAD = """# The paper, computed again

S. Echeandia & P. M. Wensing, *Numerical methods to compute the Coriolis matrix and Christoffel
symbols for rigid-body systems*, J. Computational and Nonlinear Dynamics 16 (2021). `make paper`
(or `kinetree paper FOLDER`) writes this page. The paper's times are those of C++ on its authors'
machine; ours are calls from Python, everything included, on the machine that wrote this. Each
section says where its results differ from the paper's, and why."""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|-|{'-:|' * (len(head) - 1)}"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


# table 1


def residuals(robot: Robot) -> tuple[float, float, float]:
    """The largest of each of Table 1's residuals over random states."""
    rng = np.random.default_rng(0)
    q, v = robot.random(rng, STATES), rng.standard_normal((STATES, robot.nv))
    M_rate, C = robot.coriolis.mass_matrix_rate(q, v), robot.coriolis_matrix(q, v)
    tau = robot.without("gravity", "damping", "friction", "springs").bias_forces(
        q, v, method="rnea"
    )
    Gamma_11 = robot.christoffel_symbols(q)[:, 0, 0]
    first = np.einsum("nij,nj->ni", C, v) - tau
    second = M_rate - (C + C.swapaxes(1, 2))
    third = np.einsum("nk,nk->n", Gamma_11, v) - C[:, 0, 0]
    return tuple(float(np.abs(x).max()) for x in (first, second, third))  # type: ignore[return-value]


def table_1() -> str:
    measured = [residuals(robots.chain(n)) for n in BODIES]
    head = ["largest residual"]
    for n in BODIES:
        head += [f"{n} bodies", "paper"]
    rows = []
    for k, (name, theirs) in enumerate(TABLE_1.items()):
        row = [f"`{name}`"]
        for ours, paper in zip(measured, theirs, strict=True):
            row += [f"{ours[k]:.1e}", f"{paper:.1e}"]
        rows.append(row)
    said = paper_text.residuals(measured, list(zip(*TABLE_1.values(), strict=True)), STATES)
    return f"{_table(head, rows)}\n\n{said}"


# table 2


def mechanisms() -> dict[str, Robot]:
    """The paper's, and those with limbs on a fixed base, too."""
    return {
        "serial chain (20)": robots.chain(20),
        "branched mechanism (20)": robots.tree(20),
        "biped, fixed base (20)": robots.legged(2, 10),
        "biped, floating base (6 + 20)": robots.legged(2, 10, base="floating"),
        "quadruped, fixed base (20)": robots.legged(4, 5),
        "quadruped, floating base (6 + 20)": robots.legged(4, 5, base="floating"),
    }


def table_2() -> str:
    rows, times = [], {name: one_call(robot) for name, robot in mechanisms().items()}
    for name, measured in times.items():
        paper = [f"{x:.0f} µs" for x in TABLE_2[name]] if name in TABLE_2 else ["–", "–"]
        C, Gamma = (f"{x:.2f} µs" for x in measured)
        rows.append([name, C, paper[0], Gamma, paper[1]])
    head = ["mechanism", "C", "paper", "all Γ", "paper"]
    return f"{_table(head, rows)}\n\n{paper_text.mechanisms(times)}"


def one_call(robot: Robot) -> tuple[float, float]:
    """Microseconds of one C and of all symbols."""
    rng = np.random.default_rng(0)
    q, v = robot.random(rng), rng.standard_normal(robot.nv)
    return (
        _microseconds(lambda: robot.coriolis_matrix(q, v)),
        _microseconds(lambda: robot.christoffel_symbols(q)),
    )


def _microseconds(call: Callable[[], Any], times: int = 50) -> float:
    """The time of a call in the fastest of many short runs, which others disturbed least."""
    call()
    microseconds = []
    finish = time.perf_counter() + MEASURING
    while time.perf_counter() < finish:
        started = time.perf_counter()
        for _ in range(times):
            call()
        microseconds.append((time.perf_counter() - started) / times * 1e6)
    return min(microseconds)


# table 3

SERIAL = (5, 10)


def table_3() -> str:
    """Planar mechanisms in closed form, with SymPy's cache and without."""
    with_cache = {
        (way, n): paper_symbols.measured(way, n, 2) for way in paper_symbols.WAYS for n in BODIES
    }
    without = {
        (way, n): paper_symbols.measured_without_cache(way, n, 2)
        for way in paper_symbols.WAYS
        for n in BODIES
    }
    head = ["branching by two"]
    for n in BODIES:
        head += [f"{n} bodies", "no cache", "paper"]
    rows = []
    for way in paper_symbols.WAYS:
        row = [way]
        for n, paper in zip(BODIES, TABLE_3[way], strict=True):
            seconds = (with_cache[way, n].seconds, without[way, n].seconds, paper)
            row += [f"{x:.2f} s" for x in seconds]
        rows.append(row)
    partials, recursion = paper_symbols.WAYS
    theirs = [a / b for a, b in zip(TABLE_3[partials], TABLE_3[recursion], strict=True)]
    cached, bare = (
        [times[partials, n].seconds / times[recursion, n].seconds for n in BODIES]
        for times in (with_cache, without)
    )
    last = BODIES[-1]
    longer = with_cache[recursion, last].length / with_cache[partials, last].length
    why = paper_text.closed_forms(BODIES, theirs, cached, bare, longer)
    return f"{_table(head, rows)}\n\n{why}\n\n{_serial_chains()}"


def _serial_chains() -> str:
    by_way = {
        way: [paper_symbols.measured(way, n, 1, runs=1) for n in SERIAL]
        for way in paper_symbols.WAYS
    }
    rows = [
        [way, *(x for m in measured for x in (f"{m.seconds:.2f} s", f"{m.length:,}"))]
        for way, measured in by_way.items()
    ]
    head = ["serial chain"]
    for n in SERIAL:
        head += [f"{n} bodies", "operations, written out"]
    partials, recursion = (by_way[way][-1] for way in paper_symbols.WAYS)
    seconds = partials.seconds, recursion.seconds
    said = paper_text.serial_chains(SERIAL[-1], *seconds, recursion.length)
    return f"{_table(head, rows)}\n\n{said}"


# figures


def operation_count(robot: Robot, algorithm: Callable[..., Any], arguments: int) -> int:
    """The operations of an algorithm on a robot as it is."""
    lengths = {"q": robot.nq, "v": robot.nv}
    shapes = {name: (lengths[name],) for name in ("q", "v")[:arguments]}
    program = trace("count", lambda *xs: {"x": algorithm(robot.model, *xs)}, shapes)
    return sum(program.operations.values())


def _coriolis(model: Model, q: Any, v: Any) -> Any:
    return algorithms.coriolis(model, q, v)[2]


class Growth(NamedTuple):
    """Both algorithms by size: times of one call in microseconds, and operations."""

    sizes: tuple[int, ...]
    times: dict[str, list[float]]
    operations: dict[str, list[int]]


def growth(make: Callable[[int], Robot], sizes: Sequence[int]) -> Growth:
    """Measure a family of mechanisms; its sizes are their degrees of freedom."""
    made = [make(n) for n in sizes]
    times = [one_call(robot) for robot in made]
    return Growth(
        tuple(robot.nv for robot in made),
        {"C": [C for C, _ in times], "Γ": [Gamma for _, Gamma in times]},
        {
            "C": [operation_count(robot, _coriolis, 2) for robot in made],
            "Γ": [operation_count(robot, algorithms.christoffel_symbols, 1) for robot in made],
        },
    )


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """The exponent of the fitted power law."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def figures(folder: Path) -> str:
    """Write the figures, and say how the curves grow."""
    families: dict[str, tuple[str, dict[str, Growth]]] = {
        "figure3": ("serial chains", {"": growth(robots.chain, SIZES)}),
        "figure4": ("branching by two", {"": growth(robots.tree, SIZES)}),
        "figure5": ("bipeds and quadrupeds", _legged()),
    }
    rows, pictures = [], []
    for file, (title, curves) in families.items():
        _draw(folder / f"{file}.svg", title, curves)
        pictures.append(f"![{title}: time and operations by size]({file}.svg)")
        for name, series in curves.items():
            for what in ("C", "Γ"):
                curve: tuple[Sequence[float], ...] = series.times[what], series.operations[what]
                fits = [f"{exponent(series.sizes, values):.2f}" for values in curve]
                rows.append([f"{title}: {name}{what}", *fits])
    head = ["exponent of the fitted power law", "time", "operations"]
    return "\n\n".join([*pictures, _table(head, rows), _why(families["figure3"][1][""])])


def _legged() -> dict[str, Growth]:
    return {
        f"{kind}, {base} base: ": growth(
            lambda n, limbs=limbs, base=base: robots.legged(limbs, n, base=base),  # type: ignore[misc]
            LIMBS,
        )
        for kind, limbs in (("biped", 2), ("quadruped", 4))
        for base in ("fixed", "floating")
    }


def _draw(file: Path, title: str, curves: dict[str, Growth]) -> None:
    """Times on the left, operations on the right, both by degrees of freedom."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import LogLocator, NullFormatter

    matplotlib.rcParams["svg.hashsalt"] = "kinetree"  # the same bytes for the same picture
    height = 3.4 if len(curves) == 1 else 4.6
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.0, height), layout="constrained")
    for name, series in curves.items():
        kinds = ("C0", "C1") if "quadruped" not in name else ("C2", "C3")
        for what, color in zip(("C", "Γ"), kinds, strict=True):
            look = {"color": color, "marker": "o", "label": f"{name}{what}"}
            look |= {"linestyle": "--", "markerfacecolor": "white"} if "floating" in name else {}
            left.loglog(series.sizes, series.times[what], **look)
            right.loglog(series.sizes, series.operations[what], **look)
    for axes, label in ((left, "µs, one call"), (right, "operations")):
        axes.set(xlabel="degrees of freedom", ylabel=label, title=title)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_major_formatter("{x:g}")
            axis.set_minor_formatter(NullFormatter())
    left.legend(fontsize="medium" if len(curves) == 1 else "small")
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


def _why(chains: Growth) -> str:
    """Why the exponents are not those of the orders."""
    C = np.polyfit(chains.sizes, chains.operations["C"], 2)
    Gamma = np.polyfit(chains.sizes, chains.operations["Γ"], 3)
    rows = [
        ["C", f"{C[0]:.0f} N² + {C[1]:.0f} N − {-C[2]:.0f}"],
        ["Γ", f"{Gamma[0]:.1f} N³ + {Gamma[1]:.0f} N² + {Gamma[2]:.0f} N − {-Gamma[3]:.0f}"],
    ]
    table = _table(["serial chains", "polynomial through the operations"], rows)
    call, times = one_call(robots.chain(1))[0], chains.times["C"]
    fitted = [exponent(chains.sizes, chains.operations[what]) for what in ("C", "Γ")]
    text = paper_text.orders(chains.sizes, (fitted[0], fitted[1]), C[1] / C[0], call, times)
    return f"{table}\n\n{text}"
