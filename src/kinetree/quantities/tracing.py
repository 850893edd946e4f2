"""From a request to a program: a quantity of a robot, traced by the method requested."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from kinetree import algorithms
from kinetree.compiler.graph import Program, TooLongError, trace
from kinetree.compiler.graph.differentiate import TangentMap
from kinetree.errors import SingularModelError
from kinetree.model import Model
from kinetree.model.equipment import shares_inertia
from kinetree.model.loads import Load, load, load_name, size
from kinetree.model.parameters import Parameter, with_numbers
from kinetree.model.prepare import Preparation, prepared
from kinetree.quantities import QUANTITIES, Derived, Method, plain


class Request(NamedTuple):
    """A request for a kernel.

    method: its name; empty for the cheapest.
    loads: the external loads, each an argument: names of frames, and keys of `loads`.
    settings: the values of the quantity's settings, in their order.
    """

    quantity: str
    method: str
    loads: tuple[str | Load, ...]
    settings: tuple[Hashable, ...]


WASTE = 1.3
"""How many nodes may be traced for each operation of the cheapest program so far."""
LONGEST_COMPARED = 6000
"""Operations: where a program has more, only the default method is tried. For no robot of the
benchmarks did another win there, and they take the longest to trace."""
START = 160_000
"""Nodes traced of each of several methods before any is traced further."""
EMPTY = {"poses": (0, 4, 4), "velocities": (0, 6)}
"""The shapes of results with a row for each body, for a robot without bodies."""


def _cheaper(best: Program | None, other: Callable[[float], Program]) -> Program:
    """The cheaper of a program and another, which is traced only while it may still be cheaper."""
    if best is None:
        return other(math.inf)
    try:
        found = other(WASTE * best.cost)
    except TooLongError:
        return best
    return found if found.cost < best.cost else best


def _cheapest(ways: Sequence[Callable[[float], Program]], limit: float) -> Program:
    """The cheapest of several programs: none is traced much further than the shortest is long."""
    at_most = START if len(ways) > 1 else math.inf
    while True:
        for k, way in enumerate(ways):
            with suppress(TooLongError):
                best = way(min(at_most, limit))
                for other in ways[k + 1 :]:  # those before it are longer
                    best = _cheaper(best, other)
                return best
        if at_most >= limit:
            raise TooLongError
        at_most *= 4


class Tracer:
    """Traces quantities of one robot.

    Arguments:
        model: the robot.
        parameters: numbers of the model that programs take as one more argument, "p", their last.
    """

    def __init__(self, model: Model, parameters: Sequence[Parameter] = ()) -> None:
        self.model, self.parameters = model, tuple(parameters)
        self._prepared: dict[Preparation, Model] = {}

    def prepared(self, preparation: Preparation) -> Model:
        """The robot as algorithms that allow these changes of it are traced."""
        if preparation not in self._prepared:
            self._prepared[preparation] = prepared(self.model, preparation)
        return self._prepared[preparation]

    @property
    def charts(self) -> dict[str, TangentMap]:
        """The directions along which configurations are differentiated, if q is no vector."""
        names = ("q", "q0", "q1") if self.model.nq != self.model.nv else ()
        return dict.fromkeys(names, partial(_directions, self.model))

    def program(self, request: Request) -> Program:
        """The program of a quantity, by the method requested or by the cheapest."""
        methods = QUANTITIES[request.quantity].methods
        if request.method in methods:
            return self._by_method(request, math.inf)
        best: Program | None = None
        for name in self.supported(request.quantity):
            if best is not None and best.cost > LONGEST_COMPARED:
                break
            best = _cheaper(best, partial(self._by_method, request._replace(method=name)))
        assert best is not None
        return best

    def method(self, quantity: str) -> str:
        """The default method of a quantity: the first that supports the robot's joints.

        Empty if the cheapest is still to be determined.
        """
        row = QUANTITIES[quantity]
        if row.preferred is not None:
            return row.preferred(self.model)
        return "" if row.cheapest else self.supported(quantity)[0]

    def supported(self, quantity: str) -> list[str]:
        """The methods of a quantity that support the robot's joints, constraints and contacts."""
        mimics = shares_inertia(self.model)
        closed, touching = bool(self.model.constraints), bool(self.model.contacts)
        return [
            name
            for name, how in QUANTITIES[quantity].methods.items()
            if (how.mimics or not mimics)
            and (how.constraints or not closed)
            and (how.contacts or not touching)
        ]

    def custom(
        self, name: str, algorithm: Callable[..., Any], lengths: Mapping[str, int | None]
    ) -> Program:
        """The program of an algorithm that is not in the table of quantities.

        Arguments:
            name: for messages.
            algorithm: takes the model and the arguments, gives one result, or several by name.
            lengths: of the arguments; None for one number.
        """
        model = self.prepared(Preparation.FRAMES)

        def function(*arrays: Any) -> dict[str, Any]:
            pairs = zip(lengths.values(), arrays, strict=True)
            found = algorithm(model, *(x[0] if n is None else x for n, x in pairs))
            results = found if isinstance(found, dict) else {name: found}
            return {key: plain(result) for key, result in results.items()}

        return trace(name, function, {k: () if n is None else (n,) for k, n in lengths.items()})

    def _by_method(self, request: Request, limit: float) -> Program:
        """Trace a quantity by one method, with at most `limit` nodes."""
        method = QUANTITIES[request.quantity].methods[request.method]
        if isinstance(method, Derived):
            inner = request._replace(quantity=method.quantity, method=self.method(method.quantity))
            program = method.build(self.program(inner), self.charts, limit=limit)
        else:
            ways = [x for x in (method.algorithm, method.alternative) if x is not None]
            program = _cheapest(
                [partial(self._traced, request, method, way) for way in ways], limit
            )
        return replace(program, name=request.quantity, method=request.method)

    def _traced(
        self, request: Request, method: Method, algorithm: Callable[..., Any], limit: float
    ) -> Program:
        """Trace an algorithm."""
        row = QUANTITIES[request.quantity]
        # parameters are numbers of the bodies and joints as they are
        preparation = Preparation.NOTHING if self.parameters else method.preparation
        model = self.prepared(preparation)
        shapes = {x.name: x.kind.shape(model) for x in row.arguments if x.given(model)}
        count = len(shapes)
        shapes |= {load_name(key): (size(key),) for key in request.loads}
        numbers = sum(len(parameter.labels) for parameter in self.parameters)
        shapes |= {"p": (numbers,)} if numbers else {}

        def function(*arrays: Any) -> dict[str, Any]:
            own = iter(arrays)
            taken = [next(own) if x.given(model) else [] for x in row.arguments]
            pairs = zip(row.arguments, taken, strict=True)
            arguments = [given if a.kind.shape(model) else given[0] for a, given in pairs]
            acting = arrays[count : count + len(request.loads)]
            loads = [load(*pair) for pair in zip(request.loads, acting, strict=True)]
            more = (loads,) if row.loads else ()
            given = with_numbers(model, self.parameters, arrays[-1]) if numbers else model
            result = algorithm(given, *arguments, *more, *request.settings)
            parts = result if len(row.results) > 1 else (result,)
            return {name: plain(part) for name, part in zip(row.results, parts, strict=True)}

        try:
            return _with_empty_shapes(trace(request.quantity, function, shapes, limit))
        except ZeroDivisionError:
            raise SingularModelError(
                f"{request.quantity} of robot {self.model.name!r} is not defined: it divides by a "
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
