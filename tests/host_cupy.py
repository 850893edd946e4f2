"""A stand-in for CuPy on the host: arrays are NumPy's, kernels are compiled as C++.

CUDA text has a function for the host beside each kernel (KINETREE_HOST), which runs all blocks. So
the GPU's back end is tested from end to end where there is no GPU.
"""

import contextlib
import ctypes
import pickle
import shutil
import subprocess
import sys
import types
from functools import partial
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
        self.ptr = ctypes.cast(function, ctypes.c_void_p).value
        self.kernel = types.SimpleNamespace(ptr=self.ptr)
        LOADED[self.ptr] = self

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
    compute_capability = "90"
    attributes = {"MultiProcessorCount": 1}  # noqa: RUF012

    def __init__(self, _=0):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Compiler:
    """`cupy.cuda.nvrtc`: units of a text become object files."""

    NVRTCError = subprocess.CalledProcessError

    def __init__(self, module):
        self.module = module

    def getVersion(self):
        return 0, 1

    def createProgram(self, text, name, headers, include_names):
        return types.SimpleNamespace(text=text, file=self.module.new_file())

    def compileProgram(self, program, options):
        program.file.write_text(program.text)
        defined = [x for x in options if x.startswith("-D")]
        flags = [x for x in FLAGS if x != "-shared"]
        to = program.file.with_suffix(".o")
        subprocess.run([COMPILER, "-c", *flags, *defined, program.file, "-o", to], check=True)

    def getCUBIN(self, program):
        return pickle.dumps((program.text, program.file.with_suffix(".o").read_bytes()))

    def getProgramLog(self, program):
        return "see the compiler's messages"

    def destroyProgram(self, program):
        pass


class Linker:
    """The driver's part of `cupy.cuda.driver` that links object files.

    Code goes with its text, which says how many arguments functions have: linked code may come from
    the cache of an earlier run.
    """

    def __init__(self, module):
        self.module = module

    def linkCreate(self):
        return []

    def linkAddData(self, state, kind, data, name):
        text, code = pickle.loads(data)
        file = self.module.new_file().with_suffix(".o")
        file.write_bytes(code)
        state.append((text, file))

    def linkComplete(self, state):
        whole = self.module.new_file().with_suffix(".so")
        files = [file for _, file in state]
        subprocess.run([COMPILER, "-shared", *files, "-o", whole], check=True)
        return pickle.dumps((state[0][0], whole.read_bytes()))

    def linkDestroy(self, state):
        self.module.linked += 1


class Module:
    """`cupy.cuda.function.Module` of a shared library."""

    def __init__(self, module):
        self.module = module

    def load(self, code):
        file = self.module.new_file().with_suffix(".so")
        self.text, library = pickle.loads(code)
        file.write_bytes(library)
        self.library = ctypes.CDLL(str(file))

    def get_function(self, name):
        return self.module.function_of(self.library, self.text, name)


class CuPy(types.ModuleType):
    """The module: NumPy's functions, and what is CuPy's own."""

    ndarray = ndarray

    def __init__(self, folder: Path):
        super().__init__("cupy")
        self.folder, self.launched, self.modules = folder, [], count()
        self.capturing, self.streams, self.linked = False, [], 0
        linker = Linker(self)
        self.cuda = types.SimpleNamespace(
            Device=Device,
            alloc=memory,
            alloc_pinned_memory=bytearray,
            Stream=Stream,
            get_current_stream=lambda: types.SimpleNamespace(ptr=0),
            memory=types.SimpleNamespace(OutOfMemoryError=MemoryError),
            runtime=types.SimpleNamespace(
                getDevice=lambda: 0,
                streamIsCapturing=lambda stream: self.capturing,
                free=lambda address: None,
            ),
            nvrtc=Compiler(self),
            function=types.SimpleNamespace(Module=partial(Module, self)),
            driver=types.SimpleNamespace(
                CUDADriverError=OSError,
                launchKernel=self.launch,
                funcSetAttribute=lambda function, attribute, value: None,
                linkCreate=linker.linkCreate,
                linkAddData=linker.linkAddData,
                linkComplete=linker.linkComplete,
                linkDestroy=linker.linkDestroy,
            ),
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

    def new_file(self):
        return self.folder / f"module{next(self.modules)}"  # parts compile side by side

    def RawModule(self, code, options, backend):
        file = self.new_file()
        file.write_text(code)
        library = file.with_suffix(".so")
        subprocess.run([COMPILER, *FLAGS, str(file), "-o", str(library)], check=True)
        loaded = ctypes.CDLL(str(library))
        return types.SimpleNamespace(get_function=partial(self.function_of, loaded, code))

    def function_of(self, library, code, name):
        declared = code.rpartition(f"{name}(")[2].partition(")")[0]
        self.launched.append(Launched(getattr(library, name), declared.count(",") + 1))
        return self.launched[-1]


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
