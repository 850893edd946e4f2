"""The handler through which XLA calls a kernel on a batch, as LLVM IR.

    XLA_FFI_Error *kinetree_xla_T(XLA_FFI_CallFrame *frame, i64 *description)

Operands are buffers in C order whose first axis is the batch; an argument whose batch has length
one serves all states. The offsets are those of XLA's C API (xla/ffi/api/c_api.h), version 0, whose
structures only grow at their ends.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from kinetree.compiler.native.description import operand_at, read_fields
from kinetree.compiler.native.ir import (
    I8,
    I32,
    I64,
    PTR,
    Builder,
    Writer,
    entry_alloca,
    function,
    loop,
)
from kinetree.compiler.native.layout import MAX_AXES, Field

# of XLA_FFI_CallFrame, in bytes
EXTENSION, API, STAGE, ARGUMENT_COUNT, ARGUMENTS, RESULTS = 8, 16, 32, 56, 72, 112
EXECUTE = 3  # XLA_FFI_ExecutionStage_EXECUTE
# of XLA_FFI_Extension_Base and XLA_FFI_Metadata_Extension
EXTENSION_TYPE, METADATA, METADATA_TYPE = 8, 24, 1
# of XLA_FFI_Metadata
METADATA_VERSION = 24
# of XLA_FFI_Api
API_VERSION, CREATE_ERROR = 32, 48
# of XLA_FFI_Buffer
DATA, LENGTHS = 24, 40
ERROR_BYTES, RESOURCE_EXHAUSTED = 28, 8
MESSAGE = b"there is no memory for the intermediate results of a kernel\0"


def define_xla(w: Writer, run_batch: ir.Function) -> None:
    """Add the handler to a module that has the driver."""
    b = w.public("xla", [PTR, PTR], PTR)
    frame, description = b.arguments
    nothing = ir.Constant(PTR, None)
    extension = (frame + EXTENSION).get(PTR)
    with b.if_then(extension.address != 0):
        is_metadata = (extension + EXTENSION_TYPE).get(I32) == I32(METADATA_TYPE)
        with b.if_then(is_metadata):
            _answer_metadata(frame, extension)
            b.ret(nothing)
    with b.if_then((frame + STAGE).get(I32) != I32(EXECUTE)):
        b.ret(nothing)
    status = b.call(run_batch, _batch_arguments(w, b, frame, description))
    with b.if_then(status != I32(0), likely=False):
        b.ret(_no_memory(w, b, frame))
    b.ret(nothing)


def _batch_arguments(w: Writer, b: Builder, frame: Any, description: Any) -> list[Any]:
    """XLA's buffers as the arguments of a loop of NumPy's."""
    inputs, operands = read_fields(description, Field.INPUTS, Field.OPERANDS)
    pointers = b.alloca(PTR, operands)
    steps = b.alloca(I64, operands * (1 + MAX_AXES))
    results = (frame + RESULTS).get(PTR)
    n = (results.of(PTR)[0] + LENGTHS).get(PTR)[0]
    cursor = entry_alloca(b, PTR)
    cursor.set(steps.of(I64).at(operands))
    with loop(b, 0, operands) as k:
        is_input = k < inputs
        table = b.select(is_input, (frame + ARGUMENTS).get(PTR), results)
        buffer = table.of(PTR)[b.select(is_input, k, k - inputs)]
        pointers[k] = (buffer + DATA).get(PTR)
        operand = operand_at(description, k)
        is_alone = (buffer + LENGTHS).get(PTR)[0] == 1
        steps[k] = b.select(is_alone & (n != 1), I64(0), operand[0] * w.item)
        _lay_out(w, b, operand, cursor)
    dims = b.alloca(I64)
    dims.set(n)
    return [pointers, dims, steps, description]


def _answer_metadata(frame: Any, extension: Any) -> None:
    """Report the supported version of the interface, while the handler is registered.

    Within a major version the offsets above hold: XLA compares the major version itself.
    """
    metadata = (extension + METADATA).get(PTR)
    minor = ((frame + API).get(PTR) + (API_VERSION + 4)).get(I32)
    version = (metadata + METADATA_VERSION).of(I32)
    for k, number in enumerate((I32(0), minor, I32(0))):  # major, minor, no traits
        version[k] = number


def _lay_out(w: Writer, b: Builder, operand: Any, cursor: Any) -> None:
    """Append the strides of an operand in C order, as NumPy passes them to a loop."""
    axes = operand[1]
    place = cursor.get()
    stride = entry_alloca(b, I64)
    stride.set(w.item)
    with loop(b, 0, axes) as k:
        last = axes - 1 - k
        place[last] = stride.get()
        length = operand.of(I64).at(2 + MAX_AXES - axes)[last]
        stride.set(stride.get() * length)
    cursor.set(place.of(I64).at(axes))


def _no_memory(w: Writer, b: Builder, frame: Any) -> Any:
    """An error of XLA's."""
    text = ir.GlobalVariable(w.module, ir.ArrayType(I8, len(MESSAGE)), w.name("no_memory"))
    text.initializer = ir.Constant(text.type.pointee, bytearray(MESSAGE))
    text.global_constant, text.linkage = True, "internal"
    request = b.alloca(I64, I64(4))
    request[0] = I64(ERROR_BYTES)
    request[1] = I64(0)
    request[2] = b.ptrtoint(text, I64)
    request[3] = I64(RESOURCE_EXHAUSTED)  # an i32 and padding
    kind = ir.FunctionType(PTR, [PTR]).as_pointer()
    create = ((frame + API).get(PTR) + CREATE_ERROR).get(kind)
    return b.call(create, [request])


def define_handler(module: ir.Module, name: str, run: int, description: int) -> None:
    """Add the handler of one kernel: XLA_FFI_Error *name(XLA_FFI_CallFrame *frame).

    Arguments:
        run, description: the addresses of kinetree_xla_T and of the kernel's description.
    """
    b = function(module, name, PTR, [PTR])
    kind = ir.FunctionType(PTR, [PTR, PTR]).as_pointer()
    called = b.inttoptr(I64(run), kind)
    b.ret(b.call(called, [b.arguments[0], b.inttoptr(I64(description), PTR)]))
