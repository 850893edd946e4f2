"""The CPU as a back end: machine code generated, kept in the cache, loaded, bound to Python."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kinetree._lazy import cached_property
from kinetree.compiler.graph import Program
from kinetree.compiler.graph.program import size
from kinetree.compiler.native.layout import MAX_AXES, Block, Field
from kinetree.compiler.runtime.arrays import DTYPES
from kinetree.compiler.runtime.backend import COMPILING
from kinetree.compiler.runtime.cpu.binding import address_of, make_function, make_gufunc
from kinetree.compiler.runtime.cpu.bodies import Body, bodies
from kinetree.compiler.runtime.cpu.host import Loaded, host
from kinetree.compiler.runtime.cpu.machine_loop import MachineLoops
from kinetree.compiler.runtime.cpu.support import support
from kinetree.compiler.runtime.host_loop import HostLoop
from kinetree.compiler.runtime.host_program import HostProgram, NumpyArrays
from kinetree.compiler.runtime.interface import Interface
from kinetree.compiler.runtime.loop_layout import LoopLayout
from kinetree.compiler.runtime.patience import patience
from kinetree.errors import ShapeError

OPERATIONS = 3e8
"""Operations between two looks at signals: 0.01 s with 512-bit vectors, 0.1 s at the slowest."""
_BLOCK_COST = 16384  # operations of a tile's lanes that make a block worth handing to a thread
_BLOCK_TILES = 4  # at least, because a tile is written while the next is computed


class Cpu(NumpyArrays):
    """The back end."""

    compiles = True

    def compile(
        self, interface: Interface, program: Callable[[], Program], kind: str
    ) -> MachineCode:
        return MachineCode(interface, program, kind)


class MachineCode(HostProgram):
    """A program as machine code.

    One state and many have code of their own: a first call waits for what it needs.
    """

    def __init__(self, interface: Interface, program: Callable[[], Program], kind: str) -> None:
        super().__init__(interface, kind, longest=OPERATIONS / (interface.cost + 1))
        self._program = program

    @property
    def native(self) -> MachineCode:
        """This very code."""
        return self

    def loop(self, layout: LoopLayout) -> HostLoop:
        """The program in a loop over time, as machine code."""
        return HostLoop(layout, self.kind, self.longest, MachineLoops(layout, self))

    @cached_property
    def one(self) -> Any:
        """The function for one state."""
        interface, kind = self.interface, self.kind
        with COMPILING:
            call = support(kind).address(f"kinetree_call_{kind}")
        return make_function(call, self._one.description, interface.name, keep=self._one.loaded)

    @cached_property
    def _one(self) -> Prepared:
        """The body for one state, in memory."""
        with COMPILING:
            made = Prepared(*self._load(("one",)))
            self.__dict__.pop("gufunc", None)  # one that runs single states by it replaces it
            return made

    @cached_property
    def _both(self) -> Prepared:
        """The bodies for one state and for a tile, in memory."""
        with COMPILING:
            return Prepared(*self._load(("one", "wide")))

    def _bind_one(
        self, arrays: Sequence[np.ndarray], results: tuple[np.ndarray, ...], answer: Any
    ) -> Any:
        """A Python function without arguments that computes one state on fixed memory."""
        kind, name, operands = self.kind, self.interface.name, (*arrays, *results)
        for array in operands:
            if not array.flags.c_contiguous or not array.flags.aligned:
                raise ShapeError(
                    f"{name}: bind takes arrays in C order; one has strides {array.strides}"
                )
        with COMPILING:
            call = support(kind).address(f"kinetree_bound_{kind}")
        pointers = [array.ctypes.data for array in operands]
        head = {Block.DESCRIPTION: address_of(self._one.description), Block.ANSWER: id(answer)}
        numbers = [*(head[field] for field in sorted(head)), *pointers]
        block = struct.pack(f"={len(numbers)}q", *numbers)
        return make_function(call, block, name, keep=(self._one, operands, answer))

    @cached_property
    def entry(self) -> Entry:
        """The function for other compiled code: pointers to arguments, then to results."""
        from kinetree.compiler.native.bound_call import define_entry  # not needed but here

        count = len(self.interface.inputs) + len(self.interface.outputs)
        return self._entry(partial(define_entry, operands=count))

    @cached_property
    def flat_entry(self) -> Entry:
        """The same for all arguments in one array and a result of one number, which it returns."""
        from llvmlite import ir

        from kinetree.compiler.native.bound_call import define_flat_entry  # not needed but here

        scalar = ir.DoubleType() if self.kind == "double" else ir.FloatType()
        sizes = [size(shape) for _, shape in self.interface.inputs]
        return self._entry(partial(define_flat_entry, scalar=scalar, sizes=sizes))

    @cached_property
    def xla_handler(self) -> Entry:
        """The function that XLA calls with a batch."""
        from kinetree.compiler.native.xla_call import define_handler  # not needed but here

        return self._entry(define_handler, "xla", self._both)

    def _entry(
        self, define: Callable[..., None], runs: str = "run", body: Prepared | None = None
    ) -> Entry:
        """A C function that knows the kernel's description.

        Arguments:
            define: adds it to a module.
            runs: which function of the support code it calls.
            body: what that runs; by default the body for one state.
        """
        from llvmlite import ir

        kind, prepared = self.kind, body or self._one
        with COMPILING:
            run = support(kind).address(f"kinetree_{runs}_{kind}")
            module = ir.Module("kinetree_entry")
            define(module, "entry", run=run, description=address_of(prepared.description))
            loaded = host().load([host().compile(str(module))])
        return Entry(loaded.address("entry"), (loaded, prepared))

    @cached_property
    def gufunc(self) -> Any:
        """The gufunc for any batch.

        A tile with one state in it gives what the body for one state gives, only later: a batch
        does not wait for that body to be compiled.
        """
        interface, kind = self.interface, self.kind
        with COMPILING:
            loop = support(kind).address(f"kinetree_loop_{kind}")
            body = self._both if "_one" in self.__dict__ else Prepared(*self._load(("wide",)))
        loaded, description = body
        return make_gufunc(
            loop,
            description,
            kind,
            len(interface.inputs),
            len(interface.outputs),
            interface.signature,
            interface.name,
            keep=loaded,
        )

    @cached_property
    def rollout(self) -> Rollout:
        """The function that runs the program in a loop over time, on tiles of systems."""
        return self._rollout("rollout", "wide")

    @cached_property
    def rollout_one(self) -> Rollout:
        """The same on one system after the other."""
        return self._rollout("rollout_one", "one")

    def _rollout(self, function: str, body: str) -> Rollout:
        kind, target = self.kind, host().target(self.kind)
        with COMPILING:
            address = support(kind).address(f"kinetree_{function}_{kind}")
            loaded, description = self._load((body,), block=target.lanes)
        return Rollout(_ROLLOUT(address), description, loaded, target.itemsize * target.lanes)

    def _load(self, names: Sequence[str], block: int | None = None) -> tuple[Loaded, bytes]:
        """Bodies in memory, and the kernel's description with them."""
        support(self.kind)  # whose routines they call
        with patience(self.interface.name):
            compiled = bodies(self.interface, self._program, self.kind, names)
        loaded = host().load([code for body in compiled.values() for code in body.objects])
        return loaded, _describe(self.interface, self.kind, loaded, compiled, block)


