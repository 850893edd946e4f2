"""The backward pass of differential dynamic programming for many problems, one in each lane.

    i32 kinetree_riccati_lanes(i64 *plan, i64 problems)

does the same as `riccati.py`, with the same plan, symbols and results. Every number is a vector of
as many problems as there are lanes, so that small matrices waste nothing; the last group repeats
its last problem. It has no search for controls at their bounds: if one crosses them, the sum FAULT
of its problem is 2, and the problem is left to the other function.

Cost: nx^2 nz + nx nz^2 / 2 + nu^2 nx fused multiply-adds of vectors a step, for all lanes together;
half of the first two after a step by Euler's method.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    splat,
)
from kinetree.compiler.native.layout import RiccatiPlan, RiccatiSums
from kinetree.compiler.native.memory import memory
from kinetree.compiler.native.riccati_euler import expand_euler_in_lanes
from kinetree.compiler.native.riccati_room import RiccatiRoom
from kinetree.compiler.native.thread_pool import share

TILE, ROWS = 4, 2
"""Columns and rows of a product that are accumulated at once: eight accumulators, which hide the
latency of an FMA, and six factors fit into sixteen registers."""


def define_lane_riccati(w: Writer) -> None:
    """Add the function to a module."""
    group = RiccatiGroup(w)
    b = w.internal("run_riccati_lanes", [PTR, PTR, PTR, PTR, PTR, I64, I64, I64], I32)
    plan, *_, begin, end, _n = b.arguments
    room = _Room(plan)
    problems = plan[RiccatiPlan.PROBLEMS]
    with memory(w, b, room.total * w.lanes) as start:
        with loop(b, 0, room.total) as i:
            start.of(w.vector)[i] = splat(w.vector, 0.0)
        with loop(b, begin, end) as k:
            b.call(group.function, [plan, start, k * w.lanes, problems])
    run = b.function
    b = w.public("riccati_lanes", [PTR, I64], I32)
    plan, problems = b.arguments
    groups = (problems + (w.lanes - 1)) // w.lanes
    job = [plan] * 5
    shared = share(w.module, b, run, job, groups, integer(1))
    with b.if_then(shared >= I32(0)):
        b.ret(shared)
    b.ret(b.call(run, [*job, integer(0), groups, groups]))


class _Room(RiccatiRoom):
    """The offsets of a group's matrices, in vectors."""

    def __init__(self, plan: Any) -> None:
        super().__init__(plan, tile=TILE, right=1)
        self.place({**self.shared, "sums": integer(RiccatiSums.FIELDS)})


