"""`kinetree paper`: the tables and figures of Echeandia & Wensing, computed again.

S. Echeandia & P. M. Wensing, Numerical methods to compute the Coriolis matrix and Christoffel
symbols for rigid-body systems, Journal of Computational and Nonlinear Dynamics 16 (2021).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from kinetree import algorithms, robots
from kinetree.errors import MissingExtraError
from kinetree.graph import trace
from kinetree.model import Model
from kinetree.model.description import Connection, Description, Link, assemble
from kinetree.model.joints import Revolute
from kinetree.robot import Robot
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3

STATES = 1000
BODIES = (5, 10, 15)
# as printed in the paper
TABLE_1 = {
    "C v - tau (RNEA)": (5.7e-14, 7.3e-12, 2.9e-11),
    "M' - (C + C^T)": (3.6e-15, 5.7e-14, 2.3e-13),
    "sum_k Gamma_11k v_k - C_11": (1.1e-13, 7.3e-12, 1.0e-12),
}
TABLE_2 = {
    "serial chain (20)": (18.0, 122.0),
    "branched mechanism (20)": (10.0, 33.0),
    "biped (20)": (13.0, 64.0),
    "quadruped (20)": (10.0, 37.0),
}
TABLE_3 = {"partials of H (4)": (1.23, 7.83, 27.1), "Algorithm 2": (0.97, 3.11, 5.88)}
SIZES = (5, 8, 12, 16, 20)
LIMBS = (2, 3, 5, 7, 10)  # joints of each


def reproduce(folder: Path) -> None:
    """Compute everything and write README.md and the figures into a folder."""
    try:
        import matplotlib  # noqa: F401
        import sympy  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "the figures need Matplotlib and Table 3 SymPy: run pip install 'kinetree[paper]'"
        ) from None
    console = Console(stderr=True)
    folder.mkdir(parents=True, exist_ok=True)
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
    console.print(f"written to {folder}")


HEAD = """# The paper, computed again

S. Echeandia & P. M. Wensing, *Numerical methods to compute the Coriolis matrix and Christoffel
symbols for rigid-body systems*, J. Computational and Nonlinear Dynamics 16 (2021). `make paper` (or
`kinetree paper`) writes this page. The paper's times are those of C++ on its authors' machine; ours
are calls from Python, everything included, on the machine that wrote this."""


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|-|{'-:|' * (len(head) - 1)}"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


# tables


def residuals(robot: Robot) -> tuple[float, float, float]:
    """The largest of each of Table 1's residuals over random states."""
    rng = np.random.default_rng(0)
    q, v = robot.random(rng, STATES), rng.standard_normal((STATES, robot.nv))
    M_rate, C = robot.mass_matrix_rate(q, v), robot.coriolis_matrix(q, v)
    tau = robot.without("gravity", "damping", "friction", "springs").bias_forces(
        q, v, method="rnea"
    )
    Gamma_11 = robot.christoffel_symbols(q)[:, 0, 0]
    first = np.einsum("nij,nj->ni", C, v) - tau
    second = M_rate - (C + C.swapaxes(1, 2))
    third = np.einsum("nk,nk->n", Gamma_11, v) - C[:, 0, 0]
    return tuple(float(np.abs(x).max()) for x in (first, second, third))  # type: ignore[return-value]


def table_1() -> str:
    found = [residuals(robots.chain(n)) for n in BODIES]
    head = ["largest residual", *(f"{n} bodies | paper" for n in BODIES)]
    rows = []
    for k, (name, printed) in enumerate(TABLE_1.items()):
        cells = [f"{ours[k]:.1e} | {p:.1e}" for ours, p in zip(found, printed, strict=True)]
        rows.append([f"`{name}`", *cells])
    lines = _table(head, rows).split("\n")
    lines[1] = f"|-|{'-:|' * 6}"
    note = f"Serial chains with random axes and inertias, {STATES} random states."
    return "\n".join(lines) + f"\n\n{note}"


def mechanisms() -> dict[str, Robot]:
    made = (robots.chain(20), robots.tree(20), robots.legged(2, 10), robots.legged(4, 5))
    return dict(zip(TABLE_2, made, strict=True))


def table_2() -> str:
    rows = []
    for name, robot in mechanisms().items():
        C, Gamma = _one_call(robot)
        printed = TABLE_2[name]
        rows.append(
            [name, f"{C:.2f} µs", f"{printed[0]:.0f} µs", f"{Gamma:.2f} µs", f"{printed[1]:.0f} µs"]
        )
    return _table(["mechanism", "C", "paper", "all Γ", "paper"], rows)


def _one_call(robot: Robot) -> tuple[float, float]:
    """Microseconds of one C and of all symbols."""
    rng = np.random.default_rng(0)
    q, v = robot.random(rng), rng.standard_normal(robot.nv)
    return (
        _microseconds(lambda: robot.coriolis_matrix(q, v)),
        _microseconds(lambda: robot.christoffel_symbols(q)),
    )


def _microseconds(call: Callable[[], Any], repeats: int = 9, times: int = 500) -> float:
    call()
    found = []
    for _ in range(repeats):
        started = time.perf_counter()
        for _ in range(times):
            call()
        found.append((time.perf_counter() - started) / times * 1e6)
    return float(np.median(found))