class Prepared(NamedTuple):
    """Machine code in memory and the kernel's description with its addresses."""

    loaded: Loaded
    description: bytes


class Entry(NamedTuple):
    """The address of a C function, and what must stay alive while it is called."""

    address: int
    keep: Any


class Rollout(NamedTuple):
    """A loop over time, and what must stay alive while it is called."""

    function: Any
    description: bytes
    loaded: Loaded
    vector: int  # bytes

    def __call__(self, args: np.ndarray, strides: np.ndarray, plan: np.ndarray, n: int) -> None:
        """Run n systems; arrays of 64-bit integers as `native.time_loop` has them."""
        pointers = (x.ctypes.data for x in (args, strides, plan))
        if self.function(address_of(self.description), *pointers, n):
            raise MemoryError("there is no memory for the states of a simulation")


_ROLLOUT = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 4, ctypes.c_int64)


def _describe(
    interface: Interface,
    kind: str,
    loaded: Loaded,
    compiled: Mapping[str, Body],
    block: int | None = None,
) -> bytes:
    """The description that the driver reads: 64-bit integers, zeros for a missing body.

    Arguments:
        block: the states that a thread takes at once; by default as many as are worth it.
    """
    shapes = [shape for _, shape in interface.inputs + interface.outputs]
    sizes = [size(shape) for shape in shapes]
    inputs = len(interface.inputs)
    lanes = host().target(kind).lanes
    head = dict.fromkeys(Field, 0)
    del head[Field.HEAD]
    head |= {
        Field.INPUTS: inputs,
        Field.OPERANDS: len(sizes),
        Field.INPUT_ELEMENTS: sum(sizes[:inputs]),
        Field.ELEMENTS: sum(sizes),
        Field.LARGEST: max(sizes),
        Field.BLOCK: block or lanes * max(_BLOCK_TILES, _BLOCK_COST // (interface.cost + 1)),
        Field.ARRAY_TYPE: id(np.ndarray),
        Field.DTYPE: id(DTYPES[kind]),
        Field.NOT_IMPLEMENTED: id(NotImplemented),
    }
    if "one" in compiled:
        one = compiled["one"]
        head |= {
            Field.ONE: loaded.data_address("one_steps"),
            Field.ONE_CONSTANTS: loaded.address("one_constants"),
            Field.ONE_SCRATCH: one.scratch,
            Field.ONE_STEPS: one.steps,
        }
    if "wide" in compiled:
        wide = compiled["wide"]
        head |= {
            Field.WIDE: loaded.data_address("wide_steps"),
            Field.WIDE_CONSTANTS: loaded.address("wide_constants"),
            Field.INDEX: loaded.data_address("wide_index"),
            Field.WIDE_SCRATCH: wide.scratch,
            Field.WIDE_STEPS: wide.steps,
            Field.RESULTS: wide.results,
            Field.TILES: wide.tiles,
            Field.LATE: wide.late,
        }
    numbers = [head[field] for field in sorted(head)]
    for shape, count in zip(shapes, sizes, strict=True):
        numbers += [count, len(shape), *(1,) * (MAX_AXES - len(shape)), *shape]
    return struct.pack(f"={len(numbers)}q", *numbers)
