"""The code every kernel shares: routines, drivers and the pool, compiled once for the host."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from kinetree.compiler.graph.schedule import RESULTS
from kinetree.compiler.native.layout import SHARE, WRITTEN_ROUTINES
from kinetree.compiler.runtime import cache as disk
from kinetree.compiler.runtime.cpu.binding import new_array_address
from kinetree.compiler.runtime.cpu.host import Loaded, host, provide

if TYPE_CHECKING:
    from llvmlite import ir

PYTHON_FUNCTIONS = (
    "PyCapsule_GetPointer",
    "PyErr_NoMemory",
    "PyGILState_Ensure",
    "PyGILState_Release",
    "Py_DecRef",
    "Py_IncRef",
)
"""What generated code calls of Python, by the same names."""


@cache
def pool_code() -> Loaded:
    """The pool of threads, loaded."""
    _provide_symbols()

    def define(module: ir.Module) -> None:
        from kinetree.compiler.native.thread_pool import (
            define_pool,  # not needed where the cache has the code
        )

        define_pool(module, host().architecture)

    loaded = _load("pool", define)
    provide(SHARE, loaded.address(SHARE))
    return loaded


@cache
def support(kind: str) -> Loaded:
    """The routines and the driver of one type, loaded; kernels know the routines by name."""
    pool_code()
    target = host().target(kind)

    def define(module: ir.Module) -> None:
        from kinetree.compiler.native.bound_call import define_run
        from kinetree.compiler.native.fast_call import define_call
        from kinetree.compiler.native.functions import define_routines
        from kinetree.compiler.native.ir import Writer
        from kinetree.compiler.native.loop import Driver
        from kinetree.compiler.native.time_loop import define_rollout
        from kinetree.compiler.native.xla_call import define_xla

        define_routines(module, target)
        writer = Writer(module, target)
        driver = Driver(writer)
        define_call(writer, driver.run_one)
        define_run(writer, driver.run_one)
        define_rollout(writer, driver.transposes)
        define_xla(writer, driver.run_batch)

    loaded = _load(kind, define)
    for routine in RESULTS:
        symbol = target.routine(routine)
        provide(symbol, loaded.address(symbol))
    return loaded


@cache
def riccati_code() -> Loaded:
    """The backward pass of optimal control, loaded."""
    pool_code()

    def define(module: ir.Module) -> None:
        from kinetree.compiler.native.ir import Writer
        from kinetree.compiler.native.lane_riccati import define_lane_riccati
        from kinetree.compiler.native.riccati import define_riccati

        writer = Writer(module, host().target("double"))
        define_riccati(writer)
        define_lane_riccati(writer)

    return _load("riccati", define)


@cache
def band_code() -> Loaded:
    """What the minimisation of splines does with band matrices, loaded."""
    pool_code()

    def define(module: ir.Module) -> None:
        from kinetree.compiler.native.band_solver import define_band_solver
        from kinetree.compiler.native.band_sums import define_band_sums
        from kinetree.compiler.native.ir import Writer

        writer = Writer(module, host().target("double"))
        define_band_solver(writer, define_band_sums(writer))

    return _load("bands", define)


def _load(what: str, define: Callable[[ir.Module], None]) -> Loaded:
    h = host()
    name = disk.key("support", what, h.fingerprint)
    code = disk.load(name)
    if code is None:
        from llvmlite import ir

        module = ir.Module(f"kinetree_{what}")
        define(module)
        text = str(module).replace("\n{\n", " #0\n{\n") + h.attributes
        code = h.compile(text, optimise=True)
        disk.save(name, code)
    return h.load([code])


def _provide_symbols() -> None:
    """What generated code calls from C: Python's locks and memory, the C library's sin and cos."""
    python = ctypes.pythonapi
    provide("kinetree_acquire", python.PyThread_acquire_lock)
    provide("kinetree_release", python.PyThread_release_lock)
    provide("kinetree_allocate", python.PyMem_RawMalloc)
    provide("kinetree_free", python.PyMem_RawFree)
    provide("kinetree_new_array", new_array_address())
    for name in PYTHON_FUNCTIONS:
        provide(name, getattr(python, name))
    library = "ucrtbase" if sys.platform == "win32" else ctypes.util.find_library("m")
    libm = ctypes.CDLL(library)
    for name in ("sin", "cos", "feclearexcept", *(RESULTS.keys() - WRITTEN_ROUTINES)):
        provide(name, getattr(libm, name))
