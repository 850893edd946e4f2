"""Functions of CUDA C++ as data: their parameters, their declarations, their calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Parameter(NamedTuple):
    """A parameter of a function; a pointer's type ends with an asterisk."""

    type: str
    name: str

    @property
    def declaration(self) -> str:
        """Its declaration in the head of a function."""
        return f"{self.type}{self.name}" if self.type[-1] == "*" else f"{self.type} {self.name}"


def pointers(kind: str, name: str, count: int) -> list[Parameter]:
    """Pointers numbered from zero."""
    return [Parameter(kind, f"{name}{k}") for k in range(count)]


class DeviceFunction(NamedTuple):
    """A function of the device; its callers have variables of the names of its parameters."""

    name: str
    parameters: Sequence[Parameter]

    @property
    def head(self) -> str:
        """Its declaration."""
        return f"DEVICE void {self.name}({declared(self.parameters)})"

    @property
    def call(self) -> str:
        """A call of it."""
        return f"{self.name}({', '.join(x.name for x in self.parameters)})"

    def text(self, lines: Sequence[str]) -> str:
        """Its definition."""
        return "\n".join([self.head, "{", *lines, "}\n"])


def declared(parameters: Sequence[Parameter]) -> str:
    """Parameters in the head of a function."""
    return ", ".join(x.declaration for x in parameters)


def restricted(parameters: Sequence[Parameter]) -> str:
    """The arrays of a kernel in its head, declared not to overlap."""
    return ", ".join(f"{x.type}RESTRICT {x.name}" for x in parameters)


TID, FIRST = Parameter("int", "tid"), Parameter("long long", "first")
"""A thread's number in its block, and the first state of the block."""
ALIVE = Parameter("int", "alive")
"""The number of states of the block."""
SHARED = Parameter("T *", "shared")
"""The shared memory of the block."""
