"""Second derivatives of sums over samples of splines, added to band matrices, as LLVM IR.

    i32 kinetree_band_sums(i64 *plan, i64 problems)

does for many problems what `kinetree.motion.band_sums` defines; `plan` is laid out by `BandPlan`.
Returns 0, or 1 if there was no memory.

    symbol   code      meaning
    D        D         derivatives of the forces at a sample by q, v and a, n rows each
    d        d         second derivatives by the forces, a diagonal
    Z        rows      second derivatives by q, v and a, blocks (a, b) with a <= b:
                       Z_ab = D_a^T diag(d) D_b + given ones; Z_aa halved
    c        c         the weight of each block for coefficients k and l of an interval
    G        half      sum over samples and blocks of c Z; G_kl + G_lk^T belongs to k and l

Cost: for each sample 6 n^3 multiply-adds for Z, and 6 wide^2 n^2 for G.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from kinetree.compiler.native.ir import (
    I32,
    I64,
    PTR,
    Builder,
    Writer,
    entry_alloca,
    integer,
    loop,
)
from kinetree.compiler.native.layout import BandPlan
from kinetree.compiler.native.matrices import ROWS, Matrices
from kinetree.compiler.native.memory import memory
from kinetree.compiler.native.thread_pool import define_over_problems

RATES = 3
"""Coordinates, velocities, accelerations."""
PAIRS = tuple((a, b) for a in range(RATES) for b in range(a, RATES))
"""The blocks of Z in the order in which they are stored."""


def define_band_sums(w: Writer) -> Matrices:
    """Add the function to a module; returns the routines of small matrices, for other functions."""
    sums = BandSums(w)
    sums.define()
    return sums


def _up(n: Any) -> Any:
    """n, rounded up to whole tiles of a product."""
    return (n + (ROWS - 1)) // ROWS * ROWS


class BandSums(Matrices):
    """The functions that add to band matrices."""

    def __init__(self, w: Writer) -> None:
        super().__init__(w)
        self.add_scaled = self._define_add_scaled()
        self.product = self._define_product()
        b = w.internal("band_sums_problem", [PTR, PTR, I64])
        self.one = b.function
        _Problem(self, b).write()

    def define(self) -> None:
        """Add the loop over problems, on all threads."""
        w = self.w
        b = w.internal("run_band_sums", [PTR, PTR, PTR, PTR, PTR, I64, I64, I64], I32)
        plan, *_, begin, end, _n = b.arguments
        room = _Room(plan)
        with memory(w, b, room.total) as start:
            self.clear(b, start, room.total)
            with loop(b, begin, end) as p:
                b.call(self.one, [plan, start, p])
        define_over_problems(w, "band_sums", b.function)

    def clear(self, b: Builder, start: Any, count: Any) -> None:
        """Fill whole vectors with zeros."""
        with loop(b, 0, count, self.w.lanes) as i:
            self.store(b, ir.Constant(self.vector, None), start.of(self.scalar).at(i))

    def _define_product(self) -> ir.Function:
        """product(C, A, B, factor, n): C = factor A^T B, n x n each.

        The last columns come first: each row overwrites what vectors wrote beyond the row before.
        """
        b = self.w.internal("product", [PTR, PTR, PTR, self.scalar, I64])
        C, A, B, factor, n = b.arguments
        share, zero = self.spread(b, factor), ir.Constant(self.vector, None)
        sums = [entry_alloca(b, self.vector) for _ in range(ROWS)]
        last = (n - 1) // self.w.lanes * self.w.lanes
        with loop(b, 0, n, ROWS) as i, loop(b, 0, n, self.w.lanes) as back:
            j = last - back
            for total in sums:
                total.set(zero)
            with loop(b, 0, n) as k:
                row = self.load(b, B.of(self.scalar).at(k * n + j))
                column = A.of(self.scalar).at(k * n + i)
                for r, total in enumerate(sums):
                    left = self.spread(b, column.of(self.scalar)[r])
                    total.set(self.fma(b, left, row, total.get()))
            for r, total in enumerate(sums):
                with b.if_then(i + r < n):
                    place = C.of(self.scalar).at((i + r) * n + j)
                    self.store(b, b.fmul(share, total.get()), place)
        b.ret_void()
        return b.function

    def _define_add_scaled(self) -> ir.Function:
        """add_scaled(source, factor, target, count): target += factor source."""
        b = self.w.internal("add_scaled", [PTR, self.scalar, PTR, I64])
        source, factor, target, count = b.arguments
        spread, whole = self.spread(b, factor), count - count % self.w.lanes
        with loop(b, 0, whole, self.w.lanes) as i:
            place = target.of(self.scalar).at(i)
            x = self.load(b, source.of(self.scalar).at(i))
            self.store(b, self.fma(b, spread, x, self.load(b, place)), place)
        with b.if_then(whole < count):
            mask = self._first_lanes(b, count - whole)
            place = target.of(self.scalar).at(whole)
            x = self.load_some(b, source.of(self.scalar).at(whole), mask)
            self.store_some(b, self.fma(b, spread, x, self.load_some(b, place, mask)), place, mask)
        b.ret_void()
        return b.function


class _Room:
    """The offsets of an interval's matrices, in elements.

    Whole vectors are read and written: elements beyond the last row reach no result.
    """

    def __init__(self, plan: Any) -> None:
        self.n, self.wide = plan[BandPlan.N], plan[BandPlan.WIDE]
        self.samples = plan[BandPlan.SAMPLES]
        self.rows = self.samples * len(PAIRS)
        self.block = _up(self.n * (self.n - 1) + _up(self.n))
        self.pairs = _up(self.wide * self.wide)
        room = _up(self.n)
        sizes = {f"D{a}": self.block + room for a in range(RATES)}
        sizes |= {f"dD{a}": self.block + room for a in range(RATES)}
        sizes |= {"rows": self.rows * self.block, "half": self.pairs * self.block}
        self.starts: dict[str, Any] = {}
        self.total: Any = self.n * 0
        for name, size in sizes.items():
            self.starts[name] = self.total
            self.total = self.total + size


class _Problem:
    """Writes the code for one problem."""

    def __init__(self, matrices: BandSums, b: Builder) -> None:
        self.matrices, self.b, self.scalar = matrices, b, matrices.scalar
        self.plan, memory, self.p = b.arguments
        self.room = r = _Room(self.plan)
        self.matrix = {name: memory.of(self.scalar).at(k) for name, k in r.starts.items()}
        self.intervals = self.plan[BandPlan.INTERVALS]
        self.square = r.n * r.n

    def array(self, field: int) -> Any:
        """An array of the plan; its address is zero if there is none."""
        return self.plan.of(PTR)[integer(field)].of(self.scalar)

    def write(self) -> None:
        b, r = self.b, self.room
        with loop(b, 0, self.intervals) as i:
            first = (self.p * self.intervals + i) * r.samples
            with loop(b, 0, r.samples) as s:
                self.sample(first + s, self.at("rows", s * (r.block * len(PAIRS))))
            half = self.matrix["half"]
            self.matrices.clear(b, half, r.pairs * r.block)
            c = self.array(BandPlan.COEFFICIENTS).at(i * (r.rows * r.pairs))
            sizes = [r.block, r.pairs, r.pairs, r.block, r.rows, integer(0)]
            b.call(self.matrices.multiply, [half, c, self.matrix["rows"], *sizes])
            self.scatter(i)
        b.ret_void()

    def at(self, name: str, index: Any) -> Any:
        return self.matrix[name].of(self.scalar).at(index)

    def sample(self, t: Any, rows: Any) -> None:
        """Z at a sample; t counts those of all problems."""
        b, r = self.b, self.room
        with b.if_else(self.plan[BandPlan.D] != 0) as (given, none):
            with given:
                self.squares(t, rows)
            with none:
                self.matrices.clear(b, rows, r.block * len(PAIRS))
        for k, (a, c) in enumerate(PAIRS):
            block, share = rows.of(self.scalar).at(r.block * k), 0.5 if a == c else 1.0
            factor = self.matrices.number(share)
            with b.if_then(self.plan[BandPlan.SECOND + k] != 0):
                second = self.array(BandPlan.SECOND + k).at(t * self.square)
                b.call(self.matrices.add_scaled, [second, factor, block, self.square])
            if a == c:
                with b.if_then(self.plan[BandPlan.BY_RATE + a] != 0), loop(b, 0, r.n) as i:
                    place = block.of(self.scalar).at(i * (r.n + 1))
                    x = b.fmul(self.array(BandPlan.BY_RATE + a)[t * r.n + i], factor)
                    place.set(b.fadd(place.get(self.scalar), x))

    def squares(self, t: Any, rows: Any) -> None:
        """D^T diag(d) D, block by block."""
        b, r, m = self.b, self.room, self.matrices
        d = self.array(BandPlan.BY_FORCE)
        for a in range(RATES):
            source = self.array(BandPlan.D + a).at(t * self.square)
            b.call(m.copy, [source, self.matrix[f"D{a}"], self.square])
        with loop(b, 0, r.n) as i:
            factor = m.spread(b, d[t * r.n + i])
            with loop(b, 0, r.n, m.w.lanes) as j:
                place = i * r.n + j  # the next row overwrites the excess
                for a in range(RATES):
                    x = m.load(b, self.at(f"D{a}", place))
                    m.store(b, b.fmul(factor, x), self.at(f"dD{a}", place))
        for k, (a, c) in enumerate(PAIRS):
            share = m.number(0.5 if a == c else 1.0)
            block = rows.of(self.scalar).at(r.block * k)
            b.call(m.product, [block, self.matrix[f"dD{a}"], self.matrix[f"D{c}"], share, r.n])

    def scatter(self, interval: Any) -> None:
        """Add G_kl + G_lk^T to the band matrix, for k >= l."""
        b, r = self.b, self.room
        count = self.intervals + r.wide - 1
        bands = self.array(BandPlan.BANDS).at(self.p * (count * r.wide * self.square))
        factor = self.matrices.number(1.0)
        with loop(b, 0, r.wide) as k, loop(b, 0, k + 1) as l:
            place = ((interval + l) * r.wide + (k - l)) * self.square
            target = bands.of(self.scalar).at(place)
            straight, turned = (
                self.at("half", (i * r.wide + j) * r.block) for i, j in ((k, l), (l, k))
            )
            b.call(self.matrices.add_scaled, [straight, factor, target, self.square])
            with loop(b, 0, r.n) as i, loop(b, 0, r.n) as j:
                entry = target.of(self.scalar).at(i * r.n + j)
                entry.set(b.fadd(entry.get(self.scalar), turned.of(self.scalar)[j * r.n + i]))
