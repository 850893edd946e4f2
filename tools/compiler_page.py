"""Write docs/compiler.md: one small program at each stage, from its recursion to C and CUDA.

python tools/compiler_page.py
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import kinetree as kt
from kinetree.algorithms.rnea import passes
from kinetree.compiler.emit.cuda import emit_cuda
from kinetree.compiler.emit.cuda import style as cuda_style
from kinetree.compiler.emit.llvm import Target, emit_body
from kinetree.compiler.graph.lower import lower
from kinetree.compiler.graph.lowered import (
    RESULT,
    SCRATCH,
    Instruction,
    Load,
    Lowered,
    Operand,
    Place,
    Step,
    Store,
)
from kinetree.compiler.graph.program import Program
from kinetree.compiler.runtime.cpu.bodies import style as cpu_style
from kinetree.compiler.runtime.kernel import Kernel

PAGE = Path(__file__).parents[1] / "docs/compiler.md"
TARGET = Target("double", lanes=4, fma=True)
"""A processor with AVX2, whichever runs this file: the page is the same everywhere."""

ROBOT = """\
import kinetree as kt

assembly = kt.Assembly("pendulum")
assembly.add("rod", "base", kt.joints.Revolute("y"), mass=2.0, com=[0.0, 0.0, -0.5])
pendulum = assembly.robot()
"""
"""The program of the page is made by the code that the page shows."""

TEXT = """\
# The compiler's way

One program, from the line that asks for it to the text that a compiler takes: the inverse dynamics
of a pendulum, a mass of 2 kg at 0.5 m below its axis. The program is small enough to be read whole
at each stage; those of large robots pass through the same stages.
`python tools/compiler_page.py` writes this page with the compiler itself.

## 1. The line

```python
{robot}
tau = pendulum.inverse_dynamics([0.3], [0.0], [1.0], method="rnea")
```

The first call asks for a *kernel*: a quantity of a robot, with its settings, as something that can
be called with arrays. A row of `quantities/` says which algorithm computes it, here the recursive
Newton–Euler algorithm in `algorithms/rnea.py`:

```py
{source}
```

The algorithm is written for scalars of any kind, with no word about arrays or targets. On floats it
computes; on traced scalars it writes down what it would compute. A new algorithm therefore needs no
code for any target.

## 2. The graph

First `model/prepare/` makes an equivalent model that needs less arithmetic: other body frames,
inertias moved towards the base, rounding noise removed. Then `graph/expression.py` runs the
algorithm once, on scalars that record each operation as a *node*, and `graph/fold.py` simplifies
nodes as they are made. The robot's numbers are constants, so products with 0 and 1 vanish, and so
does arithmetic between constants. An operation that was recorded before is shared. All spatial
vectors and inertias of the recursion come down to this:

```text
{graph}
```

This is τ = m g l sin q + m l² a. The velocity is an input, but no node uses it: a single joint has
no Coriolis force. Because folding happens while tracing, a graph without folding never exists,
which keeps tracing of large robots fast.

Every question about a program is answered from this form. `graph/verify.py` checks that it is well
formed, between any two passes. `graph/interpret.py` evaluates it node by node with NumPy; tests
hold every target against it. `graph/differentiate.py` makes programs of derivatives.

## 3. The lowered program

`graph/lower.py` lists the passes from nodes to steps of loads, operations and stores. A target says
in a `Style` which of them it wants. Here the target is a processor with vectors of {lanes} doubles
that multiplies and adds in one instruction.

```text
{lowered}
```

- *Fuse* (`graph/fuse.py`): a product that is only added becomes part of a fused multiply-add, which
  saves an instruction and a rounding.
- *Schedule* (`graph/schedule.py`): angles are collected, so that one routine computes the sines and
  cosines of several at once, with vector instructions even for a single state. Arithmetic is cut
  into steps, because a compiler's time grows faster than the length of a function.
- *Areas* (`graph/areas.py`): a value that outlives its step gets a place in the scratch memory.
  Each distinct result gets one place, even where a matrix has it twice.

A target only prints the result.

## 4. LLVM IR

`emit/llvm.py` prints each step as a function, by a table from operations to instructions. There are
two bodies: one for a single state, and the one below, in which each value is a vector of {lanes},
one for each of {lanes} states. The constants are the bits of the doubles 0.5 and 9.81.

```llvm
{llvm}
```

LLVM's code generator makes machine code of it, which is kept on the disk for the next process. The
loop over batches and the threads around it (`compiler/native/`) are compiled once for all kernels.
`kernel.source("llvm")` gives the text for the processor at hand.

## 5. C

`emit/c.py` prints the steps as C99 for one state. Its `Style` leaves products and sums for the C
compiler to fuse. The file begins with the routine for sines and cosines, which is left out here.
`kernel.source("c")` gives all of it, `kernel.c_code()` the files of a project
([firmware.md](firmware.md)).

```c
{c}
```

## 6. CUDA

On a GPU each thread computes one state. The threads of a block load and store the rows of their
states together, through shared memory, so that neighbouring threads access neighbouring addresses.
`emit/cuda_body.py` prints the arithmetic, `emit/cuda.py` the kernel around it. The lowering makes
one step of everything, and puts nodes into the order that keeps few values alive
(`graph/narrow.py`), because a thread has few registers. The function of a thread:

```c
{cuda}
```

[gpu.md](gpu.md) says how such kernels are called.

