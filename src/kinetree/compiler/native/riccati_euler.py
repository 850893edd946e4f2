"""The expansion of a Riccati recursion after a step of semi-implicit Euler, as LLVM IR.

Positions change by h times the new velocities, so all position rows of W after its head are

    W_j = h W_(n + j) + e_j,    head <= j < n                                                   (1)

for n velocities, so W = E + F R with the rows R of head and velocities, unit rows E, and F of ones
and h. Then W^T S W = E^T S W + R^T (F^T S W), where S W = S E + (F^T S)^T R: about half the
products. Symbols are those of `riccati.py`.

    symbol    code      meaning
    R         W         the rows of W that are read
    F^T S     FS        and FSW, Fs: F^T S W, F^T s
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir

from kinetree.compiler.native.ir import PTR, integer, loop
from kinetree.compiler.native.layout import RiccatiPlan

if TYPE_CHECKING:
    from kinetree.compiler.native.lane_riccati import RiccatiGroup
    from kinetree.compiler.native.riccati import RiccatiProblem


def expand_euler(p: RiccatiProblem) -> None:
    """Add W^T S W to Q and W^T s to its gradient, by (1).

    Arguments:
        p: the problem; its SW is zero.
    """
    b, r, m = p.b, p.room, p.matrix
    h = p.plan.of(PTR)[RiccatiPlan.STEP].of(p.scalar)[integer(0)]
    derivatives = p.of_step(RiccatiPlan.W, r.nx * r.nz)
    p.copy_rows(derivatives, r.nz, m["W"], r.z, r.head, r.nz)
    below = derivatives.of(p.scalar).at(r.n * r.nz)
    p.copy_rows(below, r.nz, p.at("W", r.head * r.z), r.z, r.n, r.nz)
    _combine(p, h, "S", "FS", r.x, r.nx)
    with loop(b, 0, r.nx) as i:  # S E
        row = p.at("S", i * r.x + r.head), p.at("SW", i * r.z + r.head)
        b.call(p.matrices.copy, [*row, r.n - r.head])
    sizes = [r.z, r.x, r.x, r.z, r.rows, integer(0)]
    b.call(p.matrices.multiply, [m["SW"], m["FS"], m["W"], *sizes])
    _combine(p, h, "SW", "FSW", r.z, r.nz)
    sizes = [r.z, r.z, r.z, r.z, r.rows, integer(1)]
    b.call(p.matrices.multiply, [m["H"], m["W"], m["FSW"], *sizes])
    one = ir.Constant(p.scalar, 1.0)
    with loop(b, r.head, r.n) as j:  # E^T S W
        _add_row(p, p.at("H", j * r.z), p.at("SW", j * r.z), one, r.z)
    _combine_numbers(p, h, "s", "Fs")
    b.call(p.matrices.add_rows, [m["g"], m["Fs"], m["W"], r.z, r.rows, r.z])
    with loop(b, r.head, r.n) as j:
        p.at("g", j).set(b.fadd(p.get("g", j), p.get("s", j)))


def _combine(p: RiccatiProblem, h: Any, source: str, target: str, stride: Any, count: Any) -> None:
    """F^T times the rows of a matrix: those of the head, then velocities and h positions."""
    b, r, zero = p.b, p.room, p.matrices.number(0.0)
    p.copy_rows(p.matrix[source], stride, p.matrix[target], stride, r.head, count)
    with loop(b, 0, r.n) as j:
        place = p.at(target, (r.head + j) * stride)
        b.call(p.matrices.copy, [p.at(source, (r.n + j) * stride), place, count])
        factor = b.select(j < r.head, zero, h)
        _add_row(p, place, p.at(source, j * stride), factor, count)


def _combine_numbers(p: RiccatiProblem, h: Any, source: str, target: str) -> None:
    """The same of a column."""
    b, r, zero = p.b, p.room, p.matrices.number(0.0)
    with loop(b, 0, r.head) as j:
        p.at(target, j).set(p.get(source, j))
    with loop(b, 0, r.n) as j:
        above = b.select(j < r.head, zero, b.fmul(h, p.get(source, j)))
        p.at(target, r.head + j).set(b.fadd(p.get(source, r.n + j), above))


def _add_row(p: RiccatiProblem, target: Any, source: Any, factor: Any, count: Any) -> None:
    """Add a multiple of a row to another, in whole vectors."""
    b, m = p.b, p.matrices
    spread = m.spread(b, factor)
    with loop(b, 0, count, m.w.lanes) as i:
        place = target.of(p.scalar).at(i)
        x = m.load(b, source.of(p.scalar).at(i))
        m.store(b, m.fma(b, spread, x, m.load(b, place)), place)


def expand_euler_in_lanes(p: RiccatiGroup, t: Any) -> None:
    """The same for a group of problems.

    Arguments:
        p: the group; its SW is zero.
        t: the step.
    """
    b, r, m = p.b, p.room, p.matrix
    places = p.places(RiccatiPlan.W, r.nx * r.nz, t)
    p.read_rows(places, "W", (r.head, r.nz), r.z)
    below = [place.of(p.scalar).at(r.n * r.nz) for place in places]
    with loop(b, 0, r.n) as i, loop(b, 0, r.nz) as j:
        p.put("W", (r.head + i) * r.z + j, p.gathered(below, i * r.nz + j))
    _combine_in_lanes(p, "S", "FS", r.x, r.nx)
    with loop(b, 0, r.nx) as i, loop(b, r.head, r.n) as j:  # S E
        p.put("SW", i * r.z + j, p.get("S", i * r.x + j))
    b.call(p.multiply, [m["SW"], m["FS"], m["W"], r.z, r.x, r.x, r.z, r.rows, integer(0)])
    _combine_in_lanes(p, "SW", "FSW", r.z, r.nz)
    b.call(p.multiply, [m["H"], m["W"], m["FSW"], r.z, r.z, r.z, r.z, r.rows, integer(1)])
    with loop(b, r.head, r.n) as i, loop(b, 0, i + 1) as j:  # E^T S W
        place = i * r.z + j
        p.put("H", place, b.fadd(p.get("H", place), p.get("SW", place)))
    _combine_in_lanes(p, "s", "Fs", integer(1), integer(1))
    p.pull("Fs", r.rows)
    with loop(b, r.head, r.n) as j:
        p.put("g", j, b.fadd(p.get("g", j), p.get("s", j)))


def _combine_in_lanes(p: RiccatiGroup, source: str, target: str, stride: Any, count: Any) -> None:
    """F^T times the rows of a matrix: those of the head, then velocities and h positions."""
    b, r = p.b, p.room
    h = p.plan.of(PTR)[RiccatiPlan.STEP].of(p.scalar)[integer(0)]
    with loop(b, 0, r.head) as i, loop(b, 0, count) as j:
        p.put(target, i * stride + j, p.get(source, i * stride + j))
    with loop(b, 0, r.n) as i:
        factor = p.spread(b.select(i < r.head, ir.Constant(p.scalar, 0.0), h))
        with loop(b, 0, count) as j:
            above, below = (p.get(source, k * stride + j) for k in (i, r.n + i))
            p.put(target, (r.head + i) * stride + j, p.fma(b, factor, above, below))