class RiccatiGroup:
    """Writes the recursion of one group of problems."""

    def __init__(self, w: Writer) -> None:
        self.w, self.vector, self.scalar = w, w.vector, w.scalar
        self.multiply = self._define_multiply()
        self.b = b = w.internal("riccati_group", [PTR, PTR, I64, I64])
        self.function = b.function
        self.plan, room, self.first, problems = b.arguments
        self.room = _Room(self.plan)
        self.matrix = {name: room.of(self.vector).at(k) for name, k in self.room.starts.items()}
        last = problems - 1
        ahead = [self.first + lane for lane in range(w.lanes)]
        self.problem = [b.select(p < last, p, last) for p in ahead]
        self.real = [p < problems for p in ahead]
        self.steps = self.plan[RiccatiPlan.STEPS]
        self._write()

    # vectors

    def at(self, name: str, index: Any) -> Any:
        return self.matrix[name].of(self.vector).at(index)

    def get(self, name: str, index: Any) -> Any:
        return self.matrix[name].of(self.vector)[index]

    def put(self, name: str, index: Any, value: Any) -> None:
        self.at(name, index).set(value)

    def fma(self, b: Builder, x: Any, y: Any, z: Any) -> Any:
        if not self.w.target.fma:
            return b.fadd(b.fmul(x, y), z)
        kind = "f64" if self.w.target.type == "double" else "f32"
        name = f"llvm.fma.v{self.w.lanes}{kind}"
        return b.call(external(self.w.module, name, self.vector, [self.vector] * 3), [x, y, z])

    def spread(self, x: Any) -> Any:
        """A vector of equal lanes."""
        value = ir.Constant(self.vector, ir.Undefined)
        for lane in range(self.w.lanes):
            value = self.b.insert_element(value, x, I32(lane))
        return value

    def number(self, x: float) -> ir.Constant:
        return splat(self.vector, x)

    def add_to(self, name: str, index: Any, x: Any, y: Any) -> None:
        """Add a product to an element."""
        self.put(name, index, self.fma(self.b, x, y, self.get(name, index)))

    # between arrays and lanes

    def places(self, field: RiccatiPlan, size: Any, t: Any = None) -> list[Any]:
        """The addresses of each lane's part of an array of the plan, at step t if it has steps."""
        array = self.plan.of(PTR)[field].of(self.scalar)
        if t is None:
            return [array.at(p * size) for p in self.problem]
        return [array.at((p * self.steps + t) * size) for p in self.problem]

    def gathered(self, places: Sequence[Any], index: Any) -> Any:
        """A vector of one element of each lane."""
        value = ir.Constant(self.vector, ir.Undefined)
        for lane, place in enumerate(places):
            value = self.b.insert_element(value, place.of(self.scalar)[index], I32(lane))
        return value

    def scattered(self, value: Any, places: Sequence[Any], index: Any) -> None:
        """Write each lane; lanes of repeated problems write the same value again."""
        for lane, place in enumerate(places):
            place.of(self.scalar)[index] = self.b.extract_element(value, I32(lane))

    def read(
        self, field: RiccatiPlan, name: str, shape: tuple[Any, Any], stride: Any, t: Any = None,
        lower: bool = False,
    ) -> None:  # fmt: skip
        """Copy a matrix of every problem, or its lower triangle."""
        rows, columns = shape
        self.read_rows(self.places(field, columns * rows, t), name, shape, stride, lower)

    def read_rows(
        self, places: Sequence[Any], name: str, shape: tuple[Any, Any], stride: Any,
        lower: bool = False,
    ) -> None:  # fmt: skip
        """Copy rows from each lane's place."""
        rows, columns = shape
        with loop(self.b, 0, rows) as i, loop(self.b, 0, i + 1 if lower else columns) as j:
            self.put(name, i * stride + j, self.gathered(places, i * columns + j))

    # the recursion

    def _write(self) -> None:
        b, r = self.b, self.room
        one = integer(1)
        self.read(RiccatiPlan.SECOND, "S", (r.nx, r.nx), r.x)
        self.read(RiccatiPlan.LAST, "s", (one, r.nx), r.x)
        self.damping = self.gathered(self.places(RiccatiPlan.DAMPING, one), integer(0))
        for i in range(RiccatiSums.FIELDS):
            self.put("sums", integer(i), self.number(0.0))
        with loop(b, 0, self.steps) as back:
            self._step(self.steps - back - 1)
        sums = self.places(RiccatiPlan.SUMS, integer(RiccatiSums.FIELDS))
        for i in range(RiccatiSums.FIELDS):
            self.scattered(self.get("sums", integer(i)), sums, integer(i))
        b.ret_void()

    def _step(self, t: Any) -> None:
        b, one = self.b, integer(1)
        r = self.room
        with b.if_then(self.plan[RiccatiPlan.GAPS] != 0):
            self._close(t)
        self.read(RiccatiPlan.HESSIAN, "H", (r.nz, r.nz), r.z, t, lower=True)
        self.read(RiccatiPlan.GRADIENT, "g", (one, r.nz), r.z, t)
        self._expand(t)
        self._eliminate()
        self._feedback(t)
        self._value()

    def _close(self, t: Any) -> None:
        """s + S gap, and the change of the cost as the gap closes."""
        b, r = self.b, self.room
        gaps = self.places(RiccatiPlan.GAPS, r.nx, t)
        with loop(b, 0, r.nx) as j:
            gap = self.gathered(gaps, j)
            with loop(b, 0, r.nx) as i:
                self.add_to("s", i, self.get("S", j * r.x + i), gap)
        largest = integer(RiccatiSums.COSTATE)
        with loop(b, 0, r.nx) as i:
            s = self.get("s", i)
            self.add_to("sums", integer(RiccatiSums.CLOSING), s, self.gathered(gaps, i))
            self.put(
                "sums", largest, self._larger(self._larger(s, b.fneg(s)), self.get("sums", largest))
            )

    def _larger(self, x: Any, y: Any) -> Any:
        return self.b.select(self.b.fcmp_ordered(">", x, y), x, y)

    def _expand(self, t: Any) -> None:
        """Q and its gradient: H = L + W^T S W, g = l + W^T s."""
        b, r = self.b, self.room
        with loop(b, 0, r.x * r.z) as i:
            self.put("SW", i, self.number(0.0))
        with b.if_else(self.plan[RiccatiPlan.STEP] != 0) as (euler, other):
            with euler:
                expand_euler_in_lanes(self, t)
            with other:
                self._expand_any(t)

    def _expand_any(self, t: Any) -> None:
        """W^T S W and W^T s of any step."""
        b, r, m = self.b, self.room, self.matrix
        self.read(RiccatiPlan.W, "W", (r.nx, r.nz), r.z, t)
        b.call(self.multiply, [m["SW"], m["S"], m["W"], r.z, r.x, r.x, r.z, r.nx, integer(0)])
        b.call(self.multiply, [m["H"], m["W"], m["SW"], r.z, r.z, r.z, r.z, r.nx, integer(1)])
        self.pull("s", r.nx)

    def pull(self, name: str, rows: Any) -> None:
        """Add W^T times a column to g."""
        b, r = self.b, self.room
        with loop(b, 0, rows) as k:
            s = self.get(name, k)
            with loop(b, 0, r.nz) as j:
                self.add_to("g", j, s, self.get("W", k * r.z + j))

    def _eliminate(self) -> None:
        """[Q_uu + d, Q_ux, -Q_u] becomes [., M^-1 Q_ux, k]."""
        b, r = self.b, self.room
        size = entry_alloca(b, self.vector)
        size.set(self.number(1.0))
        with loop(b, 0, r.nu) as i, loop(b, 0, i + 1) as j:
            entry = self.get("H", (r.nx + i) * r.z + r.nx + j)
            self.put("rows", i * r.width + j, entry)
            self.put("rows", j * r.width + i, entry)
            size.set(self._larger(self._larger(entry, b.fneg(entry)), size.get()))
        self.added = b.fmul(self.damping, size.get())
        with loop(b, 0, r.nu) as i:
            start, diagonal = i * r.width, i * r.width + i
            self.put("rows", diagonal, b.fadd(self.get("rows", diagonal), self.added))
            with loop(b, 0, r.nx) as c:
                self.put("rows", start + r.u + c, self.get("H", (r.nx + i) * r.z + c))
            self.put("rows", start + r.u + r.x, b.fneg(self.get("g", r.nx + i)))
        with loop(b, 0, r.nu) as j:
            inverse = self._inverse_of_pivot(j)
            with loop(b, j + 1, r.nu) as i:
                factor = b.fmul(self.get("rows", i * r.width + j), inverse)
                self._subtract(i, j, factor, j)
        with loop(b, 0, r.nu) as back:
            j = r.nu - back - 1
            inverse = b.fdiv(self.number(1.0), self.get("rows", j * r.width + j))
            with loop(b, r.u, r.width) as c:
                place = j * r.width + c
                self.put("rows", place, b.fmul(inverse, self.get("rows", place)))
            with loop(b, 0, j) as i:
                self._subtract(i, j, self.get("rows", i * r.width + j), r.u)

    def _inverse_of_pivot(self, j: Any) -> Any:
        """1 / pivot j; a problem with a pivot that is not positive fails, and gets 1."""
        b, r = self.b, self.room
        place, fault = j * r.width + j, integer(RiccatiSums.FAULT)
        pivot = self.get("rows", place)
        bad = b.fcmp_unordered("<=", pivot, self.number(0.0))
        self.put("rows", place, b.select(bad, self.number(1.0), pivot))
        self.put("sums", fault, b.select(bad, self.number(1.0), self.get("sums", fault)))
        return b.fdiv(self.number(1.0), self.get("rows", place))

    def _subtract(self, i: Any, j: Any, factor: Any, start: Any) -> None:
        """Subtract factor times row j from row i, from column start on."""
        minus = self.b.fneg(factor)
        with loop(self.b, start, self.room.width) as c:
            self.add_to(
                "rows", i * self.room.width + c, minus, self.get("rows", j * self.room.width + c)
            )

    def _feedback(self, t: Any) -> None:
        """k and K, T = Q_ux - d K, r = Q_u + Q_uu k, and their predicted decrease."""
        b, r = self.b, self.room
        feedforward = self.places(RiccatiPlan.FEEDFORWARD, r.nu, t)
        feedback = self.places(RiccatiPlan.FEEDBACK, r.nu * r.nx, t)
        minus = b.fneg(self.added)
        with loop(b, 0, r.nu) as i:
            k = self.get("rows", i * r.width + r.u + r.x)
            self.put("k", i, k)
            self.scattered(k, feedforward, i)
            with loop(b, 0, r.nx) as c:
                K = b.fneg(self.get("rows", i * r.width + r.u + c))
                self.put("K", i * r.x + c, K)
                self.put(
                    "T", i * r.x + c, self.fma(b, minus, K, self.get("H", (r.nx + i) * r.z + c))
                )
                self.scattered(K, feedback, i * r.nx + c)
        self._check_bounds(t)
        with loop(b, 0, r.nu) as i:
            self.put("r", i, self.get("g", r.nx + i))
        with loop(b, 0, r.nu) as i, loop(b, 0, i + 1) as j:
            entry = self.get("H", (r.nx + i) * r.z + r.nx + j)
            self.add_to("r", i, entry, self.get("k", j))
            other = b.select(i == j, self.number(0.0), entry)
            self.add_to("r", j, other, self.get("k", i))
        with loop(b, 0, r.nu) as i:
            k, g = self.get("k", i), self.get("g", r.nx + i)
            self.add_to("sums", integer(RiccatiSums.SLOPE), k, g)
            self.add_to("sums", integer(RiccatiSums.BEND), k, b.fsub(self.get("r", i), g))

    def _check_bounds(self, t: Any) -> None:
        """Mark problems whose controls cross a bound."""
        b, r, fault = self.b, self.room, integer(RiccatiSums.FAULT)
        with b.if_then(self.plan[RiccatiPlan.ROUNDS] > 0):
            low, up = (self.places(x, r.nu, t) for x in (RiccatiPlan.LOWER, RiccatiPlan.UPPER))
            with loop(b, 0, r.nu) as i:
                k = self.get("k", i)
                below = b.fcmp_ordered("<", k, self.gathered(low, i))
                above = b.fcmp_ordered(">", k, self.gathered(up, i))
                crossed = b.select(b.or_(below, above), self.number(2.0), self.number(0.0))
                self.put("sums", fault, self._larger(crossed, self.get("sums", fault)))

    def _value(self) -> None:
        """s = Q_x + K^T r + Q_ux^T k, S = Q_xx + T^T K, both triangles."""
        b, r, m = self.b, self.room, self.matrix
        with loop(b, 0, r.nx) as c:
            self.put("s", c, self.get("g", c))
        with loop(b, 0, r.nu) as i:
            push, k = self.get("r", i), self.get("k", i)
            with loop(b, 0, r.nx) as c:
                self.add_to("s", c, push, self.get("K", i * r.x + c))
                self.add_to("s", c, k, self.get("H", (r.nx + i) * r.z + c))
        with loop(b, 0, r.nx) as i, loop(b, 0, i + 1) as j:
            self.put("S", i * r.x + j, self.get("H", i * r.z + j))
        b.call(self.multiply, [m["S"], m["T"], m["K"], r.x, r.x, r.x, r.x, r.nu, integer(1)])
        with loop(b, 0, r.nx) as i, loop(b, 0, i) as j:
            self.put("S", j * r.x + i, self.get("S", i * r.x + j))

    def _define_multiply(self) -> ir.Function:
        """multiply(C, A, B, stride of C and B, stride of A, m, n, k, lower): C += A^T B.

        m and n are multiples of TILE. If `lower` is 1, only tiles on and below the diagonal.
        """
        b = self.w.internal("multiply_lanes", [PTR, PTR, PTR, I64, I64, I64, I64, I64, I64])
        C, A, B, stride, stride_a, m, n, count, lower = b.arguments
        tile, rows = range(TILE), range(ROWS)
        sums = [[entry_alloca(b, self.vector) for _ in tile] for _ in rows]
        with loop(b, 0, m, ROWS) as i:
            columns = b.select(lower != 0, i + ROWS, n)
            with loop(b, 0, columns, TILE) as j:
                places = [
                    [C.of(self.vector).at((i + p) * stride + j + q) for q in tile] for p in rows
                ]
                for p in rows:
                    for q in tile:
                        sums[p][q].set(places[p][q].get(self.vector))
                with loop(b, 0, count) as k:
                    left = [A.of(self.vector)[k * stride_a + i + p] for p in rows]
                    right = [B.of(self.vector)[k * stride + j + q] for q in tile]
                    for p in rows:
                        for q in tile:
                            total = self.fma(b, left[p], right[q], sums[p][q].get())
                            sums[p][q].set(total)
                for p in rows:
                    for q in tile:
                        places[p][q].set(sums[p][q].get())
        b.ret_void()
        return b.function