## 7. Branches and iterations

A traced algorithm cannot branch on a value. `scalar.select(a < b, x, y)` computes both sides and
chooses. Where that is too much, `scalar.call_if(condition, function, ..., otherwise=...)` means the
same, but the function becomes a routine (`graph/guarded.py`), which is compiled once and runs only
if the condition holds in one of the states that are computed side by side. So iterations end when
all those states have converged:

```python
from kinetree.compiler.graph import trace
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.scalar import absolute, call_if, less, stop_gradient


def newton(x, a):
    return 0.5 * (x + a / x)


def square_root(a):
    x = 0.5 * (a[0] + 1.0)
    for _ in range(30):
        going = less(1e-9 * a[0], absolute(x * x - a[0]))
        x = call_if(going, newton, x, a[0], otherwise=x)
    x = stop_gradient(x)
    return {{"x": x - (x * x - a[0]) / stop_gradient(2.0 * x)}}


program = trace("square_root", square_root, {{"a": (1,)}})
assert len(program.functions) == 1
root = Kernel(None, lambda: program)
assert abs(root([2.0]) - 2.0**0.5) < 1e-12
assert abs(root.jacobian("a")([2.0])[0] - 0.5 / 2.0**0.5) < 1e-9
```

The function has to be one object, here `newton`, or it is traced again for each call. It may use
`call_if` itself. Results take the place of `otherwise` in memory if nothing else needs that, so a
call that is not made copies nothing (`graph/guard_slots.py`); a result that the function returns as
it was given costs nothing either way. A condition that is known while tracing folds.

The last two lines of `square_root` differentiate it implicitly. `stop_gradient` has its argument's
value, and derivatives take it as a constant. So they pass through one more Newton step alone, at
the solution, which gives the first derivatives of the equation that is solved; the iterations
before it stay guarded calls in the program of a derivative. Second derivatives are not those of the
equation, because the slope is stopped as well. Derivatives that do pass through a guarded call go
through selects. CasADi's own derivatives of SX know no stop, and neither does a complex step.
"""


def kernel() -> Kernel:
    """The kernel of the page."""
    known: dict[str, kt.Robot] = {}
    exec(ROBOT, known)
    return known["pendulum"].kernel("inverse_dynamics", "rnea")


def page() -> str:
    """The page."""
    asked = kernel()
    traced = asked.program
    wide = lower(traced, cpu_style(TARGET, TARGET.lanes))
    (llvm,) = emit_body(wide, "wide", TARGET, TARGET.lanes)
    cuda = emit_cuda(lower(traced, cuda_style("double")), traced.name)
    return TEXT.format(
        robot=ROBOT.rstrip(),
        source=inspect.getsource(passes).rstrip(),
        lanes=TARGET.lanes,
        graph=graph_text(traced),
        lowered=lowered_text(wide),
        llvm=functions(llvm, r"define void @wide\.\d"),
        c=functions(asked.source("c"), r"(?:APART static )?void inverse_dynamics(?:_step_\d)?\("),
        cuda=functions(cuda, r"DEVICE void inverse_dynamics_compute"),
    )


def functions(text: str, head: str) -> str:
    """The functions of a text whose first lines begin so."""
    found = re.findall(rf"^{head}.*?^}}$", text, re.MULTILINE | re.DOTALL)
    return "\n\n".join(found)


def graph_text(traced: Program) -> str:
    """A program, a node a line."""
    lines = []
    for n, node in enumerate(traced.nodes):
        if node.op == "input":
            position, element = node.value
            what = f"{traced.inputs[position].name}[{element}]"
        elif node.op == "const":
            what = repr(node.value)
        else:
            what = f"{node.op}({', '.join(f'n{a}' for a in node.args)})"
        lines.append(f"n{n} = {what}")
    for output in traced.outputs:
        lines += [f"{output.name}[{k}] = n{n}" for k, n in enumerate(output.nodes)]
    return "\n".join(lines)


def lowered_text(lowered: Lowered) -> str:
    """A lowered program, an instruction a line."""
    return "\n".join(
        line for k, step in enumerate(lowered.steps) for line in _step(lowered, k, step)
    )


def _step(lowered: Lowered, number: int, step: Step) -> list[str]:
    lines = [f"step {number}", *(f"  {_instruction(lowered, x)}" for x in step.code)]
    if step.call is not None:
        routine, arguments, results, length = step.call
        lines.append(
            f"  call {routine} with scratch[{arguments}:{arguments + length}], "
            f"results from scratch[{results}] on"
        )
    return lines


def _instruction(lowered: Lowered, instruction: Instruction) -> str:
    if isinstance(instruction, Load):
        return f"r{instruction.register} = load {_place(lowered, instruction.place)}"
    if isinstance(instruction, Store):
        return f"store {_operand(instruction.value)} to {_place(lowered, instruction.place)}"
    arguments = ", ".join(map(_operand, instruction.args))
    return f"r{instruction.register} = {instruction.op}({arguments})"


def _operand(operand: Operand) -> str:
    return f"r{operand}" if isinstance(operand, int) else repr(operand)


def _place(lowered: Lowered, place: Place) -> str:
    areas = {SCRATCH: "scratch", RESULT: "result"}
    area = areas.get(place.area) or lowered.inputs[place.area].name
    return f"{area}[{place.element}]"


if __name__ == "__main__":
    PAGE.write_text(page())
