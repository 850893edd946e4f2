"""Kernels made from kernels: derivatives, selections, other charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kinetree._lazy import cached_property
from kinetree.compiler.graph import Program
from kinetree.compiler.graph.differentiate import TangentMap, jacobian, jvp, vjp
from kinetree.compiler.graph.evaluate import selected
from kinetree.compiler.graph.tangent import tangent
from kinetree.compiler.runtime.interface import Description
from kinetree.compiler.runtime.lazy_program import LazyProgram
from kinetree.errors import ShapeError, UnknownNameError, among, unknown
from kinetree.kinds import texts

if TYPE_CHECKING:
    from kinetree.compiler.runtime.kernel import Kernel


class Deriving(LazyProgram):
    """What a kernel derives from its program; each derived kernel is made once."""

    _charts: dict[str, TangentMap]
    _guard: Callable[[Any], None] | None
    _derived: dict[tuple[str, ...], Kernel]

    def jvp(self) -> Kernel:
        """The kernel of results and their rates (forward mode).

        It also takes the rates of all arguments. Those of a configuration are velocities, of length
        nv: along q (+) dq.

        Returns:
            A kernel of (arguments, rates) that returns (results, rates).
        """
        return self._derivative("jvp", (), lambda: jvp(self.program, self._charts))

    def vjp(self, wrt: str | Sequence[str] | None = None) -> Kernel:
        """The kernel of gradients of a weighted sum of results (reverse mode).

        Arguments:
            wrt: the names of arguments, all by default.

        Returns:
            A kernel of (arguments, weights of results) that returns a gradient for each name.
            Gradients with respect to a configuration have length nv.
        """
        names = self._arguments(wrt)
        return self._derivative("vjp", names, lambda: vjp(self.program, self._charts, names))

    def tangent(self, wrt: str | Sequence[str] | None = None) -> Kernel:
        """The kernel of the results' rates alone.

        A configuration is taken as plain numbers: its rate has length nq.

        Arguments:
            wrt: the names of the arguments that change, all by default.

        Returns:
            A kernel of (arguments, rates of those in `wrt`) that returns the rates of the results.
        """
        names = self._arguments(wrt)
        return self._derivative("tangent", names, lambda: tangent(self.program, names))

    def jacobian(self, wrt: str | Sequence[str] | None = None) -> Kernel:
        """The kernel of the derivatives of each result with respect to each argument.

        Arguments:
            wrt: as in `vjp`.

        Returns:
            A kernel of the same arguments. Each result has one more axis at its end, the
            argument's.
        """
        names = self._arguments(wrt)
        return self._derivative(
            "jacobian", names, lambda: jacobian(self.program, self._charts, wrt=names)
        )

    def hessian(self, wrt: str | Sequence[str] | None = None) -> Kernel:
        """The kernel of second derivatives: the `jacobian` of the `jacobian`.

        Arguments:
            wrt: as in `vjp`.

        Returns:
            A kernel of the same arguments. Each result has two more axes at its end.
        """
        return self.jacobian(wrt).jacobian(wrt)

    def ambient(self) -> Kernel:
        """The same kernel, but its derivatives take configurations as plain numbers, of length nq.

        Returns:
            A kernel with the same arguments and results.
        """
        whole = cast("Kernel", self)
        if not self._charts:
            return whole
        return self._once(
            ("ambient",),
            lambda: type(whole)(
                self._request,
                lambda: self.program,
                guard=self._guard,
                origin=(_derived, (whole, "ambient", ())),
                describe=self._describe,
            ),
        )

    def selected(self, places: Mapping[str, Sequence[int]]) -> Kernel:
        """The kernel of some entries of the first result; nothing else is computed.

        Arguments:
            places: maps the name of each new result, a vector, to the places of its entries in the
                first result, in C order.

        Returns:
            A kernel of the same arguments.
        """
        chosen = {name: tuple(map(int, at)) for name, at in places.items()}
        key = ("selected", repr(chosen))
        whole = cast("Kernel", self)
        return self._once(
            key,
            lambda: type(whole)(
                None if self._request is None else self._request.derived(*key),
                lambda: self._chosen(chosen),
                self._charts,
                self._guard,
                origin=(_selected, (whole, chosen)),
            ),
        )

    def _chosen(self, places: Mapping[str, Sequence[int]]) -> Program:
        nodes = self.program.outputs[0].nodes
        return selected(self.program, {name: [nodes[k] for k in at] for name, at in places.items()})

    @cached_property
    def sparsity(self) -> dict[str, np.ndarray]:
        """For each result, which entries can be other than zero."""
        nodes = self.program.nodes
        return {
            output.name: np.array(
                [nodes[n].op != "const" or nodes[n].value != 0.0 for n in output.nodes]
            ).reshape(output.shape)
            for output in self.program.outputs
        }

    def _derivative(
        self, what: str, names: tuple[str, ...], build: Callable[[], Program]
    ) -> Kernel:
        if not any(prod(shape) for _, shape in self.interface.inputs):
            raise ShapeError(f"{self.name} takes no number: there is nothing to differentiate by")
        key = (what, *names)
        along = () if self._charts else ("ambient",)
        whole = cast("Kernel", self)
        return self._once(
            key,
            lambda: type(whole)(
                None if self._request is None else self._request.derived(*along, *key),
                build,
                self._charts,
                self._guard,
                origin=(_derived, (whole, what, names)),
                describe=partial(self._describe_derivative, what),
            ),
        )

    def _once(self, key: tuple[str, ...], make: Callable[[], Kernel]) -> Kernel:
        """The derived kernel of a key: the one made before, or a new one."""
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    def _arguments(self, wrt: str | Sequence[str] | None) -> tuple[str, ...]:
        valid = [name for name, _ in self.interface.inputs]
        if wrt is None:
            return tuple(valid)
        names = (wrt,) if isinstance(wrt, str) else texts("wrt", wrt)
        if not names:
            raise UnknownNameError(f"{self.name}: wrt names no argument; valid are {valid}")
        for name in names:
            if not among(name, valid):
                raise unknown("argument", name, valid, self.name)
        return names

    def _describe_derivative(self, what: str) -> Description:
        """What a derivative of this kernel computes, and what its operands hold."""
        summary, notes = self._described()
        inputs, outputs = (
            [name for name, _ in x] for x in (self.interface.inputs, self.interface.outputs)
        )
        if what == "jvp":
            added = {f"d{name}": f"rate of {name}" for name in (*inputs, *outputs)}
            return Description(f"With its rate: {summary}", added | dict(notes))
        along = "its last axis along {0} (+) delta if {0} is a configuration"
        added = {f"weights_{name}": f"weights of {name}" for name in outputs}
        added |= {f"d{name}": f"gradient by {name}; {along.format(name)}" for name in inputs}
        added |= {
            f"d{result}_d{name}": f"derivative of {result} by {name}; {along.format(name)}"
            for result in outputs
            for name in inputs
        }
        kept = {name: notes[name] for name in inputs if name in notes}
        words = "Gradient of a weighted sum" if what == "vjp" else "Derivatives"
        return Description(f"{words}: {summary}", added | kept)


def _selected(kernel: Kernel, places: Mapping[str, Sequence[int]]) -> Kernel:
    """A selection again, for pickling."""
    return kernel.selected(places)


def _derived(kernel: Kernel, what: str, names: tuple[str, ...]) -> Kernel:
    """A derived kernel again, for pickling."""
    made: Kernel = getattr(kernel, what)(names) if names else getattr(kernel, what)()
    return made
