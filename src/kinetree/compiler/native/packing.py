"""Packing: states whose elements do not lie in C order copied to contiguous rows, and back."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from kinetree.compiler.native.ir import (
    I64,
    PTR,
    Builder,
    Writer,
    entry_alloca,
    loop,
)
from kinetree.compiler.native.layout import MAX_AXES


class Packing:
    """The functions that pack and unpack operands of one type.

    pack, unpack(place, row, operand, strides): one state. pack_tile, unpack_tile(place, step,
    rows, operand, strides, states): the states of a tile.
    """

    def __init__(self, writer: Writer) -> None:
        self.w = writer
        self.pack = self._define_copy("pack", packing=True)
        self.unpack = self._define_copy("unpack", packing=False)
        self.pack_tile = self._define_copy_tile("pack", packing=True)
        self.unpack_tile = self._define_copy_tile("unpack", packing=False)

    def _define_copy(self, what: str, packing: bool) -> ir.Function:
        """Copy one state of an operand between its strided place and a packed row."""
        b = self.w.internal(what, [PTR, PTR, PTR, PTR])
        b.function.attributes.add("noinline")
        place, row, operand, strides = b.arguments
        lengths = [operand[2 + k] for k in range(MAX_AXES)]
        steps = [strides[k] for k in range(MAX_AXES)]
        cursor = entry_alloca(b, PTR)
        cursor.set(row)
        self._copy_axes(b, place, cursor, lengths, steps, packing)
        b.ret_void()
        return b.function

    def _copy_axes(
        self, b: Builder, place: Any, cursor: Any, lengths: Any, steps: Any, packing: bool
    ) -> None:
        if not lengths:
            at = cursor.get()
            source, sink = (place, at) if packing else (at, place)
            sink.set(source.get(self.w.scalar))
            cursor.set(at.of(self.w.scalar).at(1))
            return
        with loop(b, 0, lengths[0]) as i:
            inner = place + i * steps[0]
            self._copy_axes(b, inner, cursor, lengths[1:], steps[1:], packing)

    def _define_copy_tile(self, what: str, packing: bool) -> ir.Function:
        """Copy the states of a tile to packed rows, repeating the last, or back without repeats."""
        b = self.w.internal(f"{what}_tile", [PTR, I64, PTR, PTR, PTR, I64])
        b.function.attributes.add("noinline")
        base, step, buffer, operand, strides, states = b.arguments
        size, last = operand[0], states - 1
        with loop(b, 0, self.w.lanes if packing else states) as lane:
            state = b.select(lane < last, lane, last)
            place = base + state * step
            row = buffer.of(self.w.scalar).at(lane * size)
            b.call(self.pack if packing else self.unpack, [place, row, operand, strides])
        b.ret_void()
        return b.function
