"""The kernels of a robot: a quantity asked for by name, checked, traced and compiled on demand."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from kinetree import algorithms
from kinetree._lazy import cached_property
from kinetree.compiler.graph import Program
from kinetree.compiler.runtime.backend import Backend
from kinetree.compiler.runtime.interface import Description
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.compiler.runtime.program_key import ProgramKey
from kinetree.errors import KinetreeError, ShapeError, SingularChartError, among, unknown
from kinetree.model import Model
from kinetree.model import loads as loads_of
from kinetree.model.equipment import shares_inertia
from kinetree.model.parameters import Parameter
from kinetree.quantities import PUBLIC, QUANTITIES, Quantity, posedness
from kinetree.quantities.labels import notes
from kinetree.quantities.settings import checked, ordered
from kinetree.quantities.tracing import Request, Tracer

Loads = tuple[str | loads_of.Load, ...]
SINGULAR = 1e-13
"""Smaller volumes are singular: within 2e-6 rad for Euler angles, 4e-3 for rotation vectors."""


class Kernels:
    """The kernels of a robot, each made when it is first asked for.

    Arguments:
        model: the robot.
        parameters: numbers of the model that kernels take as one more argument, "p", their last.

    Attributes:
        defaults: maps a quantity's name to its kernel with default settings, if `default` made it.
        asked: maps arguments of `ask` to the kernel that they gave before.
    """

    def __init__(self, model: Model, parameters: Sequence[Parameter] = ()) -> None:
        self.model, self.parameters = model, tuple(parameters)
        for parameter in parameters:
            parameter.nominal(model)  # raises if the model does not have it
        self.tracer = Tracer(model, parameters)
        self._made: dict[Request, Kernel] = {}
        self.defaults: dict[str, Kernel] = {}
        self.asked: dict[tuple[Any, ...], Kernel] = {}

    def default(self, quantity: str) -> Kernel:
        """The kernel of a quantity with its default settings."""
        if quantity not in self.defaults:
            self.defaults[quantity] = self.ask(quantity, settings={})
        return self.defaults[quantity]

    def ask(
        self,
        quantity: str,
        method: str = "auto",
        loads: Loads = (),
        settings: Sequence[Any] | Mapping[str, Any] = (),
    ) -> Kernel:
        """The kernel of a quantity.

        Arguments:
            method: which algorithm; "auto" for the default.
            loads: what acts on the robot: names of frames, and Points.
            settings: values in the order of the quantity's row, or by name; by name, those not
                given have their default.
        """
        key = (quantity, method, loads, settings)
        try:
            return self.asked[key]
        except (KeyError, TypeError):  # not asked for before, or not hashable
            pass
        request = self._request(quantity, method, loads, settings)
        if request not in self._made:
            self._made[request] = self._kernel(request)
        if isinstance(settings, tuple) and all(isinstance(x, (str, tuple)) for x in settings):
            self.asked[key] = self._made[request]
        return self._made[request]

    def custom(
        self, name: str, algorithm: Callable[..., Any], lengths: Mapping[str, int | None]
    ) -> Kernel:
        """The kernel of an algorithm that is not in the table, traced in every process.

        Arguments: as in `Tracer.custom`.
        """
        return Kernel(
            None,
            lambda: self.tracer.custom(name, algorithm, lengths),
            self.tracer.charts,
            on=self._backend,
        )

    def _request(
        self,
        quantity: str,
        method: str,
        loads: Loads,
        settings: Sequence[Any] | Mapping[str, Any],
    ) -> Request:
        """The complete, checked request; an error if it is not valid."""
        meant = self.method(quantity, method)
        row = QUANTITIES[quantity]
        given = ordered(quantity, settings) if isinstance(settings, Mapping) else settings
        values = checked(self.model, quantity, given)
        self._check_loads(quantity, row, loads)
        self._check_robot(quantity, row, values)
        return Request(quantity, meant, loads, values)

    def method(self, quantity: str, name: str = "auto") -> str:
        """The method to use; empty if the cheapest is still to be determined."""
        if not among(quantity, QUANTITIES):
            raise unknown("quantity", quantity, PUBLIC, "kinetree")
        if not self.tracer.supported(quantity):
            what = "contacts" if self.model.contacts else "constraints"
            raise KinetreeError(
                f"robot {self.model.name!r} has {what}, which {quantity} does not honour: use "
                f"robot.without({what!r})"
            )
        if among(name, ("auto",)):
            return self.tracer.method(quantity)
        methods = QUANTITIES[quantity].methods
        if not among(name, methods):
            raise unknown("method", name, methods, quantity)
        if shares_inertia(self.model) and not methods[name].mimics:
            other = next(m for m, how in methods.items() if how.mimics)
            raise KinetreeError(
                f"{_sharing(self.model)}, but {name!r} treats all joints as independent: use "
                f"method={other!r}"
            )
        for what in ("constraints", "contacts"):
            if getattr(self.model, what) and not getattr(methods[name], what):
                other = next(m for m, how in methods.items() if getattr(how, what))
                raise KinetreeError(
                    f"robot {self.model.name!r} has {what}, which {name!r} does not honour: use "
                    f"method={other!r}, or robot.without({what!r})"
                )
        return name

    def _check_loads(self, quantity: str, row: Quantity, loads: Loads) -> None:
        for load in loads:
            loads_of.check(self.model, quantity, load)
        if loads and not row.loads:
            raise KinetreeError(f"{quantity} takes no external forces")

    def _check_robot(self, quantity: str, row: Quantity, values: Sequence[Hashable]) -> None:
        """Refuse a quantity that is not defined for this robot in any state."""
        model = self.model
        if row.mass_matrix and not self.parameters:  # whose numbers are not known yet
            given: Any = dict(zip(row.settings, values, strict=True)).get("accelerated", ())
            held = [i for i, body in enumerate(model.bodies) if body.joint_name in given]
            posedness.refuse(model, quantity, row.mass_matrix, held)
        if model.nv == 0 and not (row.rigid and not self.parameters):
            raise ShapeError(
                f"robot {model.name!r} has no moving joint, so {quantity} is not defined"
            )
        if row.constrained and not model.constraints:
            raise no_constraints(model)
        check_equipped(model, quantity, row.equipped)
        if row.touching and not model.contacts:
            raise no_contacts(model, quantity)
        if row.full_rank and not self.parameters:
            frame, axes, rows = values
            posedness.refuse_dependent_rows(model, quantity, str(frame), str(axes), str(rows))
        if quantity == "chart_volumes" and not algorithms.charts(model):
            raise KinetreeError(
                f"no joint of robot {model.name!r} has coordinates with a singularity"
            )

    def _kernel(self, request: Request) -> Kernel:
        row = QUANTITIES[request.quantity]
        parts = (self.model.digest, repr(self.parameters), *(repr(part) for part in request))
        key = ProgramKey(request.quantity, parts)
        guarded = row.regular and bool(algorithms.charts(self.model))

        def build() -> Program:
            return self.tracer.program(request)

        return Kernel(
            key,
            build,
            self.tracer.charts,
            guard=self._check_charts if guarded else None,
            origin=(_made_again, (key, self.model, self.parameters, request)),
            on=self._backend,
            describe=lambda: self._describe(request),
        )

    @property
    def _backend(self) -> Backend | None:
        """Without moving joints every result is a number, which needs no machine code."""
        if self.model.nv:
            return None
        from kinetree.compiler.runtime.interpreter import Interpreter  # rarely needed

        return Interpreter()

    def _describe(self, request: Request) -> Description:
        """What the kernel of a request computes, and what its operands hold."""
        row = QUANTITIES[request.quantity]
        chosen = dict(zip(row.settings, request.settings, strict=True))
        chosen |= {"method": request.method} if request.method else {}
        words = "".join(f", {name} {value}" for name, value in chosen.items())
        loads = {loads_of.load_name(key): loads_of.meaning(key) for key in request.loads}
        operands = notes(self.model, row, loads)
        parts = [f"{x.name}.{label}" for x in self.parameters for label in x.labels]
        if parts:
            lines = (f"[{k}] {part}" for k, part in enumerate(parts))
            operands["p"] = "\n".join(["parameters, SI units", *lines])
        return Description(f"{row.summary} (robot {self.model.name}{words}).", operands)

    @cached_property
    def _of_the_model(self) -> Kernels:
        """The kernels without parameters."""
        return Kernels(self.model) if self.parameters else self

    def _check_charts(self, q: Any) -> None:
        """Refuse states in which the axes of a joint are dependent, or nearly so."""
        volumes = self._of_the_model.default("chart_volumes")(q)
        if volumes.dtype == object:  # traced scalars, whose numbers are not known yet
            return
        if (volumes < SINGULAR).any():
            *state, k = (int(i) for i in np.argwhere(volumes < SINGULAR)[0])
            body = self.model.bodies[algorithms.charts(self.model)[k]]
            raise SingularChartError(
                f"{state_name(state)}the coordinates of joint {body.joint_name!r} are singular "
                "there, so its acceleration is not determined; "
                "robot.edit.rechart('quaternion') has no singular states"
            )


def _sharing(model: Model) -> str:
    """What has an inertia that moves with several joints."""
    for body in model.bodies:
        if body.follows is not None:
            return f"joint {body.joint_name!r} mimics another"
    heavy = next(tendon.name for tendon in model.equipment.tendons if tendon.armature)
    return f"tendon {heavy!r} has an armature"


def check_equipped(model: Model, quantity: str, what: str) -> None:
    """Refuse a quantity of equipment that a robot does not have."""
    parts = {"activations": "stateful"}.get(what, what)
    if what and not getattr(model.equipment, parts):
        raise KinetreeError(
            f"robot {model.name!r} has no {what}, so {quantity} is not defined: MJCF files have "
            "them, and robot.edit.equip(...) adds them"
        )


def no_constraints(model: Model) -> KinetreeError:
    """The error that a quantity of constraints is asked of a robot without any."""
    return KinetreeError(f"robot {model.name!r} has no constraints: robot.constrain(...) adds them")


def no_contacts(model: Model, quantity: str) -> KinetreeError:
    """The error that a quantity of contact is asked of a robot without contact pairs."""
    return KinetreeError(
        f"robot {model.name!r} has no contact pairs, so {quantity} is not defined: "
        "robot.on_ground() and robot.collide(...) add them"
    )


def state_name(indices: Sequence[Any]) -> str:
    """The name of one state of a batch in messages; empty for a single state."""
    numbers = [int(i) for i in indices]
    return f"state {numbers[0] if len(numbers) == 1 else tuple(numbers)}: " if numbers else ""


_UNPICKLED: dict[ProgramKey, Kernel] = {}
"""Kernels that were unpickled in this process: a worker makes each only once."""
MOST_UNPICKLED = 256


def _made_again(
    key: ProgramKey, model: Model, parameters: Sequence[Parameter], request: Request
) -> Kernel:
    """The kernel of a request."""
    if key not in _UNPICKLED:
        while len(_UNPICKLED) >= MOST_UNPICKLED:
            _UNPICKLED.pop(next(iter(_UNPICKLED)), None)
        _UNPICKLED[key] = Kernels(model, parameters).ask(
            request.quantity, request.method or "auto", request.loads, request.settings
        )
    return _UNPICKLED[key]
