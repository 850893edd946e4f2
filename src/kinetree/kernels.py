"""The kernels of a robot: a quantity asked for by name, traced and compiled on demand."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kinetree import algorithms, posedness
from kinetree.errors import (
    KinetreeError,
    ShapeError,
    SingularChartError,
    SingularModelError,
    unknown,
)
from kinetree.graph import Program, TooLongError, trace
from kinetree.model import Model
from kinetree.model.parameters import Parameter, with_numbers
from kinetree.model.reframe import convenient
from kinetree.model.regroup import loses_nothing, regroup
from kinetree.model.snap import snap
from kinetree.quantities import (
    ALWAYS,
    NEVER,
    QUANTITIES,
    WHOLE,
    Derived,
    Method,
    Quantity,
    plain,
)
from kinetree.runtime.interpreter import Interpreter
from kinetree.runtime.kernel import Kernel
from kinetree.settings import checked, ordered
from kinetree.spatial import Force, Vector3


@dataclass(frozen=True)
class Point:
    """A key of `external`: a force on a point of a body instead of a wrench on a frame.

    Its value is (..., 6): the force in the world's axes, then the point in the frame's coordinates.

    frame: the name of the frame in which the point is given.
    """

    frame: str


SINGULAR = 1e-13
"""Of chart_volumes: Euler angles within 2e-6 rad of a singularity, rotation vectors within 4e-3."""
WASTE = 1.3
"""How many nodes may be traced for each operation of the cheapest program so far."""


class Request(NamedTuple):
    """What a kernel is asked for; the empty method is the default one.

    loads: what acts from outside, each an argument: names of frames, and Points.
    settings: the values of the quantity's settings, in their order.
    """

    quantity: str
    method: str = ""
    loads: tuple[str | Point, ...] = ()
    settings: tuple[Hashable, ...] = ()


def request(
    quantity: str, method: str, loads: Sequence[str | Point], settings: Mapping[str, Any]
) -> Request:
    """The request for a quantity with settings by name; those not given are their first ones."""
    if quantity not in QUANTITIES:
        raise unknown("quantity", quantity, QUANTITIES, "kinetree")
    return Request(quantity, method, tuple(loads), ordered(quantity, settings))


class Kernels(dict[Any, Kernel]):
    """Kernels by request, or by the name of a quantity: then its settings are their first ones.

    parameters: numbers of the model that kernels take as one more argument, "p", their last.
    """

    def __init__(self, model: Model, parameters: Sequence[Parameter] = ()) -> None:
        super().__init__()
        self.model, self.parameters = model, tuple(parameters)
        for parameter in parameters:
            parameter.nominal(model)  # says so if it is none of this model
        named = ("q", "q0", "q1") if model.nq != model.nv else ()  # else directions are coordinates
        self._charts = dict.fromkeys(named, partial(_directions, model))

    def __missing__(self, key: str | tuple[Any, ...]) -> Kernel:
        asked = Request(key) if isinstance(key, str) else Request(*key)
        row = QUANTITIES.get(asked.quantity)
        if row is None:
            raise unknown("quantity", asked.quantity, QUANTITIES, "kinetree")
        defaults = tuple(valid[0] for valid in row.settings.values())
        settings = defaults if isinstance(key, str) else asked.settings
        full = asked._replace(method=self.method(row, asked), settings=settings)
        full = full._replace(settings=self._check(row, full))
        if full not in self:
            self[full] = self._kernel(full)
        if isinstance(key, str) or all(isinstance(x, (str, tuple)) for x in settings):
            self[key] = self[full]  # not by an enumeration's value, which equals a number
        return self[full]

    def _kernel(self, request: Request) -> Kernel:
        row = QUANTITIES[request.quantity]
        parts = (self.model.digest, repr(self.parameters), *(repr(part) for part in request))
        return Kernel(
            "|".join(parts),
            lambda: self._program(request),
            self._charts,
            self._check_charts if row.regular and algorithms.charts(self.model) else None,
            (_kernel, (self.model, self.parameters, request)),
            # without moving joints every result is a number
            Interpreter() if self.model.nv == 0 else None,
        )

    def own(self, name: str, algorithm: Callable[..., Any], lengths: Mapping[str, int]) -> Kernel:
        """The kernel of an algorithm that is in no table: traced anew in every process.

        Arguments:
            name: for messages.
            algorithm: takes the model and the arguments, gives one result.
            lengths: of the arguments; -1 stands for nv.
        """
        model = snap(convenient(self.model))
        shapes = {key: (n if n >= 0 else model.nv,) for key, n in lengths.items()}

        def function(*arrays: Any) -> dict[str, Any]:
            return {name: plain(algorithm(model, *arrays))}

        return Kernel(None, lambda: trace(name, function, shapes), self._charts)

    def method(self, row: Quantity, request: Request) -> str:
        """The method that is meant: by default the first that takes the robot's joints.

        Empty, if it is yet to be found which of them is the cheapest.
        """
        model, name = self.model, request.method
        follower = next((b.joint_name for b in model.bodies if b.follows is not None), None)
        valid = [m for m, how in row.methods.items() if how.shared or follower is None]
        if not name:
            return "" if row.cheapest else valid[0]
        if name not in row.methods:
            raise unknown("method", name, row.methods, request.quantity)
        if name not in valid:
            raise KinetreeError(
                f"joint {follower!r} mimics another, and {name!r} takes every joint as free: use "
                f"method={valid[0]!r}"
            )
        return name

    def _check(self, row: Quantity, request: Request) -> tuple[Hashable, ...]:
        """Refuse what no algorithm could be asked for, and give the settings in our own words."""
        model, quantity = self.model, request.quantity
        for load in request.loads:
            model.frame(load.frame if isinstance(load, Point) else load)
        if request.loads and not row.loads:
            raise KinetreeError(f"{quantity} takes no external forces")
        settings = checked(model, quantity, request.settings)
        if row.mass_matrix and not self.parameters:  # whose numbers are not known yet
            posedness.refuse(model, quantity, row.mass_matrix, self._accelerated(row, settings))
        if model.nv == 0 and not (row.rigid and not self.parameters):
            raise ShapeError(
                f"robot {model.name!r} has no moving joint: nothing to compute {quantity} of"
            )
        if quantity == "chart_volumes" and not algorithms.charts(model):
            raise KinetreeError(
                f"no joint of robot {model.name!r} has coordinates with a singularity"
            )
        return settings

    def _accelerated(self, row: Quantity, settings: Sequence[Hashable]) -> list[int]:
        """The bodies whose joints' accelerations a request gives."""
        given: Any = dict(zip(row.settings, settings, strict=True)).get("accelerated", ())
        return [i for i, body in enumerate(self.model.bodies) if body.joint_name in given]

    def _check_charts(self, q: Any) -> None:
        """Refuse states in which the axes of a joint are dependent, or nearly so."""
        kernels = Kernels(self.model) if self.parameters else self
        volumes = kernels["chart_volumes"](q)
        if (volumes < SINGULAR).any():
            *state, k = (int(i) for i in np.argwhere(volumes < SINGULAR)[0])
            body = self.model.bodies[algorithms.charts(self.model)[k]]
            where = f"state {state[0] if len(state) == 1 else tuple(state)}: " if state else ""
            raise SingularChartError(
                f"{where}the coordinates of joint {body.joint_name!r} are singular there, so its "
                "acceleration has no answer: choose another chart, robot.rechart('quaternion') "
                "has no singular state"
            )

    def _program(self, request: Request) -> Program:
        """Trace a quantity, by the method that is asked for or by the cheapest."""
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

    def _by_method(self, request: Request, limit: float) -> Program:
        """Trace a quantity by one method, with at most so many nodes."""
        row = QUANTITIES[request.quantity]
        method = row.methods[request.method]
        if isinstance(method, Derived):
            inner = Request(method.quantity, "", request.loads, request.settings)
            name = self.method(QUANTITIES[method.quantity], inner)
            program = self._program(inner._replace(method=name))
            found = method.build(program, self._charts, limit=limit)
        else:
            ways = [x for x in (method.algorithm, method.alternative) if x is not None]
            programs = [self._traced(request, method, way, limit) for way in ways]
            found = min(programs, key=lambda program: program.cost)
        return replace(found, name=request.quantity, method=request.method)

    def _traced(
        self, request: Request, method: Method, algorithm: Callable[..., Any], limit: float
    ) -> Program:
        """Trace an algorithm."""
        row, model = QUANTITIES[request.quantity], self.model
        if self.parameters:
            pass  # their numbers belong to bodies and joints as they are
        elif method.regrouped == ALWAYS or (method.regrouped == WHOLE and loses_nothing(model)):
            model = regroup(model)
        elif method.regrouped != NEVER:
            model = convenient(model)
        model = snap(model)
        lengths = {"q": model.nq}
        shapes = {name: (lengths.get(name[0], model.nv),) for name in row.arguments}
        count = len(shapes)
        shapes |= {_argument(load): (6,) for load in request.loads}
        numbers = sum(len(parameter.labels) for parameter in self.parameters)
        shapes |= {"p": (numbers,)} if numbers else {}

        def function(*arrays: Any) -> dict[str, Any]:
            own, acting = arrays[:count], arrays[count : count + len(request.loads)]
            loads = [_load(*pair) for pair in zip(request.loads, acting, strict=True)]
            more = (loads,) if row.loads else ()
            given = with_numbers(model, self.parameters, arrays[-1]) if numbers else model
            found = algorithm(given, *own, *more, *request.settings)
            parts = found if len(row.results) > 1 else (found,)
            return {name: plain(part) for name, part in zip(row.results, parts, strict=True)}

        try:
            return _with_empty_shapes(trace(request.quantity, function, shapes, limit))
        except ZeroDivisionError:
            raise SingularModelError(
                f"{request.quantity} of robot {self.model.name!r} has no answer: it divides by a "
                "mass or an inertia that is zero"
            ) from None


EMPTY = {"poses": (0, 4, 4), "velocities": (0, 6)}
"""The shapes of results that have a row for each body, where there is none."""


def _with_empty_shapes(program: Program) -> Program:
    outputs = [
        o._replace(shape=EMPTY[o.name]) if o.shape == (0,) and o.name in EMPTY else o
        for o in program.outputs
    ]
    return replace(program, outputs=tuple(outputs))


def _kernel(model: Model, parameters: Sequence[Parameter], request: Request) -> Kernel:
    return Kernels(model, parameters)[request]


def _directions(model: Model, q: Sequence[Any]) -> list[list[Any]]:
    """The rate of q at each unit velocity."""
    units = [[1.0 if i == k else 0.0 for i in range(model.nv)] for k in range(model.nv)]
    return [algorithms.coordinate_rates(model, q, unit) for unit in units]


def _argument(load: str | Point) -> str:
    return f"external[{load!r}]"


def _load(key: str | Point, numbers: Sequence[Any]) -> tuple[str, Force | algorithms.PointForce]:
    first, second = Vector3(*numbers[:3]), Vector3(*numbers[3:])
    if isinstance(key, Point):
        return key.frame, algorithms.PointForce(first, second)
    return key, Force(first, second)
