"""From a request to a program: a quantity of a robot, traced by the method that is asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from kinetree import algorithms
from kinetree.errors import SingularModelError
from kinetree.graph import Program, TooLongError, trace
from kinetree.graph.differentiate import Chart
from kinetree.loads import Load, load, size
from kinetree.loads import Point as Point
from kinetree.model import Model
from kinetree.model.parameters import Parameter, with_numbers
from kinetree.model.prepare import Preparation, prepared
from kinetree.quantities import QUANTITIES, Derived, Method, plain


class Request(NamedTuple):
    """What a kernel is asked for.

    method: the name of one; empty for the cheapest.
    loads: what acts from outside, each an argument: names of frames, and keys of `loads`.
    settings: the values of the quantity's settings, in their order.
    """

    quantity: str
    method: str
    loads: tuple[str | Load, ...]
    settings: tuple[Hashable, ...]


WASTE = 1.3
"""How many nodes may be traced for each operation of the cheapest program so far."""
EMPTY = {"poses": (0, 4, 4), "velocities": (0, 6)}
"""The shapes of results that have a row for each body, where there is none."""


class Tracer:
    """Traces quantities of one robot.

    Arguments:
        model: the robot.
        parameters: numbers of the model that programs take as one more argument, "p", their last.
    """

    def __init__(self, model: Model, parameters: Sequence[Parameter] = ()) -> None:
        self.model, self.parameters = model, tuple(parameters)

    @property
    def charts(self) -> dict[str, Chart]:
        """The directions of arguments that are configurations, where they are not coordinates."""
        names = ("q", "q0", "q1") if self.model.nq != self.model.nv else ()
        return dict.fromkeys(names, partial(_directions, self.model))

    def program(self, request: Request) -> Program:
        """The program of a quantity, by the method that is asked for or by the cheapest."""
        methods = QUANTITIES[request.quantity].methods
        if request.method in methods:
            return self._by_method(request, math.inf)
        best: Program | None = None
        for name in methods:
            limit = math.inf if best is None else WASTE * best.cost
            try:
                found = self._by_method(request._replace(method=name), limit)
            except TooLongError:
                continue
            if best is None or found.cost < best.cost:
                best = found
        assert best is not None
        return best

    def method(self, quantity: str) -> str:
        """The default method of a quantity: the first that takes the robot's joints.

        Empty, if it is yet to be found which of them is the cheapest.
        """
        row = QUANTITIES[quantity]
        mimics = any(body.follows is not None for body in self.model.bodies)
        valid = [name for name, how in row.methods.items() if how.mimics or not mimics]
        return "" if row.cheapest else valid[0]

    def own(self, name: str, algorithm: Callable[..., Any], shapes: Mapping[str, int]) -> Program:
        """The program of an algorithm that is in no table.

        Arguments:
            name: for messages.
            algorithm: takes the model and the arguments, gives one result.
            shapes: the lengths of the arguments.
        """
        model = prepared(self.model, Preparation.FRAMES)

        def function(*arrays: Any) -> dict[str, Any]:
            return {name: plain(algorithm(model, *arrays))}

        return trace(name, function, {key: (n,) for key, n in shapes.items()})

    def _by_method(self, request: Request, limit: float) -> Program:
        """Trace a quantity by one method, with at most so many nodes."""
        method = QUANTITIES[request.quantity].methods[request.method]
        if isinstance(method, Derived):
            inner = request._replace(quantity=method.quantity, method=self.method(method.quantity))
            found = method.build(self.program(inner), self.charts, limit=limit)
        else:
            ways = [x for x in (method.algorithm, method.alternative) if x is not None]
            programs = [self._traced(request, method, way, limit) for way in ways]
            found = min(programs, key=lambda program: program.cost)
        return replace(found, name=request.quantity, method=request.method)

    def _traced(
        self, request: Request, method: Method, algorithm: Callable[..., Any], limit: float
    ) -> Program:
        """Trace an algorithm."""
        row = QUANTITIES[request.quantity]
        # numbers that are arguments belong to bodies and joints as they are
        preparation = Preparation.NOTHING if self.parameters else method.preparation
        model = prepared(self.model, preparation)
        shapes = {name: kind.shape(model) for name, kind in row.arguments}
        count = len(shapes)
        shapes |= {f"external[{key!r}]": (size(key),) for key in request.loads}
        numbers = sum(len(parameter.labels) for parameter in self.parameters)
        shapes |= {"p": (numbers,)} if numbers else {}

        def function(*arrays: Any) -> dict[str, Any]:
            arguments, acting = arrays[:count], arrays[count : count + len(request.loads)]
            loads = [load(*pair) for pair in zip(request.loads, acting, strict=True)]
            more = (loads,) if row.loads else ()
            given = with_numbers(model, self.parameters, arrays[-1]) if numbers else model
            found = algorithm(given, *arguments, *more, *request.settings)
            parts = found if len(row.results) > 1 else (found,)
            return {name: plain(part) for name, part in zip(row.results, parts, strict=True)}

        try:
            return _with_empty_shapes(trace(request.quantity, function, shapes, limit))
        except ZeroDivisionError:
            raise SingularModelError(
                f"{request.quantity} of robot {self.model.name!r} has no answer: it divides by a "
                "mass or an inertia that is zero"
            ) from None


def _with_empty_shapes(program: Program) -> Program:
    outputs = [
        o._replace(shape=EMPTY[o.name]) if o.shape == (0,) and o.name in EMPTY else o
        for o in program.outputs
    ]
    return replace(program, outputs=tuple(outputs))


def _directions(model: Model, q: Sequence[Any]) -> list[list[Any]]:
    """The rate of q at each unit velocity."""
    units = [[1.0 if i == k else 0.0 for i in range(model.nv)] for k in range(model.nv)]
    return [algorithms.coordinate_rates(model, q, unit) for unit in units]
