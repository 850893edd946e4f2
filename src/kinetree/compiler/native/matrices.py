"""Small matrices of any size as LLVM IR: functions that other functions of a module call.

Rows have room for whole vectors, so that products have no remainder.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from kinetree.compiler.native.ir import (
    I32,
    I64,
    PTR,
    VOID,
    Builder,
    Elements,
    Writer,
    entry_alloca,
    external,
    loop,
)

ROWS = 8
"""Rows of a product that are accumulated at once, to hide the latency of an FMA."""


class Matrices:
    """Functions of a module for vectors and matrices of numbers of one kind."""

    def __init__(self, w: Writer) -> None:
        self.w, self.scalar, self.vector = w, w.scalar, w.vector
        self.copy = self._define_copy()
        self.add_rows = self._define_add_rows()
        self.multiply = self._define_multiply()
        self.solve = self._define_solve()

    # numbers and vectors

    def number(self, x: float) -> ir.Constant:
        """A constant."""
        return ir.Constant(self.scalar, x)

    def spread(self, b: Builder, x: Any) -> Any:
        """A vector of equal lanes."""
        empty = ir.Constant(self.vector, ir.Undefined)
        first = b.insert_element(empty, x, I32(0))
        return b.shuffle_vector(first, empty, ir.Constant(ir.VectorType(I32, self.w.lanes), None))

    def fma(self, b: Builder, x: Any, y: Any, z: Any) -> Any:
        if not self.w.target.fma:
            return b.fadd(b.fmul(x, y), z)
        kind = "f64" if self.w.target.type == "double" else "f32"
        shape = f"v{self.w.lanes}{kind}" if x.type == self.vector else kind
        return b.call(external(self.w.module, f"llvm.fma.{shape}", x.type, [x.type] * 3), [x, y, z])

    def load(self, b: Builder, place: Any) -> Any:
        return b.load(place, typ=self.vector, align=self.w.item)

    def store(self, b: Builder, value: Any, place: Any) -> None:
        b.store(value, place, align=self.w.item)

    def _first_lanes(self, b: Builder, count: Any) -> Any:
        """A mask of the first `count` lanes."""
        lanes = ir.VectorType(I64, self.w.lanes)
        numbers = ir.Constant(lanes, list(range(self.w.lanes)))
        empty = ir.Constant(lanes, ir.Undefined)
        limit = b.shuffle_vector(
            b.insert_element(empty, count, I32(0)),
            empty,
            ir.Constant(ir.VectorType(I32, self.w.lanes), None),
        )
        return b.icmp_signed("<", numbers, limit)

    def _masked(self, what: str) -> str:
        kind = "f64" if self.w.target.type == "double" else "f32"
        return f"llvm.masked.{what}.v{self.w.lanes}{kind}.p0"

    def load_some(self, b: Builder, place: Any, mask: Any) -> Any:
        """The elements of a mask, zeros elsewhere; only these are read."""
        types = [PTR, I32, mask.type, self.vector]
        load = external(self.w.module, self._masked("load"), self.vector, types)
        return b.call(load, [place, I32(self.w.item), mask, ir.Constant(self.vector, None)])

    def store_some(self, b: Builder, value: Any, place: Any, mask: Any) -> None:
        types = [self.vector, PTR, I32, mask.type]
        store = external(self.w.module, self._masked("store"), VOID, types)
        b.call(store, [value, place, I32(self.w.item), mask])

    # matrix routines; counts are in elements, multiples of the lanes for whole vectors

    def _define_copy(self) -> ir.Function:
        """copy(source, target, count): a row of any length."""
        b = self.w.internal("copy_numbers", [PTR, PTR, I64])
        source, target, count = b.arguments
        whole = count - count % self.w.lanes
        with loop(b, 0, whole, self.w.lanes) as i:
            value = self.load(b, source.of(self.scalar).at(i))
            self.store(b, value, target.of(self.scalar).at(i))
        with b.if_then(whole < count):
            mask = self._first_lanes(b, count - whole)
            value = self.load_some(b, source.of(self.scalar).at(whole), mask)
            self.store_some(b, value, target.of(self.scalar).at(whole), mask)
        b.ret_void()
        return b.function

    def _define_add_rows(self) -> ir.Function:
        """add_rows(sum, weights, M, stride, rows, count): sum += weights . M."""
        b = self.w.internal("add_rows", [PTR, PTR, PTR, I64, I64, I64])
        sums, weights, M, stride, rows, count = b.arguments
        with loop(b, 0, count, self.w.lanes) as j:
            place = sums.of(self.scalar).at(j)
            total = entry_alloca(b, self.vector)
            total.set(self.load(b, place))
            with loop(b, 0, rows) as i:
                row = self.load(b, M.of(self.scalar).at(i * stride + j))
                weight = self.spread(b, weights.of(self.scalar)[i])
                total.set(self.fma(b, weight, row, total.get()))
            self.store(b, total.get(), place)
        b.ret_void()
        return b.function

    def _define_multiply(self) -> ir.Function:
        """multiply(C, A, B, stride of C and B, stride of A, m, n, k, lower): C += A^T B.

        m and n are multiples of ROWS. If `lower` is 1, C is symmetric, and only tiles on and below
        its diagonal are computed.
        """
        b = self.w.internal("multiply", [PTR, PTR, PTR, I64, I64, I64, I64, I64, I64])
        C, A, B, stride, stride_a, m, n, count, lower = b.arguments
        sums = [entry_alloca(b, self.vector) for _ in range(ROWS)]
        columns = entry_alloca(b, I64)
        with loop(b, 0, m, ROWS) as i:
            columns.set(b.select(lower != 0, i + ROWS, n))
            self._multiply_rows(b, sums, C, A, B, stride, stride_a, i, columns.get(), count)
        b.ret_void()
        return b.function

    def _multiply_rows(
        self, b: Builder, sums: list[Any], C: Any, A: Any, B: Any, stride: Any, stride_a: Any,
        i: Any, n: Any, count: Any,
    ) -> None:  # fmt: skip
        """ROWS rows of C from row i on, n columns."""
        with loop(b, 0, n, self.w.lanes) as j:
            places = [C.of(self.scalar).at((i + r) * stride + j) for r in range(ROWS)]
            for total, place in zip(sums, places, strict=True):
                total.set(self.load(b, place))
            with loop(b, 0, count) as k:
                row = self.load(b, B.of(self.scalar).at(k * stride + j))
                column = A.of(self.scalar).at(k * stride_a + i)
                for r, total in enumerate(sums):
                    factor = self.spread(b, column.of(self.scalar)[r])
                    total.set(self.fma(b, factor, row, total.get()))
            for total, place in zip(sums, places, strict=True):
                self.store(b, total.get(), place)

    def _define_solve(self) -> ir.Function:
        """solve(rows, n, head, width): [M X] becomes [., M^-1 X], X starting at column head.

        M is symmetric, n rows of `width` elements. Returns 1 if it is not positive.
        """
        b = self.w.internal("solve_rows", [PTR, I64, I64, I64], I32)
        M, n, head, width = b.arguments
        entries = M.of(self.scalar)
        with loop(b, 0, n) as j:
            pivot = entries[j * width + j]
            with b.if_then(b.fcmp_unordered("<=", pivot, self.number(0.0))):
                b.ret(I32(1))
            inverse = b.fdiv(self.number(1.0), pivot)
            with loop(b, j + 1, n) as i:
                factor = b.fmul(entries[i * width + j], inverse)
                self._subtract_row(b, entries, i, j, factor, j - j % self.w.lanes, width)
        with loop(b, 0, n) as back:
            j = n - back - 1
            inverse = self.spread(b, b.fdiv(self.number(1.0), entries[j * width + j]))
            with loop(b, head, width, self.w.lanes) as c:
                place = entries.at(j * width + c)
                self.store(b, b.fmul(inverse, self.load(b, place)), place)
            with loop(b, 0, j) as i:
                self._subtract_row(b, entries, i, j, entries[i * width + j], head, width)
        b.ret(I32(0))
        return b.function

    def _subtract_row(
        self, b: Builder, entries: Elements, i: Any, j: Any, factor: Any, start: Any, width: Any
    ) -> None:
        """Subtract factor times row j from row i, from column start on."""
        minus = self.spread(b, b.fneg(factor))
        with loop(b, start, width, self.w.lanes) as c:
            place = entries.at(i * width + c)
            row = self.load(b, entries.at(j * width + c))
            self.store(b, self.fma(b, minus, row, self.load(b, place)), place)
