"""CUDA text, compiled as C++ for the host: every quantity equals the interpreter."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.emit import cuda_layout
from kinetree.compiler.emit.c_names import identifier
from kinetree.compiler.emit.cuda import emit_cuda, style
from kinetree.compiler.emit.cuda_layout import Layout, Rows, launch_shape
from kinetree.compiler.emit.cuda_loop import emit_cuda_loop
from kinetree.compiler.graph import interpret, trace
from kinetree.compiler.graph.lower import lower
from kinetree.compiler.graph.narrow import depth_first, most_alive, narrow
from kinetree.compiler.graph.parts import split
from kinetree.compiler.runtime.gpu.device_part import ROWS, GpuPart
from kinetree.quantities import PUBLIC
from tests.compiler.runtime.test_time_loop import LOOP, PROGRAM, arguments
from tests.mixed_robots import ROBOTS, every_kernel, interpreted, random_state
from tests.tolerances import relative_error

COMPILER = shutil.which("g++") or shutil.which("clang++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")


def compiled(texts, folder):
    """A library of kernels for the host: one source, each text in a namespace with its macros."""
    source, library = folder / "kernels.cpp", folder / "kernels.so"
    pieces = ["#include <math.h>"]
    for name, text in texts.items():
        macros = sorted(set(re.findall(r"#define (\w+)", text)))
        pieces += [f"namespace of_{name} {{", text, "}", *(f"#undef {macro}" for macro in macros)]
    source.write_text("\n".join(pieces))
    flags = ["-O0", "-shared", "-fPIC", "-DKINETREE_HOST", "-Wall", "-Werror", "-Wno-unused"]
    subprocess.run([COMPILER, *flags, str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


@needs_compiler
@pytest.mark.parametrize("limit", [None, 1000])
def test_columns_are_read_and_written_where_they_are(limit, tmp_path, monkeypatch):
    if limit:
        monkeypatch.setattr(cuda_layout, "SHARED_BYTES_OF_TWO", limit)
        monkeypatch.setattr(cuda_layout, "MAX_SHARED_BYTES", limit)
    program = trace("wide", wide, {"x": (40,)})
    columns = Layout((Rows(columns=True),), (Rows(columns=True), Rows()))
    text = emit_cuda(lower(program, style("double")), "wide", (), columns)
    x = np.random.default_rng(0).normal(size=(150, 40))
    given, m, z = np.ascontiguousarray(x.T), np.full((1600, 150), np.nan), np.zeros((150, 2))
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (given, m, z)]
    compiled({"wide": text}, tmp_path).wide(*pointers, None, ctypes.c_longlong(150))
    expected, numbers = interpret(program, x)
    assert (expected.reshape(150, -1) == m.T).all()
    assert (z == numbers).all()


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
@pytest.mark.parametrize("limit", [None, 1000])
def test_blocks_that_are_not_full_and_results_through_scratch(limit, tmp_path, monkeypatch):
    if limit:
        monkeypatch.setattr(cuda_layout, "SHARED_BYTES_OF_TWO", limit)
        monkeypatch.setattr(cuda_layout, "MAX_SHARED_BYTES", limit)
    program = trace("wide", wide, {"x": (40,)})
    lowered = lower(program, style("double"))
    assert bool(launch_shape(lowered).scratch) == bool(limit)
    library = compiled({"wide": emit_cuda(lowered, "wide")}, tmp_path)
    for states in (1, 31, 128, 300):
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
        if sum(program.operations.values()) > 10_000:
            continue  # a printer has one line an operation: size shows nothing but the compiler's
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


@needs_compiler
def test_a_program_in_parts_that_hand_values_on_equals_the_whole(tmp_path):
    """The host's kernels of all parts, launched as a GPU would be."""
    robot = kt.robots.human()
    kernel = robot.kernel("inverse_dynamics_derivatives")
    whole = kernel.program
    parts = split(whole, 4000)
    assert parts.between
    assert len(parts.parts) > 3
    gpu = [GpuPart(part, whole, "double") for part in parts.parts]
    texts = {x.name: emit_cuda(x.lowered, x.name, (), x.layout(ROWS)) for x in gpu}
    library = compiled(texts, tmp_path)
    for states in (1, 45):
        arrays = [np.ascontiguousarray(x) for x in random_state(robot, kernel, (states,))]
        results = [np.full((states, *o.shape), np.nan) for o in whole.outputs]
        between = [np.full(-(-states // 32) * 32 * n, np.nan) for n in parts.between]
        for part in gpu:
            given = [(s, [*arrays, *between][s.array]) for s in part.inputs]
            found = [(s, [*results, *between][s.array]) for s in part.outputs]
            pointers = [ctypes.c_void_p(x.ctypes.data + 8 * s.start) for s, x in (*given, *found)]
            getattr(library, part.name)(*pointers, None, ctypes.c_longlong(states))
        for a, b in zip(interpreted(kernel, arrays), results, strict=True):
            assert relative_error(b, a) < 1e-12


@needs_compiler
@pytest.mark.parametrize("systems", [1, 45])
def test_a_loop_over_time_equals_that_of_the_cpu(systems, tmp_path):
    steps, every, record = 7, 3, ("x", "pull", "table", "n")
    given = arguments(systems, steps)
    given[2] = given[2][0]  # one row for all systems
    lowered = lower(PROGRAM, style("double"))
    text = emit_cuda_loop(lowered, "loop", 2, 1, record, shared=(2,))
    library = compiled({"loop": text}, tmp_path)
    expected = LOOP(given, systems, steps, every, record)
    final = [np.full_like(x, np.nan) for x in given[:2]]
    records = [np.full_like(expected.records[name], np.nan) for name in record]
    arrays = [np.ascontiguousarray(x) for x in (*given, *final, *records)]
    numbers = [ctypes.c_longlong(n) for n in (systems, steps, every)]
    library.loop(*(ctypes.c_void_p(x.ctypes.data) for x in arrays), *numbers)
    found = arrays[len(given) :]
    for a, b in zip((*expected.final.values(), *expected.records.values()), found, strict=True):
        assert relative_error(b, a) < 1e-13


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
