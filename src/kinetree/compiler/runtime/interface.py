"""What a kernel must know of its program without having it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kinetree.compiler.graph import Program


class Description(NamedTuple):
    """What a kernel computes, for readers of exported code.

    summary: what it is, in one sentence.
    operands: for arguments and results, what they hold, in which unit and order.
    """

    summary: str
    operands: Mapping[str, str]


@dataclass(frozen=True)
class Interface:
    """Names, shapes and operation counts of a program; kept in the cache."""

    name: str
    inputs: tuple[tuple[str, tuple[int, ...]], ...]
    outputs: tuple[tuple[str, tuple[int, ...]], ...]
    signature: str
    operations: dict[str, int]
    cost: int
    digest: str
    method: str

    @staticmethod
    def of(program: Program) -> Interface:
        return Interface(
            program.name,
            tuple((i.name, i.shape) for i in program.inputs),
            tuple((o.name, o.shape) for o in program.outputs),
            program.signature,
            dict(program.operations),
            program.cost,
            program.digest,
            program.method,
        )

    def dump(self) -> bytes:
        return json.dumps(self.__dict__).encode()

    @staticmethod
    def parse(data: bytes) -> Interface:
        fields = json.loads(data)
        for side in ("inputs", "outputs"):
            fields[side] = tuple((name, tuple(shape)) for name, shape in fields[side])
        return Interface(**fields)
