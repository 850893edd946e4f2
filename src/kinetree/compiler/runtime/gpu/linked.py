"""Long CUDA text: its units are compiled in parallel by NVRTC, and linked by the driver.

NVRTC takes most of the time of a first call, and compiles a text on one core. Kinetree's own cache
stores the linked code.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from kinetree.compiler.runtime import cache

OPTIONS = ("--relocatable-device-code=true", "--ptxas-options=-O2")
"""Options for units: code of robots with contact is as fast as with -O3, compiled in 2/3 of the
time."""
CUBIN = 0
"""The driver's constant for machine code as input of the linker."""


def linked(cp: Any, text: str, units: int, options: Sequence[str]) -> Any:
    """The module of a text, on the current device.

    Arguments:
        cp: CuPy.
        text: CUDA C++, for every unit the same.
        units: their number.
        options: for NVRTC.
    """
    architecture = f"--gpu-architecture=sm_{cp.cuda.Device().compute_capability}"
    options = (architecture, *options, *OPTIONS)
    name = cache.key("cuda", repr(cp.cuda.nvrtc.getVersion()), str(units), *options, text)
    code = cache.load(name)
    if code is None:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            parts = list(pool.map(partial(_compiled, cp, text, options), range(units)))
        code = _together(cp, parts)
        cache.save(name, code)
    module = cp.cuda.function.Module()
    module.load(code)
    return module


def _compiled(cp: Any, text: str, options: Sequence[str], unit: int) -> bytes:
    """The machine code of a unit."""
    nvrtc = cp.cuda.nvrtc
    program = nvrtc.createProgram(text, f"unit{unit}.cu", (), ())
    try:
        nvrtc.compileProgram(program, (*options, f"-DKINETREE_UNIT={unit}"))
        code: bytes = nvrtc.getCUBIN(program)
    except nvrtc.NVRTCError as e:
        raise RuntimeError(nvrtc.getProgramLog(program)) from e
    finally:
        nvrtc.destroyProgram(program)
    return code


def _together(cp: Any, parts: Sequence[bytes]) -> bytes:
    """The machine code of all units."""
    driver = cp.cuda.driver
    cp.cuda.runtime.free(0)  # the driver links in a context, which the runtime's first call creates
    state = driver.linkCreate()
    try:
        for unit, code in enumerate(parts):
            driver.linkAddData(state, CUBIN, code, f"unit{unit}.cubin")
        whole: bytes = driver.linkComplete(state)
    finally:
        driver.linkDestroy(state)
    return whole
