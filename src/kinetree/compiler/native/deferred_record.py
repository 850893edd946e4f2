"""The record of an operand whose stores are deferred, as LLVM IR.

A record has 64-bit fields, then vectors of each row, then the vector that the previous tile began.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from llvmlite import ir

from kinetree.compiler.native.ir import (
    I32,
    I64,
    PTR,
    Builder,
    Writer,
    entry_alloca,
    external,
)
from kinetree.compiler.native.transpose import Transposes


class Field(IntEnum):
    """The fields of a record: one operand of a tile."""

    ROWS = 0  # the first row, at the origin
    STEP = 1  # bytes from row to row
    TILE = 2
    INDEX = 3  # from the origin on
    COLUMNS = 4  # from the origin on
    ORIGIN = 5  # columns before the origin
    SHIFTS = 6
    DENSE = 7  # whether rows follow one another
    NEXT = 8  # the block to be written next
    BLOCKS = 9  # blocks until the last one, which is written by itself
    LEFT = 10  # address of the incomplete vector of the previous tile, or zero
    COUNT = 11  # the number of its known elements


class Shifts(IntEnum):
    """Which rows are shifted."""

    NONE = 0
    ODD = 1  # by half a block
    EVEN = 2
    ANY = 3


class Group(IntEnum):
    """The vectors that a record keeps for each row."""

    FIRST = 0  # its first columns
    INDICES = 1  # of the columns of a vector in two blocks
    PLACES = 2  # addresses of its first whole vectors


class RecordMemory:
    """Reading and writing the records of one type; `size` is that of a record, in bytes."""

    def __init__(self, writer: Writer, transposes: Transposes) -> None:
        self.w, self.transposes = writer, transposes
        vector = writer.vector_size
        self.vectors = -(-8 * len(Field) // vector)  # offset of a record's vectors
        self.left = self.vectors + len(Group) * writer.lanes  # the previous tile's rest
        self.size = vector * (self.left + 2)  # one more may be written

    def _at(self, b: Builder, record: Any, group: Group, lane: Any) -> Any:
        """The place of a row's vector in a record."""
        start = self.w.vector_size * (self.vectors + group * self.w.lanes)
        return (record + start).of(self.w.vector).at(lane)

    def _kept(self, b: Builder, record: Any, group: Group, lane: Any) -> Any:
        at = self._at(b, record, group, lane)
        return b.load(at, typ=self.w.vector, align=self.w.vector_size)

    def _keep(self, b: Builder, value: Any, record: Any, group: Group, lane: Any) -> None:
        b.store(value, self._at(b, record, group, lane), align=self.w.vector_size)

    def _left(self, b: Builder, record: Any) -> Any:
        """The place of the incomplete vector of the previous tile."""
        return record + self.w.vector_size * self.left

    def _keep_shift(self, b: Builder, shift: Any, record: Any, lane: int) -> None:
        """Keep a row's shift as the indices that `_join` takes."""
        counts = self._counts()
        count_up = ir.Constant(counts, list(range(self.w.lanes)))
        every = ir.Constant(ir.VectorType(I32, self.w.lanes), [0] * self.w.lanes)
        shift = shift if counts.element is I64 else b.trunc(shift, counts.element)
        one = b.insert_element(ir.Constant(counts, ir.Undefined), shift, I32(0))
        indices = b.shuffle_vector(one, one, every) + count_up
        self._keep(b, indices, record, Group.INDICES, lane)

    def _counts(self) -> ir.VectorType:
        """A vector of integers as wide as the elements."""
        return ir.VectorType(I64 if self.w.item == 8 else I32, self.w.lanes)

    def _beyond(self, b: Builder, place: Any) -> Any:
        """The bytes from a place to the next aligned one."""
        return -place.address & self.w.vector_size - 1

    def _columns(self, b: Builder, record: Any, block: Any, beyond: int = 0) -> tuple[Any, Any]:
        """The tile, and the offsets of the columns from the start of a block on."""
        tile, index = record.of(PTR)[Field.TILE], record.of(PTR)[Field.INDEX]
        column = block * self.w.lanes + beyond
        return tile, index.of(I32).at(column)

    def _block(self, b: Builder, record: Any, block: Any) -> list[Any]:
        """A block of columns of all rows, see `Transposes.block`."""
        return self.transposes.block(b, *self._columns(b, record, block), self.w.lanes)

    def _join(self, b: Builder, record: Any, lane: int, x: Any, y: Any) -> Any:
        """The vector of the last columns of x, from the row's shift on, and the first of y."""
        counts = self._counts()
        indices = self._at(b, record, Group.INDICES, lane)
        if self.w.vector_size == 64:  # AVX-512 has an instruction for it
            name = f"llvm.x86.avx512.vpermi2var.{'pd' if self.w.item == 8 else 'ps'}.512"
            kinds = [self.w.vector, counts, self.w.vector]
            permute = external(self.w.module, name, self.w.vector, kinds)
            return b.call(permute, [x, b.load(indices, typ=counts, align=64), y])
        both = entry_alloca(b, self.w.vector, 2)
        both[0] = x
        both[1] = y
        at = both.of(self.w.scalar).at(indices.of(counts.element)[0])
        return b.load(at, typ=self.w.vector, align=self.w.item)

    def _stream(self, b: Builder, values: Any, place: Any) -> None:
        """A non-temporal store of an aligned vector."""
        written = b.store(values, place, align=self.w.vector_size)
        written.set_metadata("nontemporal", self.w.module.add_metadata([I32(1)]))
