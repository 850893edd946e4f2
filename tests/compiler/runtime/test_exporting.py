"""The text of kernels in the languages of all targets."""

import ctypes
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.runtime.gpu import cuda_code, device_kernel, device_part
from kinetree.errors import DtypeError, KinetreeError, UnknownNameError
from tests import host_cupy
from tests.mixed_robots import ROBOTS, interpreted, random_state
from tests.tolerances import relative_error


@pytest.fixture(scope="module")
def kernel():
    return kt.robots.cart_pole().kernel("mass_matrix")


def test_the_source_in_c_is_that_of_the_code(kernel):
    assert kernel.source("c") == kernel.c_code().source
    assert "float" in kernel.source("c", np.float32)


def test_the_source_in_llvm_is_ir_of_one_kind_of_number(kernel):
    ir = kernel.source("llvm")
    assert "define" in ir
    assert "double" in ir
    assert "double" not in kernel.source("llvm", "float32")


def test_the_source_in_cuda_is_what_nvrtc_gets(kernel, monkeypatch, tmp_path):
    given = []
    cp = host_cupy.CuPy(tmp_path)
    monkeypatch.setattr(cp, "RawModule", lambda code, **_: given.append(code) or 1 / 0)
    monkeypatch.setitem(sys.modules, "cupy", cp)
    for dtype, kind in (("float64", "double"), ("float32", "float")):
        compiled = device_kernel.GpuKernel(kernel.interface, kernel.program, kind)
        with pytest.raises(kt.errors.KinetreeError, match="no code for this GPU"):
            compiled.prepare()
        comments, code = kernel.source("cuda", dtype).split("\n", 2)[:2], given.pop()
        assert all(line.startswith("// ") for line in comments)
        assert kernel.source("cuda", dtype) == "\n".join([*comments, code])


@pytest.mark.skipif(host_cupy.COMPILER is None, reason="no C++ compiler")
def test_the_source_in_cuda_computes_the_quantity(tmp_path):
    robot = ROBOTS["gripper"]()
    kernel = robot.kernel("mass_matrix")
    file, library = tmp_path / "kernel.cu", tmp_path / "kernel.so"
    file.write_text(kernel.source("cuda"))
    assert file.read_text().startswith("// mass_matrix_0: in0 = q + 1, out0 = M\n")
    command = [host_cupy.COMPILER, *host_cupy.FLAGS, str(file), "-o", str(library)]
    subprocess.run(command, check=True)
    q = np.ascontiguousarray(*random_state(robot, kernel, (5,)))
    M = np.full((5, robot.nv, robot.nv), np.nan)
    pointers = [ctypes.c_void_p(q.ctypes.data + q.itemsize), ctypes.c_void_p(M.ctypes.data)]
    ctypes.CDLL(str(library)).mass_matrix_0(*pointers, None, ctypes.c_longlong(5))
    assert relative_error(M, interpreted(kernel, [q])[0]) < 1e-12


def test_a_long_program_in_cuda_is_one_kernel_for_each_part(monkeypatch):
    monkeypatch.setattr(device_part, "LIMIT", {"double": 900})
    kernel = kt.robots.arm().kernel("forward_dynamics_derivatives")
    text = kernel.source("cuda")
    parts = device_kernel.GpuKernel(kernel.interface, kernel.program, "double").parts
    assert len(parts) > 3
    assert text.count("__global__") == len(parts)
    for part in parts:
        assert f"// {part.name}: in0 = " in text
        assert part.text() in text
    assert " = between0" in text


NO_CUPY = """
import sys
sys.modules["cupy"] = None
import kinetree as kt
print("__global__" in kt.robots.cart_pole().kernel("mass_matrix").source("cuda"))
"""


def test_the_source_in_cuda_needs_neither_cupy_nor_a_gpu():
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, "-c", NO_CUPY], env=env, capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr


def test_unknown_targets_and_types_are_named(kernel):
    with pytest.raises(UnknownNameError, match="valid are 'c', 'cuda', 'llvm'"):
        kernel.source("fortran")
    with pytest.raises(DtypeError, match="float64 or float32 is expected"):
        kernel.source("cuda", "int")


NVCC = shutil.which("nvcc")


@pytest.mark.slow
@pytest.mark.skipif(NVCC is None, reason="no nvcc")
def test_nvcc_builds_the_cuda_code_of_a_program_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(cuda_code, "LIMIT", {"double": 60})
    kernel = kt.robots.double_pendulum().kernel("forward_dynamics_derivatives")
    code = kernel.cuda_code(name="derivatives")
    assert {"derivatives.h", "derivatives.cu", "derivatives_part1.cu"} < code.files.keys()
    sources = [str(file) for file in code.save(tmp_path) if file.suffix == ".cu"]
    done = subprocess.run(
        [NVCC, "-arch=sm_80", *sources, "-o", str(tmp_path / "test")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_cuda_code_names_its_function_and_operands(tmp_path):
    code = kt.robots.double_pendulum().kernel("inverse_dynamics").cuda_code("float32")
    header = code.files["inverse_dynamics.h"]
    assert "cudaError_t inverse_dynamics(const float *q, const float *v, const float *a" in header
    assert "inverse_dynamics_0<<<" in code.files["inverse_dynamics.cu"]
    assert code.save(tmp_path)[0].name == "inverse_dynamics.h"
    with pytest.raises(KinetreeError, match="cannot name a C function"):
        kt.robots.double_pendulum().kernel("inverse_dynamics").cuda_code(name="3 d")
