"""Compiles CUDA text by NVRTC through CuPy, which caches the code on disk, and launches it.

Long text is compiled in units, see `linked`.

A launch takes addresses, integers and a stream. So arrays of CuPy, PyTorch and JAX share one code
path.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from kinetree._optional import optional
from kinetree.compiler.emit.cuda_layout import Shape
from kinetree.compiler.runtime.gpu.linked import linked
from kinetree.errors import DeviceError

OPTIONS = ("--std=c++14", "--fmad=true")
SHARED_BY_DEFAULT = 48 * 1024
"""Bytes of dynamic shared memory that a kernel may use without opting in."""
DYNAMIC_SHARED_BYTES = 8
"""The driver's attribute by which a kernel opts in to more."""
WORD = 8
"""Bytes of an address, and of a whole number."""


def cupy() -> Any:
    """The package CuPy; an error if it is not installed."""
    return sys.modules.get("cupy") or optional("cupy", "a kernel of arrays on a GPU")


class Function(NamedTuple):
    """A compiled kernel, on the device that was current when it was compiled.

    name: for messages.
    address: of the driver's function.
    shape: the launch configuration.
    code: CuPy's kernel, which keeps the function loaded.
    """

    name: str
    address: int
    shape: Shape
    code: Any


def compiled(name: str, text: str, shape: Shape, units: int = 1) -> Function:
    """The kernel of a text.

    Arguments:
        name: of the kernel.
        text: CUDA C++.
        shape: the launch configuration.
        units: the number of its units, see `emit.cuda_units`.
    """
    cp = cupy()
    try:
        if units > 1:
            code = linked(cp, text, units, OPTIONS).get_function(name)
            function = Function(name, code.ptr, shape, code)
            if shape.shared > SHARED_BY_DEFAULT:
                cp.cuda.driver.funcSetAttribute(code.ptr, DYNAMIC_SHARED_BYTES, shape.shared)
            return function
        code = cp.RawModule(code=text, options=OPTIONS, backend="nvrtc").get_function(name)
        if shape.shared > SHARED_BY_DEFAULT:
            code.max_dynamic_shared_size_bytes = shape.shared
        return Function(name, code.kernel.ptr, shape, code)
    except Exception as e:
        raise DeviceError(f"{name}: no code for this GPU: {e}") from e


class Launch:
    """A launch of a kernel, whose arguments stay until they are set again.

    Arguments:
        function: the kernel.
        blocks: the number of blocks.
        count: the number of its arguments.
    """

    def __init__(self, function: Function, blocks: int, count: int) -> None:
        driver = cupy().cuda.driver
        self._function, self._put, self._error = (
            function,
            driver.launchKernel,
            driver.CUDADriverError,
        )
        self._values = (ctypes.c_int64 * count)()
        first = ctypes.addressof(self._values)
        self._places = (ctypes.c_void_p * count)(*(first + WORD * k for k in range(count)))
        shape = function.shape
        self._how = (function.address, blocks, 1, 1, shape.threads, 1, 1, shape.shared)
        self._where = ctypes.addressof(self._places)

    def set(self, values: list[int]) -> Launch:
        """Set the arguments: addresses and integers, in order."""
        self._values[:] = values  # type: ignore[assignment]
        return self

    def on(self, stream: int) -> None:
        """Launch the kernel on a stream."""
        try:
            self._put(*self._how, stream, self._where, 0)
        except self._error as e:
            raise DeviceError(f"{self._function.name}: the launch failed: {e}") from e


def processors() -> int:
    """The multiprocessors of the current device; querying it takes longer than a launch."""
    return _processors_of(current_device())


@cache
def _processors_of(device: int) -> int:
    return int(cupy().cuda.Device(device).attributes["MultiProcessorCount"])


def current_device() -> int:
    """The number of CuPy's current device."""
    return int(cupy().cuda.runtime.getDevice())


def current_stream() -> int:
    """The address of CuPy's current stream."""
    return int(cupy().cuda.get_current_stream().ptr)


class _StreamHandle:
    """A stream by its address, in the CUDA stream protocol."""

    def __init__(self, address: int) -> None:
        self._address = address

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._address  # the protocol's version, the stream


def adopted(stream: int, device: int) -> Any:
    """Another package's stream as one of CuPy's, for a `with` statement.

    Arguments:
        stream: its address.
        device: the number of its GPU.
    """
    streams = cupy().cuda
    adopt = getattr(streams.Stream, "from_external", None)
    if adopt is None:  # before CuPy 14
        return streams.ExternalStream(stream, device)
    return adopt(_StreamHandle(stream))


def check_device(name: str, arrays: Iterable[tuple[str, Any]]) -> None:
    """Refuse arrays that are not on the current device.

    Arguments:
        name: of the kernel.
        arrays: CuPy's, with their names.
    """
    current = current_device()
    for what, array in arrays:
        if array.data.device_id != current:
            own = array.data.device_id
            raise DeviceError(
                f"{name}: {what} is on GPU {own}, and the current device is GPU {current}; move it "
                f"there, or call within `with cupy.cuda.Device({own}):` if all arrays are on {own}"
            )


KEPT: list[Any] = []
"""Workspaces of launches captured in CUDA graphs, which may be replayed until the process ends."""


def workspace(name: str, count: int, stream: int) -> Any:
    """Memory on the current device for the data between a call's launches.

    CuPy reuses freed memory only on the same stream, so it may be freed as soon as everything is
    launched. While launches are captured, it is kept.

    Arguments:
        name: of the kernel, for messages.
        count: bytes.
        stream: where the launches go.
    """
    cp = cupy()
    with room(name, count):
        memory = cp.cuda.alloc(count)
    if cp.cuda.runtime.streamIsCapturing(stream):
        KEPT.append(memory)
    return memory


class room:
    """A context that turns CuPy's out-of-memory error into a `DeviceError`.

    Arguments:
        name: of the kernel.
        count: bytes that are needed.
    """

    def __init__(self, name: str, count: int) -> None:
        self._name, self._count = name, count

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None and issubclass(kind, cupy().cuda.memory.OutOfMemoryError):
            raise DeviceError(
                f"{self._name}: the GPU has no memory left for {self._count / 1e6:.0f} MB; compute "
                "fewer states in one call, or free other arrays"
            ) from error
