"""The loop over time of a robot under a controller: forward, along a direction, and in reverse.

All three are `runtime.time_loop.TimeLoop`s. The state carries the number of steps, because
a sum of times would lose digits, and when the motion ceased to be finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from kinetree.compiler.graph import Program, trace
from kinetree.compiler.graph.differentiate import jvp, vjp
from kinetree.compiler.graph.evaluate import values
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.compiler.runtime.time_loop import TimeLoop
from kinetree.model import Model
from kinetree.scalar import Scalar, absolute, less, less_equal, logical_and, logical_not, select
from kinetree.simulate.closed_loop import ClosedLoop

HUGE = 1e30
"""States beyond this count as diverged; it fits single precision."""
NEVER = -1.0
"""Marks a system that has not diverged."""


def forward_loop(loop: ClosedLoop, series: bool, watched: bool) -> TimeLoop:
    """Step after step.

    States: count, q, v, (memory), ended. Constants: dt, (p), (numbers). Series: p, if it is one.

    Arguments:
        series: whether p has a value for each step.
        watched: whether what is recorded is computed at each step, besides q and v.
    """
    order = _order(loop, series)

    def roll(model: Model, *arguments: Any) -> dict[str, Any]:
        given = dict(zip(order, arguments, strict=True))
        t = given["count"] * given["dt"]
        state = [t if name == "t" else given[name] for name in loop.lengths]
        found = loop.advance(model, *state, given["dt"])
        seen = loop.observe(model, *state) if watched else {}
        seen.pop("memory", None)  # recorded as the state it is
        after = t + given["dt"]
        ended = _when_ended([*found["q"], *found["v"]], given["ended"], after)
        return (
            {"next_count": given["count"] + 1.0}
            | {f"next_{name}": value for name, value in (found | {"ended": ended}).items()}
            | seen
        )

    kernel = loop.robot.custom_kernel(roll, order, "rollout")
    return TimeLoop(kernel, states=_states(loop), series=int(series))


def _order(loop: ClosedLoop, series: bool) -> dict[str, int | None]:
    lengths = dict(loop.lengths)
    order: dict[str, int | None] = {"count": None, "q": lengths["q"], "v": lengths["v"]}
    order |= {"memory": lengths["memory"]} if "memory" in lengths else {}
    order |= {"ended": None, "dt": None}
    order |= {name: lengths[name] for name in ("p", "numbers") if name in lengths}
    if series and "p" in order:
        order["p"] = order.pop("p")  # last
    return order


def _states(loop: ClosedLoop) -> int:
    return 5 if "memory" in loop.lengths else 4


def _when_ended(numbers: Sequence[Scalar], ended: Scalar, t: Scalar) -> Scalar:
    """The time at which the motion diverged, if it did."""
    fine = less_equal(absolute(numbers[0]), HUGE)
    for x in numbers[1:]:
        fine = logical_and(fine, less_equal(absolute(x), HUGE))
    return select(logical_and(logical_not(fine), less(ended, 0.0)), t, ended)


def along_loop(loop: ClosedLoop) -> TimeLoop:
    """The rates of states along a direction.

    States: those of q, v, (memory). Constants: the rates of (p), (numbers). Series: t, q, v,
    (memory), dt, (p), (numbers), as they are at each step.
    """
    program = jvp(loop.step_kernel.program, {})
    names = list(loop.step_kernel.interface.inputs)
    moving = _moving(loop)
    order = {f"d{name}": dict(names)[name] for name in moving}
    order |= dict(names)

    def function(*arrays: list[Any]) -> dict[str, Any]:
        given = dict(zip(order, arrays, strict=True))
        rates = [given.get(f"d{name}", [0.0] * _count(shape)) for name, shape in names]
        found = _results(program, [*(given[name] for name, _ in names), *rates])
        return {f"next_d{name}": found[f"d{name}"] for name in _carried(loop)}

    program_of_step = partial(trace, "sensitivity", function, order)
    return TimeLoop(Kernel(None, program_of_step), len(_carried(loop)), series=len(names))


def reverse_loop(loop: ClosedLoop, series: bool) -> TimeLoop:
    """The weights of states, from the last step to the first.

    States: the weights of q, v, (memory), and the gradients by constants (p), (numbers), summed up.
    Series: t, q, v, (memory), dt, (p), (numbers) at each step, and the weights that q and v have
    there. Records: the gradient by p of each step, if it is a series.
    """
    moving = _moving(loop)
    program = vjp(loop.step_kernel.program, {}, moving)
    inputs = dict(loop.step_kernel.interface.inputs)
    carried = _carried(loop)
    summed = [name for name in moving if name not in carried and not (series and name == "p")]
    order: dict[str, tuple[int, ...]] = {f"weight_{name}": inputs[name] for name in carried}
    order |= {f"sum_{name}": inputs[name] for name in summed}
    order |= inputs
    order |= {f"given_{name}": inputs[name] for name in ("q", "v")}

    def function(*arrays: list[Any]) -> dict[str, Any]:
        given = dict(zip(order, arrays, strict=True))
        weights = [given[f"weight_{name}"] for name in carried]
        found = _results(program, [*(given[name] for name in inputs), *weights])
        results = {}
        for name in carried:
            own = given.get(f"given_{name}", [0.0] * _count(inputs[name]))
            results[f"next_weight_{name}"] = _sum(found[f"d{name}"], own)
        for name in summed:
            results[f"next_sum_{name}"] = _sum(found[f"d{name}"], given[f"sum_{name}"])
        return results | ({"p_gradient": found["dp"]} if series and "p" in inputs else {})

    program_of_step = partial(trace, "gradient", function, order)
    count = len(inputs) + 2
    return TimeLoop(Kernel(None, program_of_step), len(carried) + len(summed), series=count)


def _moving(loop: ClosedLoop) -> tuple[str, ...]:
    """The arguments of a step that derivatives are by."""
    return tuple(name for name in loop.lengths if name != "t")


def _carried(loop: ClosedLoop) -> tuple[str, ...]:
    """Those that a step changes."""
    return tuple(name for name in ("q", "v", "memory") if name in loop.lengths)


def _results(program: Program, arguments: Sequence[Sequence[Any]]) -> dict[str, Any]:
    found = values(program, arguments)
    return {o.name: [found[n] for n in o.nodes] for o in program.outputs}


def _sum(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    return [x + y for x, y in zip(a, b, strict=True)]


def _count(shape: tuple[int, ...]) -> int:
    total = 1
    for n in shape:
        total *= n
    return total
