"""The backward pass of differential dynamic programming, as LLVM IR, on vectors of columns.

    i32 kinetree_riccati(i64 *plan, i64 problems)

runs the Riccati recursion of each problem from its last step to its first, over matrices of any
size; `plan` is laid out by `RiccatiPlan`. Returns 0, or 1 if there was no memory.

    symbol   code      meaning
    [A B]    W         derivatives of a step by state and control, nx rows
    Q        H, g      second derivatives and gradient by both, nz = nx + nu of them
    V        S, s      those of the value by the state
    k, K     k, K      feedforward and feedback

The equations are those of `kinetree.motion.backward`, which defines the results. Rows are padded to
whole vectors, so no product has a remainder. The padding reaches no result.
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
from kinetree.compiler.native.layout import RiccatiPlan, RiccatiSums
from kinetree.compiler.native.matrices import ROWS, Matrices
from kinetree.compiler.native.memory import memory
from kinetree.compiler.native.riccati_euler import expand_euler
from kinetree.compiler.native.riccati_room import RiccatiRoom
from kinetree.compiler.native.thread_pool import define_over_problems


def define_riccati(w: Writer) -> None:
    """Add the function to a module."""
    Riccati(w).define()


class Riccati(Matrices):
    """The functions of the recursion."""

    def __init__(self, w: Writer) -> None:
        super().__init__(w)
        self.one = self._define_problem()

    def _define_problem(self) -> ir.Function:
        """problem(plan, room, p): the whole recursion of problem p; room is zeros."""
        b = self.w.internal("riccati_problem", [PTR, PTR, I64])
        RiccatiProblem(self, b).write()
        return b.function

    def define(self) -> None:
        """Add the loop over problems, on all threads."""
        w = self.w
        b = w.internal("run_riccati", [PTR, PTR, PTR, PTR, PTR, I64, I64, I64], I32)
        plan, *_, begin, end, _n = b.arguments
        room = _Room(plan)
        with memory(w, b, room.total) as start:
            zeros = ir.Constant(self.vector, None)
            with loop(b, 0, room.total, w.lanes) as i:
                self.store(b, zeros, start.of(self.scalar).at(i))
            with loop(b, begin, end) as p:
                b.call(self.one, [plan, start, p])
        define_over_problems(w, "riccati", b.function)


class _Room(RiccatiRoom):
    """The offsets of a problem's matrices, in elements.

    Vectors beyond the last row of a matrix read the zeros at both ends.
    """

    def __init__(self, plan: Any) -> None:
        super().__init__(plan, tile=ROWS, right=ROWS)
        self.place({"zeros before": self.z, **self.shared})
        self.place({"M": self.u * self.u, "held": self.u, "zeros behind": self.z})


class RiccatiProblem:
    """Writes the recursion of one problem."""

    def __init__(self, matrices: Matrices, b: Builder) -> None:
        self.matrices, self.b, self.scalar = matrices, b, matrices.scalar
        plan, memory, self.p = b.arguments
        self.plan, self.room = plan, _Room(plan)
        self.matrix = {
            name: memory.of(self.scalar).at(start) for name, start in self.room.starts.items()
        }
        self.steps = plan[RiccatiPlan.STEPS]

    def at(self, name: str, index: Any) -> Any:
        """The place of an element."""
        return self.matrix[name].of(self.scalar).at(index)

    def get(self, name: str, index: Any) -> Any:
        return self.matrix[name].of(self.scalar)[index]

    def of_problem(self, field: RiccatiPlan, size: Any) -> Any:
        """This problem's part of an array of the plan."""
        return self.plan.of(PTR)[field].of(self.scalar).at(self.p * size)

    def copy_rows(
        self, source: Any, step: Any, target: Any, stride: Any, rows: Any, n: Any
    ) -> None:
        with loop(self.b, 0, rows) as i:
            row = source.of(self.scalar).at(i * step)
            self.b.call(self.matrices.copy, [row, target.of(self.scalar).at(i * stride), n])

    def write(self) -> None:
        b, r = self.b, self.room
        hessian = self.of_problem(RiccatiPlan.SECOND, r.nx * r.nx)
        self.copy_rows(hessian, r.nx, self.matrix["S"], r.x, r.nx, r.nx)
        gradient = self.of_problem(RiccatiPlan.LAST, r.nx)
        b.call(self.matrices.copy, [gradient, self.matrix["s"], r.nx])
        self.sums = self.of_problem(RiccatiPlan.SUMS, integer(RiccatiSums.FIELDS)).of(self.scalar)
        for i in range(RiccatiSums.FIELDS):
            self.sums[integer(i)] = self.matrices.number(0.0)
        self.damping = self.of_problem(RiccatiPlan.DAMPING, integer(1)).of(self.scalar)[integer(0)]
        with loop(b, 0, self.steps) as back:
            self.step(self.p * self.steps + (self.steps - back - 1))
        b.ret_void()

    def step(self, t: Any) -> None:
        """One step; t counts the steps of all problems."""
        self.t = t
        with self.b.if_then(self.plan[RiccatiPlan.GAPS] != 0):
            self.close()
        self.expand()
        self.regularise()
        self.feedforward()
        self.bound()
        self.feedback()
        self.gain()
        self.value()
        self.write_gains()

    def add(self, field: RiccatiSums, value: Any) -> None:
        """Add to a sum."""
        index = integer(field)
        self.sums[index] = self.b.fadd(self.sums[index], value)

    def close(self) -> None:
        """The value's gradient at the end of the step: s + S gap."""
        b, r, m = self.b, self.room, self.matrix
        gap = self.of_step(RiccatiPlan.GAPS, r.nx)
        b.call(self.matrices.add_rows, [m["s"], gap, m["S"], r.x, r.nx, r.x])
        largest = integer(RiccatiSums.COSTATE)
        with loop(b, 0, r.nx) as i:
            s = self.get("s", i)
            self.add(RiccatiSums.CLOSING, b.fmul(s, gap.of(self.scalar)[i]))
            size = b.select(b.fcmp_ordered("<", s, self.matrices.number(0.0)), b.fneg(s), s)
            greater = b.fcmp_ordered(">", size, self.sums[largest])
            self.sums[largest] = b.select(greater, size, self.sums[largest])

    def of_step(self, field: RiccatiPlan, size: Any) -> Any:
        """This step's part of an array of the plan."""
        return self.plan.of(PTR)[field].of(self.scalar).at(self.t * size)

    def expand(self) -> None:
        """Q and its gradient: H = L + W^T S W, g = l + W^T s."""
        b, r, m = self.b, self.room, self.matrix
        hessian = self.of_step(RiccatiPlan.HESSIAN, r.nz * r.nz)
        self.copy_rows(hessian, r.nz, m["H"], r.z, r.nz, r.nz)
        b.call(self.matrices.copy, [self.of_step(RiccatiPlan.GRADIENT, r.nz), m["g"], r.nz])
        with loop(b, 0, r.x * r.z, self.matrices.w.lanes) as i:
            self.matrices.store(b, ir.Constant(self.matrices.vector, None), self.at("SW", i))
        with b.if_else(self.plan[RiccatiPlan.STEP] != 0) as (euler, other):
            with euler:
                expand_euler(self)
            with other:
                self.expand_any()
        self.mirror(self.at("H", r.nx * r.z + r.nx), r.z, r.nu)

    def expand_any(self) -> None:
        """W^T S W and W^T s of any step."""
        b, r, m = self.b, self.room, self.matrix
        derivatives = self.of_step(RiccatiPlan.W, r.nx * r.nz)
        self.copy_rows(derivatives, r.nz, m["W"], r.z, r.nx, r.nz)
        sizes = [r.z, r.x, r.x, r.z, r.nx, integer(0)]
        b.call(self.matrices.multiply, [m["SW"], m["S"], m["W"], *sizes])
        sizes = [r.z, r.z, r.z, r.z, r.nx, integer(1)]
        b.call(self.matrices.multiply, [m["H"], m["W"], m["SW"], *sizes])
        b.call(self.matrices.add_rows, [m["g"], m["s"], m["W"], r.z, r.nx, r.z])

    def mirror(self, M: Any, stride: Any, n: Any) -> None:
        """Copy the lower triangle of a matrix to the upper one."""
        entries = M.of(self.scalar)
        with loop(self.b, 0, n) as i, loop(self.b, 0, i) as j:
            entries.at(j * stride + i).set(entries[i * stride + j])

    def regularise(self) -> None:
        """M = Q_uu and damping, relative to the largest entry of Q_uu."""
        b, r = self.b, self.room
        self.copy_rows(self.at("H", r.nx * r.z + r.nx), r.z, self.matrix["M"], r.u, r.nu, r.nu)
        sizes = entry_alloca(b, self.matrices.vector)
        sizes.set(ir.Constant(self.matrices.vector, [1.0] * self.matrices.w.lanes))
        with loop(b, 0, r.nu * r.u, self.matrices.w.lanes) as i:  # the padding is zero
            entries = self.matrices.load(b, self.at("M", i))
            for signed in (entries, b.fneg(entries)):
                sizes.set(b.select(b.fcmp_ordered(">", signed, sizes.get()), signed, sizes.get()))
        largest = entry_alloca(b, self.scalar)
        largest.set(self.matrices.number(1.0))
        for lane in range(self.matrices.w.lanes):
            size = b.extract_element(sizes.get(), I32(lane))
            largest.set(b.select(b.fcmp_ordered(">", size, largest.get()), size, largest.get()))
        self.added = b.fmul(self.damping, largest.get())
        with loop(b, 0, r.nu) as i:
            place = self.at("M", i * r.u + i)
            place.set(b.fadd(place.get(self.scalar), self.added))

    def feedforward(self) -> None:
        """k = -M^-1 Q_u without bounds, and with it M^-1 Q_ux."""
        b, r = self.b, self.room
        with loop(b, 0, r.nu) as i:
            start = i * r.width
            b.call(self.matrices.copy, [self.at("M", i * r.u), self.at("rows", start), r.nu])
            across = self.at("H", (r.nx + i) * r.z)
            b.call(self.matrices.copy, [across, self.at("rows", start + r.u), r.nx])
            self.at("rows", start + r.u + r.x).set(b.fneg(self.get("g", r.nx + i)))
        self.solve()

    def solve(self) -> None:
        """Solve the system in `rows`: k is its last column; or mark the problem as failed."""
        b, r = self.b, self.room
        fault = b.call(self.matrices.solve, [self.matrix["rows"], r.nu, r.u, r.width])
        with b.if_then(fault != I32(0), likely=False):
            self.sums[integer(RiccatiSums.FAULT)] = self.matrices.number(1.0)
            b.ret_void()
        with loop(b, 0, r.nu) as i:
            self.at("k", i).set(self.get("rows", i * r.width + r.u + r.x))

    def bound(self) -> None:
        """If k crosses bounds, hold controls there until the held set is stable."""
        b, r = self.b, self.room
        with b.if_then(self.plan[RiccatiPlan.ROUNDS] > 0):
            self.low, self.up = (
                self.of_step(field, r.nu).of(self.scalar)
                for field in (RiccatiPlan.LOWER, RiccatiPlan.UPPER)
            )
            moved = entry_alloca(b, I64)  # the number of controls held or released
            moved.set(0)
            with loop(b, 0, r.nu) as i:
                self.at("held", i).set(self.matrices.number(0.0))
                k = self.get("k", i)
                crossed = b.or_(
                    b.fcmp_ordered("<", k, self.low[i]), b.fcmp_ordered(">", k, self.up[i])
                )
                moved.set(moved.get() + b.zext(crossed, I64))
            with loop(b, 0, self.plan[RiccatiPlan.ROUNDS]), b.if_then(moved.get() > 0):
                moved.set(0)
                self.clip()
                self.hold(moved)
                with b.if_then(moved.get() > 0):
                    self.free()
            self.clip()

    def clip(self) -> None:
        b = self.b
        with loop(b, 0, self.room.nu) as i:
            k, low, up = self.get("k", i), self.low[i], self.up[i]
            k = b.select(b.fcmp_ordered("<", k, low), low, k)
            self.at("k", i).set(b.select(b.fcmp_ordered(">", k, up), up, k))

    def hold(self, moved: Any) -> None:
        """Find the controls at bounds that the gradient points beyond."""
        b, r, zero = self.b, self.room, self.matrices.number(0.0)
        slope = entry_alloca(b, self.scalar)
        with loop(b, 0, r.nu) as i:
            slope.set(self.get("g", r.nx + i))
            with loop(b, 0, r.nu) as j:
                product = b.fmul(self.get("M", i * r.u + j), self.get("k", j))
                slope.set(b.fadd(slope.get(), product))
            k, push = self.get("k", i), slope.get()
            below = b.and_(b.fcmp_ordered("<=", k, self.low[i]), b.fcmp_ordered(">", push, zero))
            above = b.and_(b.fcmp_ordered(">=", k, self.up[i]), b.fcmp_ordered("<", push, zero))
            held = b.uitofp(b.or_(below, above), self.scalar)
            change = b.fcmp_ordered("!=", held, self.get("held", i))
            moved.set(moved.get() + b.zext(change, I64))
            self.at("held", i).set(held)

    def free(self) -> None:
        """Solve for the controls that are free, the others at their bounds."""
        b, r, zero, one = self.b, self.room, self.matrices.number(0.0), self.matrices.number(1.0)
        right = entry_alloca(b, self.scalar)
        with loop(b, 0, r.nu) as i:
            held = b.fcmp_ordered(">", self.get("held", i), zero)
            right.set(b.fneg(self.get("g", r.nx + i)))
            with loop(b, 0, r.nu) as j:
                entry = self.get("M", i * r.u + j)
                other = b.fcmp_ordered(">", self.get("held", j), zero)
                product = b.fmul(entry, self.get("k", j))
                right.set(b.fsub(right.get(), b.select(other, product, zero)))
                unit = b.select(i == j, one, zero)
                entry = b.select(b.or_(held, other), unit, entry)
                self.at("rows", i * r.width + j).set(entry)
            share_of_x = b.select(held, zero, one)
            with loop(b, 0, r.nx) as c:
                entry = b.fmul(share_of_x, self.get("H", (r.nx + i) * r.z + c))
                self.at("rows", i * r.width + r.u + c).set(entry)
            last = b.select(held, self.get("k", i), right.get())
            self.at("rows", i * r.width + r.u + r.x).set(last)
        self.solve()

    def feedback(self) -> None:
        """K, and T = Q_ux - d K with the damping d."""
        b, r = self.b, self.room
        zero = ir.Constant(self.matrices.vector, None)
        factor = self.matrices.spread(b, b.fneg(self.added))
        with loop(b, 0, r.nu) as i, loop(b, 0, r.x, self.matrices.w.lanes) as c:
            K = b.fsub(zero, self.matrices.load(b, self.at("rows", i * r.width + r.u + c)))
            across = self.matrices.load(b, self.at("H", (r.nx + i) * r.z + c))
            self.matrices.store(b, K, self.at("K", i * r.x + c))
            T = self.matrices.fma(b, factor, K, across)
            self.matrices.store(b, T, self.at("T", i * r.x + c))

    def gain(self) -> None:
        """r = Q_u + Q_uu k, and the predicted decrease of the feedforward."""
        b, r, m = self.b, self.room, self.matrix
        control = self.at("H", r.nx * r.z + r.nx)
        b.call(self.matrices.copy, [self.at("g", r.nx), m["r"], r.nu])
        b.call(self.matrices.add_rows, [m["r"], m["k"], control, r.z, r.nu, r.u])
        with loop(b, 0, r.nu) as i:
            k, g = self.get("k", i), self.get("g", r.nx + i)
            self.add(RiccatiSums.SLOPE, b.fmul(k, g))
            self.add(RiccatiSums.BEND, b.fmul(k, b.fsub(self.get("r", i), g)))

    def value(self) -> None:
        """The value before the step: s = Q_x + K^T r + Q_xu k, S = Q_xx + T^T K.

        (Q_uu + d) K = -Q_ux, so K^T Q_uu K + K^T Q_ux = -d K^T K.
        """
        b, r, m = self.b, self.room, self.matrix
        b.call(self.matrices.copy, [m["g"], m["s"], r.nx])
        b.call(self.matrices.add_rows, [m["s"], m["r"], m["K"], r.x, r.nu, r.x])
        across = self.at("H", r.nx * r.z)
        b.call(self.matrices.add_rows, [m["s"], m["k"], across, r.z, r.nu, r.x])
        self.copy_rows(m["H"], r.z, m["S"], r.x, r.nx, r.x)
        sizes = [r.x, r.x, r.x, r.x, r.nu, integer(1)]
        b.call(self.matrices.multiply, [m["S"], m["T"], m["K"], *sizes])
        self.mirror(m["S"], r.x, r.nx)

    def write_gains(self) -> None:
        """Copy k and K to the results."""
        r, m = self.room, self.matrix
        feedforward = self.of_step(RiccatiPlan.FEEDFORWARD, r.nu)
        self.b.call(self.matrices.copy, [m["k"], feedforward, r.nu])
        feedback = self.of_step(RiccatiPlan.FEEDBACK, r.nu * r.nx)
        self.copy_rows(m["K"], r.x, feedback, r.nx, r.nu, r.nx)
