"""A stand-in for CuPy on the host: arrays are NumPy's, kernels are compiled as C++.

CUDA text has a function for the host beside each kernel (KINETREE_HOST), which runs all blocks. So
the GPU's back end is tested from end to end where there is no GPU.
"""

import contextlib
import ctypes
import shutil
import subprocess
import sys
import types
from itertools import count
from pathlib import Path

import numpy as np

COMPILER = shutil.which("g++") or shutil.which("clang++")
FLAGS = ["-O0", "-shared", "-fPIC", "-DKINETREE_HOST", "-x", "c++"]


class ndarray(np.ndarray):
    """An array of the stand-in, which NumPy's rules for plain arrays do not take."""

    __module__ = "cupy"

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self.ctypes.data, device_id=0)

    def set(self, numbers, stream=None):
        self[...] = numbers

    def get(self, stream=None, out=None, blocking=True):
        out[...] = self


def arrays(found):
    """NumPy's results as arrays of the stand-in."""
    if isinstance(found, np.ndarray):
        return found.view(ndarray)
    return tuple(map(arrays, found)) if isinstance(found, tuple) else found


class Launched:
    """A function of a library, and its address; launches of it are counted."""

    def __init__(self, function, parameters):
        self.function, self.parameters, self.calls = function, parameters, 0
        self.kernel = types.SimpleNamespace(ptr=ctypes.cast(function, ctypes.c_void_p).value)
        LOADED[self.kernel.ptr] = self

    def launch(self, places):
        self.calls += 1
        given = (ctypes.c_void_p * self.parameters).from_address(places)
        self.function(*(ctypes.c_int64.from_address(place) for place in given))


LOADED: dict[int, Launched] = {}
"""Functions by address: kernels that one test compiled may serve the next one, too."""


class Stream(contextlib.nullcontext):
    """A stream on which everything is done at once."""

    def __init__(self, non_blocking=False):
        super().__init__()

    def synchronize(self):
        pass


def memory(count):
    """Memory on the host, as `cupy.cuda.alloc` gives it."""
    kept = np.full(count, 0xFF, np.uint8)
    return types.SimpleNamespace(ptr=kept.ctypes.data, kept=kept)


class Device:
    """The only device."""

    id = 0
    attributes = {"MultiProcessorCount": 1}  # noqa: RUF012

    def __init__(self, _=0):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class CuPy(types.ModuleType):
    """The module: NumPy's functions, and what is CuPy's own."""

    ndarray = ndarray

    def __init__(self, folder: Path):
        super().__init__("cupy")
        self.folder, self.launched, self.modules = folder, [], count()
        self.capturing, self.streams = False, []
        self.cuda = types.SimpleNamespace(
            Device=Device,
            alloc=memory,
            alloc_pinned_memory=bytearray,
            Stream=Stream,
            get_current_stream=lambda: types.SimpleNamespace(ptr=0),
            memory=types.SimpleNamespace(OutOfMemoryError=MemoryError),
            runtime=types.SimpleNamespace(
                getDevice=lambda: 0, streamIsCapturing=lambda stream: self.capturing
            ),
            driver=types.SimpleNamespace(CUDADriverError=OSError, launchKernel=self.launch),
        )

    def launch(self, address, *how):
        """`cuLaunchKernel`, whose last arguments are the places of a kernel's arguments, and 0."""
        self.streams.append(how[-3])
        LOADED[address].launch(how[-2])

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        function = getattr(np, name)
        if isinstance(function, type):
            return function
        return lambda *given, **settings: arrays(function(*given, **settings))

    def asnumpy(self, array):
        return np.asarray(array).view(np.ndarray)

    def RawModule(self, code, options, backend):
        file = self.folder / f"module{next(self.modules)}"  # parts compile side by side
        file.write_text(code)
        library = file.with_suffix(".so")
        subprocess.run([COMPILER, *FLAGS, str(file), "-o", str(library)], check=True)
        loaded = ctypes.CDLL(str(library))

        def get_function(name):
            declared = code.rpartition(f"{name}(")[2].partition(")")[0]
            self.launched.append(Launched(getattr(loaded, name), declared.count(",") + 1))
            return self.launched[-1]

        return types.SimpleNamespace(get_function=get_function)


def installed(monkeypatch, folder: Path) -> CuPy:
    """The stand-in, in place of CuPy until the test ends."""
    from kinetree.compiler.runtime import foreign
    from kinetree.compiler.runtime.gpu import launch

    module = CuPy(folder)
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.delitem(foreign.IMPORTED, "cupy_arrays", raising=False)
    name = f"{foreign.__name__}.cupy_arrays"
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(launch, "_processors_of", lambda device: 1)
    return module
