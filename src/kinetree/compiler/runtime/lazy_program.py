"""Programs that are traced and compiled when they are first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from kinetree._lazy import cached_property
from kinetree.compiler.graph import Program, verify
from kinetree.compiler.native.layout import MAX_AXES
from kinetree.compiler.runtime import cache as disk
from kinetree.compiler.runtime.backend import COMPILING, HOST, Backend, Compiled, backend
from kinetree.compiler.runtime.interface import Description, Interface
from kinetree.compiler.runtime.program_key import ProgramKey
from kinetree.errors import ShapeError

if TYPE_CHECKING:
    from kinetree.compiler.runtime.host_program import HostProgram


class LazyProgram:
    """A program that is traced and compiled on demand; its interface is known before.

    Arguments:
        request: identifies what `build` returns; None: it is not cached.
        build: makes the program.
        on: the back end for NumPy's arrays; by default the one of this process.
        describe: says what the program computes, for readers of exported code.
    """

    def __init__(
        self,
        request: ProgramKey | None,
        build: Callable[[], Program],
        on: Backend | None = None,
        describe: Callable[[], Description] | None = None,
    ) -> None:
        self._request, self._build, self._backend = request, build, on
        self._describe = describe
        self._compiled: dict[tuple[str, str], Compiled] = {}  # by device and kind of number
        self.interface = self._known_interface()
        self.name = self.interface.name
        for result, shape in self.interface.outputs:
            if len(shape) > MAX_AXES:
                raise ShapeError(
                    f"{self.name}: {result} would have {len(shape)} axes; at most {MAX_AXES} fit"
                )

    def _known_interface(self) -> Interface:
        """The interface from the cache, else from the program."""
        if self._request is None:
            return Interface.of(self.program)
        name = disk.key("interface", self._request.digest)
        kept = disk.load(name)
        if kept is not None:
            return Interface.parse(kept)
        found = Interface.of(self.program)
        disk.save(name, found.dump())
        return found

    @cached_property
    def program(self) -> Program:
        """The program, traced at the first access."""
        from kinetree.compiler.runtime.patience import patience  # only where something is compiled

        with patience("a program" if self._request is None else self._request.subject):
            return verify(self._build())

    @property
    def operations(self) -> dict[str, int]:
        """How often each operation is executed for one state."""
        return dict(self.interface.operations)

    @property
    def method(self) -> str:
        """The name of the algorithm; empty if the quantity has only one."""
        return self.interface.method

    def _described(self) -> Description:
        """What the program computes, and what its operands hold."""
        return Description(f"{self.name}.", {}) if self._describe is None else self._describe()

    def compiled(self, kind: str) -> HostProgram:
        """The program compiled for NumPy's arrays; it is compiled on first use.

        Arguments:
            kind: "double" or "float".

        Returns:
            The functions for one state and for batches.
        """
        return cast("HostProgram", self.compiled_on(HOST, kind))

    def compiled_on(self, device: str, kind: str) -> Compiled:
        """The program compiled for arrays on a device; it is compiled on first use.

        Arguments:
            device: "cpu", or "cuda:0" and so on.
            kind: "double" or "float".

        Returns:
            What computes there.
        """
        found = self._compiled.get((device, kind))
        return self._compile(device, kind) if found is None else found

    def _compile(self, device: str, kind: str) -> Compiled:
        with COMPILING:
            if (device, kind) not in self._compiled:  # another thread may have made it meanwhile
                own = self._backend if device == HOST else None
                made = (own or backend(device)).compile(self.interface, lambda: self.program, kind)
                self._compiled[device, kind] = made
            return self._compiled[device, kind]
