"""Names of C functions: none that a compiler, its library or CMake has a meaning for."""

import re
import shutil
import subprocess

import pytest

import kinetree as kt
from kinetree.compiler.emit.c_names import is_function_name
from kinetree.errors import KinetreeError

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
REFUSED = ["sin", "sinf", "printf", "NULL", "_Bool", "_x", "while", "class", "nan", "M_PI", "linux"]
REFUSED += [
    "math",
    "stdio",
    "Math",
    "test",
    "install",
    "APART",
    "main",
    "memcpy",
    "FP_NAN",
    "size_t",
]
TAKEN = ["x0", "s", "q", "v", "r0", "n", "i", "x", "wrong", "case_0", "found", "expected0", "count"]
"""Names that the files themselves use, or used."""


@pytest.mark.parametrize("name", [*REFUSED, "a b", "1a", "größe"])
def test_a_name_that_would_not_compile_is_refused(name):
    with pytest.raises(KinetreeError, match="cannot name a C function"):
        kt.robots.arm().kernel("mass_matrix").c_code(name=name)


@needs_compiler
@pytest.mark.parametrize("standard", ["c99", "gnu99", "gnu17"])
def test_no_name_that_the_included_headers_declare_is_valid(standard):
    def preprocessed(*options):
        run = subprocess.run(
            [COMPILER, f"-std={standard}", "-E", *options, "-x", "c", "-"],
            input="#include <math.h>\n#include <stdio.h>\n",
            capture_output=True,
            text=True,
            check=True,
        )
        return run.stdout

    macros = re.findall(r"^#define ([A-Za-z]\w*)", preprocessed("-dM"), re.M)
    functions = re.findall(r"\b([A-Za-z]\w*) ?\(", preprocessed("-P"))
    types = re.findall(r"typedef [^;]*?\b([A-Za-z]\w*);", preprocessed("-P"))
    declared = {*macros, *functions, *types}
    assert {"printf", "fmaf", "NULL", "FILE", "HUGE_VAL"} <= declared
    assert [name for name in sorted(declared) if is_function_name(name)] == []


@needs_compiler
@pytest.mark.parametrize("name", TAKEN)
def test_a_name_that_the_files_use_themselves_compiles_and_passes_its_test(name, tmp_path):
    pendulum = kt.Assembly("p")
    pendulum.add("a", "base", kt.joints.Revolute("z"), mass=1.0, com=(0.1, 0.0, 0.0))
    code = pendulum.robot().kernel("inverse_dynamics").c_code(name=name)
    code.save(tmp_path)
    files = [str(tmp_path / f"{name}.c"), str(tmp_path / f"{name}_test.c")]
    program = str(tmp_path / "run")
    call = [COMPILER, "-std=c99", "-Werror", "-O0", *files, "-o", program, "-lm"]
    subprocess.run(call, check=True, capture_output=True)
    assert subprocess.run([program], check=True, capture_output=True).stdout.endswith(b"passed\n")
