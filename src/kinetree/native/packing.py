"""Copying states whose elements do not lie in C order to packed rows and back, as LLVM IR."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from kinetree.native.ir import (
    I64,
    PTR,
    Writer,
    element,
    entry_alloca,
    integer,
    load,
    loop,
    offset,
)
from kinetree.native.layout import MAX_AXES


class Strided:
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
        f, b = self.w.internal(what, [PTR, PTR, PTR, PTR])
        f.attributes.add("noinline")
        place, row, operand, strides = f.args
        lengths = [load(b, I64, operand, 2 + k) for k in range(MAX_AXES)]
        steps = [load(b, I64, strides, k) for k in range(MAX_AXES)]
        cursor = entry_alloca(b, PTR)
        b.store(row, cursor)
        self._copy_axes(b, place, cursor, lengths, steps, packing)
        b.ret_void()
        return f

    def _copy_axes(
        self, b: ir.IRBuilder, place: Any, cursor: Any, lengths: Any, steps: Any, packing: bool
    ) -> None:
        if not lengths:
            at = b.load(cursor, typ=PTR)
            source, sink = (place, at) if packing else (at, place)
            b.store(b.load(source, typ=self.w.scalar), sink)
            b.store(element(b, self.w.scalar, at, 1), cursor)
            return
        with loop(b, 0, lengths[0]) as i:
            inner = offset(b, place, b.mul(i, steps[0]))
            self._copy_axes(b, inner, cursor, lengths[1:], steps[1:], packing)

    def _define_copy_tile(self, what: str, packing: bool) -> ir.Function:
        """Copy the states of a tile to packed rows, repeating the last, or back, each once."""
        f, b = self.w.internal(f"{what}_tile", [PTR, I64, PTR, PTR, PTR, I64])
        f.attributes.add("noinline")
        base, step, buffer, operand, strides, states = f.args
        size, last = load(b, I64, operand, 0), b.sub(states, integer(1))
        with loop(b, 0, self.w.lanes if packing else states) as lane:
            state = b.select(b.icmp_signed("<", lane, last), lane, last)
            place = offset(b, base, b.mul(state, step))
            row = element(b, self.w.scalar, buffer, b.mul(lane, size))
            b.call(self.pack if packing else self.unpack, [place, row, operand, strides])
        b.ret_void()
        return f
