"""CUDA text, compiled as C++ for the host: every quantity equals the interpreter."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import kinetree as kt
from kinetree.emit import cuda
from kinetree.emit.c import identifier
from kinetree.emit.cuda import emit_cuda, launch_shape, style
from kinetree.graph import interpret, trace
from kinetree.graph.lower import lower
from kinetree.graph.narrow import depth_first, most_alive, narrow
from kinetree.quantities import PUBLIC
from tests.mixed_robots import ROBOTS, every_kernel, interpreted, random_state
from tests.tolerances import relative_error

COMPILER = shutil.which("g++") or shutil.which("clang++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")


def compiled(texts, folder):
    """A library of kernels for the host."""
    files = []
    for name, text in texts.items():
        files.append(folder / f"{name}.cpp")
        files[-1].write_text(text)
    library = folder / "kernels.so"
    flags = ["-O0", "-shared", "-fPIC", "-DKINETREE_HOST", "-Wall", "-Werror", "-Wno-unused"]
    subprocess.run([COMPILER, *flags, *map(str, files), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def run(function, program, arrays, kind="double"):
    """Call a kernel on a batch; results are poisoned before."""
    dtype = np.float64 if kind == "double" else np.float32
    states = len(arrays[0])
    given = [np.ascontiguousarray(x.reshape(states, -1), dtype) for x in arrays]
    results = [np.full((states, *o.shape), np.nan, dtype) for o in program.outputs]
    pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (*given, *results)]
    function(*pointers, None, ctypes.c_longlong(states))
    return results


def wide(x):
    """Many results of which few are distinct."""
    matrix = [[x[min(i, j)] * x[max(i, j)] for j in range(40)] for i in range(40)]
    return {"m": matrix, "z": [0.0, 1.5]}


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("states", [1, 31, 128, 300])
@pytest.mark.parametrize("limit", [None, 1000])
def test_blocks_that_are_not_full_and_results_through_scratch(states, limit, tmp_path, monkeypatch):
    if limit:
        monkeypatch.setattr(cuda, "GOOD_BYTES", limit)
        monkeypatch.setattr(cuda, "MOST_BYTES", limit)
    program = trace("wide", wide, {"x": (40,)})
    lowered = lower(program, style("double"))
    assert bool(launch_shape(lowered).scratch) == bool(limit)
    library = compiled({"wide": emit_cuda(lowered, "wide")}, tmp_path)
    x = np.random.default_rng(0).normal(size=(states, 40))
    for a, b in zip(interpret(program, x), run(library.wide, program, [x]), strict=True):
        assert (a == b).all()


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_every_quantity_equals_the_interpreter(name, tmp_path):
    robot = ROBOTS[name]()
    kernels, texts = {}, {}
    for k, (quantity, method, kernel) in enumerate(every_kernel(robot)):
        program = kernel.program
        if sum(program.operations.values()) > 40_000:
            continue  # minutes for a C++ compiler
        label = identifier(f"k{k}_{quantity}_{method}")
        kernels[label] = kernel
        texts[label] = emit_cuda(lower(program, style("double")), label)
    assert len(kernels) > len(PUBLIC) // 2
    library = compiled(texts, tmp_path)
    for label, kernel in kernels.items():
        arrays = random_state(robot, kernel, (5,))
        found = run(getattr(library, label), kernel.program, arrays)
        for a, b in zip(interpreted(kernel, arrays), found, strict=True):
            assert relative_error(b, a) < 1e-12, label


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("kind", ["float", "double"])
def test_the_text_compiles_to_ptx(kind, tmp_path):
    program = kt.robots.arm().kernel("inverse_dynamics").program
    file = tmp_path / "kernel.cu"
    file.write_text(emit_cuda(lower(program, style(kind)), "kernel"))
    ptx = tmp_path / "kernel.ptx"
    subprocess.run(["nvcc", "-arch=sm_90", "-ptx", str(file), "-o", str(ptx)], check=True)
    assert ".entry kernel" in ptx.read_text()


def test_the_narrow_order_keeps_fewer_values_alive():
    program = kt.robots.human().kernel("inverse_dynamics").program
    other = narrow(program)
    assert most_alive(other) == min(most_alive(program), most_alive(depth_first(program)))
    q = kt.robots.human().random(0)
    v = np.random.default_rng(0).normal(size=(2, kt.robots.human().nv))
    for a, b in zip(interpret(program, q, *v), interpret(depth_first(program), q, *v), strict=True):
        assert (a == b).all()