def planar_tree(n: int) -> Model:
    """A planar mechanism in which every link carries two others, with exact numbers."""
    import sympy

    half, tenth = sympy.Rational(1, 2), sympy.Rational(1, 10)
    inertia = Inertia.about_center(1, Vector3(half, 0, 0), Symmetric3(0, 0, tenth, 0, 0, 0))
    links, connections = [Link("base", Inertia.zero())], []
    for i in range(1, n + 1):
        links.append(Link(f"link{i:02}", inertia))
        parent = "base" if i == 1 else f"link{i // 2:02}"
        place = Transform(Rotation.identity(), Vector3(0 if i == 1 else 1, 0, 0))
        axis = Revolute(Vector3(0, 0, 1))
        connections.append(Connection(f"joint{i:02}", parent, links[-1].name, place, axis))
    return assemble(Description(f"planar{n}", links, connections))


def partials(model: Model, q: list[Any]) -> list[list[list[Any]]]:
    """The symbols by differentiating a symbolic mass matrix (4)."""
    import sympy

    n, H = model.nv, algorithms.crba(model, q)
    d = [[[sympy.diff(H[i][j], x) for x in q] for j in range(n)] for i in range(n)]
    half = sympy.Rational(1, 2)
    return [
        [[half * (d[i][j][k] + d[i][k][j] - d[j][k][i]) for k in range(n)] for j in range(n)]
        for i in range(n)
    ]


def table_3() -> str:
    import sympy

    ways: dict[str, Any] = {
        "partials of H (4)": partials,
        "Algorithm 2": algorithms.christoffel_symbols,
    }
    rows = []
    for name, way in ways.items():
        cells = []
        for n, printed in zip(BODIES, TABLE_3[name], strict=True):
            model, q = planar_tree(n), list(sympy.symbols(f"q1:{n + 1}"))
            sympy.core.cache.clear_cache()
            started = time.perf_counter()
            way(model, q)
            cells += [f"{time.perf_counter() - started:.2f} s", f"{printed:.2f} s"]
        rows.append([name, *cells])
    head = ["planar, branching by two"]
    for n in BODIES:
        head += [f"{n} bodies", "paper"]
    note = "SymPy here, MATLAB's symbolic toolbox in the paper; neither simplifies the results."
    return f"{_table(head, rows)}\n\n{note}"


# figures


def operation_count(robot: Robot, algorithm: Callable[..., Any], arguments: int) -> int:
    shapes = dict.fromkeys(("q", "v")[:arguments], (robot.nv,))
    program = trace("count", lambda *xs: {"x": algorithm(robot.model, *xs)}, shapes)
    return sum(program.operations.values())


def _coriolis(model: Model, q: Any, v: Any) -> Any:
    return algorithms.coriolis(model, q, v)[2]


def growth(make: Callable[[int], Robot], sizes: tuple[int, ...]) -> dict[str, list[float]]:
    """Times of one call in microseconds, and operations, of both algorithms by size."""
    found: dict[str, list[float]] = {"C": [], "Γ": [], "C ops": [], "Γ ops": []}
    for n in sizes:
        robot = make(n)
        C, Gamma = _one_call(robot)
        found["C"].append(C)
        found["Γ"].append(Gamma)
        found["C ops"].append(operation_count(robot, _coriolis, 2))
        found["Γ ops"].append(operation_count(robot, algorithms.christoffel_symbols, 1))
    return found


def exponent(sizes: tuple[int, ...], values: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def figures(folder: Path) -> str:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "kinetree"  # the same bytes for the same picture
    cases: dict[str, tuple[str, str, tuple[int, ...], dict[str, Any]]] = {
        "figure3": ("serial chains", "bodies", SIZES, {"": robots.chain}),
        "figure4": ("branching by two", "bodies", SIZES, {"": robots.tree}),
        "figure5": (
            "bipeds and quadrupeds",
            "joints in all",
            LIMBS,
            {
                "biped ": lambda n: robots.legged(2, n),
                "quadruped ": lambda n: robots.legged(4, n),
            },
        ),
    }
    rows, pictures = [], []
    for file, (title, label, sizes, makers) in cases.items():
        figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.0, 3.4), layout="constrained")
        for prefix, make in makers.items():
            found = growth(make, sizes)
            own = tuple(make(n).nv for n in sizes)
            for what in ("C", "Γ"):
                ops = found[f"{what} ops"]
                left.loglog(own, found[what], "o-", label=f"{prefix}{what}")
                right.loglog(own, ops, "o-", label=f"{prefix}{what}")
                e_time, e_ops = exponent(own, found[what]), exponent(own, ops)
                rows.append([f"{title}: {prefix}{what}", f"{e_time:.2f}", f"{e_ops:.2f}"])
        left.set(xlabel=label, ylabel="µs, one call", title=title)
        right.set(xlabel=label, ylabel="operations", title=title)
        left.legend()
        right.legend()
        figure.savefig(folder / f"{file}.svg", metadata={"Date": None})
        pyplot.close(figure)
        pictures.append(f"![{title}: time and operations by size]({file}.svg)")
    table = _table(["exponent of the fitted power law", "time", "operations"], rows)
    return "\n\n".join([*pictures, table])
