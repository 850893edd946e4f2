"""Calls of XLA on a GPU: a handler that launches a kernel on XLA's stream.

XLA hands over a frame with its buffers' addresses and lengths. The offsets are those of XLA's C API
(xla/ffi/api/c_api.h), version 0, whose structures only grow at their ends. The handler is a Python
function: it runs while XLA enqueues its program, not while the GPU computes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

# of XLA_FFI_CallFrame, in bytes
EXTENSION, API, CONTEXT, STAGE, ARGUMENT_COUNT, ARGUMENTS = 8, 16, 24, 32, 56, 72
RESULT_COUNT, RESULTS = 96, 112
EXECUTE = 3  # XLA_FFI_ExecutionStage_EXECUTE
# of XLA_FFI_Extension_Base, XLA_FFI_Metadata_Extension and XLA_FFI_Metadata
EXTENSION_TYPE, METADATA, METADATA_TYPE, METADATA_VERSION = 8, 24, 1, 24
# of XLA_FFI_Api
API_MINOR, CREATE_ERROR, GET_STREAM = 36, 48, 80
# of XLA_FFI_Buffer
DATA, RANK, LENGTHS = 24, 32, 40
INTERNAL = 13  # XLA_FFI_Error_Code_INTERNAL
POINTER = 8

Function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


class _ErrorRequest(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("message", ctypes.c_char_p),
        ("code", ctypes.c_int),
    )


class _StreamRequest(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        ("stream", ctypes.c_void_p),
    )


class Buffer:
    """One of XLA's arrays, in C order.

    Attributes:
        address: of its memory.
        shape: its lengths.
    """

    def __init__(self, at: int) -> None:
        self.address = _pointer(at + DATA)
        rank = _integer(at + RANK)
        self.shape = tuple((ctypes.c_int64 * rank).from_address(_pointer(at + LENGTHS)))


Run = Callable[[list[Buffer], list[Buffer], int], None]
"""Launches a kernel: takes arguments, results and the stream."""


def handler(run: Run) -> Any:
    """A function that XLA calls with a frame. It must be kept alive as long as XLA knows it."""

    def called(frame: int) -> int | None:
        extension = _pointer(frame + EXTENSION)
        if extension and _short(extension + EXTENSION_TYPE) == METADATA_TYPE:
            _answer_metadata(frame, extension)
            return None
        if _short(frame + STAGE) != EXECUTE:
            return None
        try:
            arguments = _buffers(frame, ARGUMENT_COUNT, ARGUMENTS)
            run(arguments, _buffers(frame, RESULT_COUNT, RESULTS), _stream(frame))
        except Exception as e:  # no exception may propagate through XLA's own code
            return _error(frame, f"{type(e).__name__}: {e}")
        return None

    return Function(called)


def _answer_metadata(frame: int, extension: int) -> None:
    """Report the supported version of the interface, while the handler is registered."""
    version = (ctypes.c_int32 * 3).from_address(_pointer(extension + METADATA) + METADATA_VERSION)
    version[:] = [0, _short(_pointer(frame + API) + API_MINOR), 0]  # major, minor, no traits


def _buffers(frame: int, count: int, table: int) -> list[Buffer]:
    first = _pointer(frame + table)
    return [Buffer(_pointer(first + POINTER * k)) for k in range(_integer(frame + count))]


def _stream(frame: int) -> int:
    """The address of XLA's stream."""
    size = ctypes.sizeof(_StreamRequest)
    request = _StreamRequest(size, None, _pointer(frame + CONTEXT), None)
    failed = _function(frame, GET_STREAM)(ctypes.addressof(request))
    if failed:
        raise RuntimeError("XLA gives no stream")
    return request.stream or 0


def _error(frame: int, message: str) -> int | None:
    """An error of XLA's."""
    size = _ErrorRequest.code.offset + ctypes.sizeof(ctypes.c_int)
    request = _ErrorRequest(size, None, message.encode(), INTERNAL)
    made: int | None = _function(frame, CREATE_ERROR)(ctypes.addressof(request))
    return made


def _function(frame: int, offset: int) -> Any:
    return Function(_pointer(_pointer(frame + API) + offset))


def _pointer(address: int) -> int:
    return ctypes.c_void_p.from_address(address).value or 0


def _integer(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


def _short(address: int) -> int:
    return ctypes.c_int32.from_address(address).value
