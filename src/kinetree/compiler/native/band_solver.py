"""Solves many small positive definite band systems, as LLVM IR.

    i32 kinetree_band_solver(i64 *plan, i64 problems)

solves (H + shift) x = g for each problem by Cholesky's method, column by column; `plan` is laid
out by `BandSolverPlan`. Returns 0, or 1 if there was no memory.

    symbol   code      meaning
    H        BANDS     blocks on and below the diagonal: [k, d] is that of rows k + d, columns k
    L        L         the factor, a row for each column: its diagonal entry, then those below
    x        x         the right-hand side, then the solution

Cost: size band^2 / 2 multiply-adds, in vectors along columns.
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
    external,
    integer,
    loop,
)
from kinetree.compiler.native.layout import BandSolverPlan
from kinetree.compiler.native.matrices import Matrices
from kinetree.compiler.native.memory import memory
from kinetree.compiler.native.thread_pool import define_over_problems


def define_band_solver(w: Writer, matrices: Matrices) -> None:
    """Add the function to a module that has the routines of small matrices."""
    b = w.internal("band_solver_problem", [PTR, PTR, I64])
    one = b.function
    _Problem(matrices, b).write()
    b = w.internal("run_band_solver", [PTR, PTR, PTR, PTR, PTR, I64, I64, I64], I32)
    plan, *_, begin, end, _n = b.arguments
    room = _Room(plan, w.lanes)
    with memory(w, b, room.total) as start, loop(b, begin, end) as p:
        b.call(one, [plan, start, p])
    define_over_problems(w, "band_solver", b.function)


class _Room:
    """L, with room for vectors behind each row and for rows behind the last; and x."""

    def __init__(self, plan: Any, lanes: int) -> None:
        self.n, self.wide = plan[BandSolverPlan.N], plan[BandSolverPlan.WIDE]
        self.blocks = plan[BandSolverPlan.BLOCKS]
        self.size, self.band = self.blocks * self.n, self.wide * self.n
        self.stride = self.band + lanes
        self.factor = (self.size + self.band) * self.stride
        self.total = self.factor + self.size + self.stride + lanes


class _Problem:
    """Writes the solution of one problem."""

    def __init__(self, matrices: Matrices, b: Builder) -> None:
        self.matrices, self.b, self.scalar = matrices, b, matrices.scalar
        self.plan, memory, self.p = b.arguments
        self.lanes = matrices.w.lanes
        self.room = r = _Room(self.plan, self.lanes)
        self.memory, self.L = memory, memory.of(self.scalar)
        self.x = self.L.at(r.factor).of(self.scalar)
        self.sum = entry_alloca(b, matrices.vector)

    def array(self, field: BandSolverPlan, size: Any) -> Any:
        """This problem's part of an array."""
        return self.plan.of(PTR)[integer(field)].of(self.scalar).at(self.p * size).of(self.scalar)

    def write(self) -> None:
        b, r = self.b, self.room
        with loop(b, 0, r.total - self.lanes, self.lanes) as i:  # the last vector may overlap
            self.matrices.store(b, ir.Constant(self.matrices.vector, None), self.L.at(i))
        self.read()
        self.factorise()
        self.substitute()
        found = self.array(BandSolverPlan.SOLUTION, r.size)
        b.call(self.matrices.copy, [self.x.start, found.start, r.size])
        self.array(BandSolverPlan.GOOD, integer(1))[integer(0)] = self.matrices.number(1.0)
        b.ret_void()

    def read(self) -> None:
        """Blocks as columns, with the shift on the diagonal; and the right-hand side."""
        b, r = self.b, self.room
        square = r.n * r.n
        H = self.array(BandSolverPlan.BANDS, r.blocks * r.wide * square)
        shift = self.array(BandSolverPlan.SHIFT, integer(1))[integer(0)]
        with loop(b, 0, r.blocks) as k, loop(b, 0, r.n) as c:
            column = (k * r.n + c) * r.stride
            left = r.blocks - k  # blocks below the matrix do not exist
            with loop(b, 0, b.select(left < r.wide, left, r.wide)) as d:
                block = (k * r.wide + d) * square
                first = b.select(d == 0, c, integer(0))
                with loop(b, first, r.n) as i:
                    self.L[column + d * r.n + i - c] = H[block + i * r.n + c]
            self.L[column] = b.fadd(self.L[column], shift)
        right = self.array(BandSolverPlan.RIGHT, r.size)
        b.call(self.matrices.copy, [right.start, self.x.start, r.size])

    def factorise(self) -> None:
        """L L^T; a problem with a pivot that is not positive fails."""
        b, r, m = self.b, self.room, self.matrices
        root = external(m.w.module, "llvm.sqrt.f64", self.scalar, [self.scalar])
        with loop(b, 0, r.size) as j:
            column = self.L.at(j * r.stride).of(self.scalar)
            pivot = column[integer(0)]
            with b.if_then(b.fcmp_unordered("<=", pivot, m.number(0.0)), likely=False):
                self.array(BandSolverPlan.GOOD, integer(1))[integer(0)] = m.number(0.0)
                b.ret_void()
            inverse = b.fdiv(m.number(1.0), b.call(root, [pivot]))
            spread = m.spread(b, inverse)
            with loop(b, 0, r.band, self.lanes) as i:
                place = column.at(i)
                m.store(b, b.fmul(spread, m.load(b, place)), place)
            with loop(b, 1, r.band) as i:
                target = self.L.at((j + i) * r.stride).of(self.scalar)
                self.subtract(target, column.at(i).of(self.scalar), column[i], r.band - i)

    def subtract(self, target: Any, source: Any, factor: Any, count: Any) -> None:
        """Subtract factor times some numbers; the source is padded with zeros."""
        b, m = self.b, self.matrices
        minus = m.spread(b, b.fneg(factor))
        with loop(b, 0, count, self.lanes) as i:
            place = target.at(i)
            m.store(b, m.fma(b, minus, m.load(b, source.at(i)), m.load(b, place)), place)

    def substitute(self) -> None:
        """L y = g, then L^T x = y."""
        b, r, m = self.b, self.room, self.matrices
        with loop(b, 0, r.size) as j:
            column = self.L.at(j * r.stride).of(self.scalar)
            y = b.fdiv(self.x[j], column[integer(0)])
            self.x[j] = y
            self.subtract(
                self.x.at(j + 1).of(self.scalar), column.at(1).of(self.scalar), y, r.band - 1
            )
        with loop(b, 0, r.size) as back:
            j = r.size - back - 1
            column = self.L.at(j * r.stride).of(self.scalar)
            self.sum.set(ir.Constant(m.vector, None))
            with loop(b, 1, r.band, self.lanes) as i:
                L, x = m.load(b, column.at(i)), m.load(b, self.x.at(j + i))
                self.sum.set(m.fma(b, L, x, self.sum.get()))
            total = self.x[j]
            for lane in range(self.lanes):
                total = b.fsub(total, b.extract_element(self.sum.get(), I32(lane)))
            self.x[j] = b.fdiv(total, column[integer(0)])
