"""A stand-in for CuPy on the host: arrays are NumPy's, kernels are compiled as C++.

CUDA text has a function for the host beside each kernel (KINETREE_HOST), which runs all blocks. So
the GPU's back end is tested from end to end where there is no GPU.
"""

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


def arrays(found):
    """NumPy's results as arrays of the stand-in."""
    if isinstance(found, np.ndarray):
        return found.view(ndarray)
    return tuple(map(arrays, found)) if isinstance(found, tuple) else found


class Launched:
    """A function of a library, called as CuPy's kernels are."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, grid, block, arguments, shared_mem):
        self.calls += 1
        self.function(*map(passed, arguments))


def passed(x):
    """An argument for a C function: an array's address, or a number."""
    return ctypes.c_void_p(x.ctypes.data) if isinstance(x, np.ndarray) else ctypes.c_longlong(x)


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
        self.cuda = types.SimpleNamespace(
            Device=Device,
            runtime=types.SimpleNamespace(getDevice=lambda: 0),
            driver=types.SimpleNamespace(CUDADriverError=OSError),
        )

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
            self.launched.append(Launched(getattr(loaded, name)))
            return self.launched[-1]

        return types.SimpleNamespace(get_function=get_function)


def installed(monkeypatch, folder: Path) -> CuPy:
    """The stand-in, in place of CuPy until the test ends."""
    from kinetree.compiler.runtime import foreign
    from kinetree.compiler.runtime.gpu import device_kernel

    module = CuPy(folder)
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.delitem(foreign.IMPORTED, "cupy_arrays", raising=False)
    name = f"{foreign.__name__}.cupy_arrays"
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(device_kernel, "_processors_of", lambda device: 1)
    return module
