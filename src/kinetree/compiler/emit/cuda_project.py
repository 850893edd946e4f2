"""The files around exported CUDA kernels: a function that launches them, a test, CMake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinetree.compiler.emit.c_names import identifier
from kinetree.compiler.emit.c_project import Case
from kinetree.compiler.emit.cuda_layout import WARP, Shape
from kinetree.compiler.graph.program import Input, Output, size


class LaunchedPart(NamedTuple):
    """One kernel with its launch configuration and arguments.

    Attributes:
        name: of the kernel.
        shape: the launch configuration.
        pointers: its arguments and results, in C, where `begin` is the first state of a stretch.
        constant: the number of pointers that are arguments.
    """

    name: str
    shape: Shape
    pointers: tuple[str, ...]
    constant: int


class Project(NamedTuple):
    """A function that launches kernels, and the printer of its code.

    Attributes:
        name: of the function.
        kind: "double" or "float".
        inputs, outputs: its arguments and results.
        parts: the kernels, in order.
        between: the lengths of the rows passed between kernels.
        stretch: the number of states that pass through all kernels before the next ones begin.
        blocks: the most blocks of 128 threads for a multiprocessor.
    """

    name: str
    kind: str
    inputs: Sequence[Input]
    outputs: Sequence[Output]
    parts: Sequence[LaunchedPart]
    between: Sequence[int]
    stretch: int
    blocks: int

    @property
    def operands(self) -> list[Input | Output]:
        """Arguments, then results."""
        return [*self.inputs, *self.outputs]

    @property
    def names(self) -> list[str]:
        """The names of arguments and results, in C."""
        return [identifier(x.name) for x in self.operands]

    @property
    def _parameters(self) -> str:
        consts = ["const "] * len(self.inputs) + [""] * len(self.outputs)
        arrays = [f"{c}{self.kind} *{n}" for c, n in zip(consts, self.names, strict=True)]
        return ", ".join([*arrays, "long long states, void *workspace, cudaStream_t stream"])

    def header(self, comment: str, notes: Mapping[str, str]) -> str:
        """The header: prototypes, and the content of each argument and result.

        Arguments:
            comment: the computed quantity.
            notes: for arguments and results, their content with order and unit.
        """
        lines = [comment, ""]
        for k, (x, name) in enumerate(zip(self.operands, self.names, strict=True)):
            axes = "".join(f"[{n}]" for n in (*x.shape,)) or "[1]"
            side = "in " if k < len(self.inputs) else "out"
            lines.append(f"{side} {name}[states]{axes}: {notes.get(x.name, x.name)}")
        lines += [
            "",
            "All pointers are to memory of the device; a state's numbers follow each other.",
            f"`workspace` has {self.name}_workspace(states) bytes, or is null if that is 0.",
            "Nothing waits for the launches on `stream`. No two arrays may overlap.",
        ]
        text = "\n".join(f" * {line}".rstrip() for line in "\n".join(lines).split("\n"))
        text = text.replace("*/", "* /").replace("/*", "/ *")  # names of joints may hold anything
        return f"""#ifndef {self.name.upper()}_H
#define {self.name.upper()}_H

#include <stddef.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {{
#endif

/*
{text}
 */
cudaError_t {self.name}({self._parameters});
size_t {self.name}_workspace(long long states);

#ifdef __cplusplus
}}
#endif

#endif
"""

    def source(self) -> str:
        """The function that launches the kernels."""
        kernels = "\n".join(self._declared(part) for part in self.parts)
        return f"""#include "{self.name}.h"

{kernels}

static const long long STRETCH = {self.stretch if self.between else "1LL << 62"};

/* Blocks for a number of states: no more than the device runs at once some times over. */
static long long blocks_of(long long states, int threads)
{{
    int device = 0, processors = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    const long long most = (long long)processors * {self.blocks} * (128 / threads);
    const long long wanted = (states + threads - 1) / threads;
    return wanted < most ? wanted : most;
}}

static size_t aligned(long long elements)
{{
    return ((size_t)elements * sizeof({self.kind}) + 255) / 256 * 256;
}}

static long long scratch_of(long long states)
{{
    long long most = 0, needed;
{self._scratch()}    return most;
}}

extern "C" size_t {self.name}_workspace(long long states)
{{
    const long long stretch = states < STRETCH ? states : STRETCH;
    const long long tiles = (stretch + {WARP - 1}) / {WARP} * {WARP};
    size_t bytes = aligned(scratch_of(stretch));
{self._between("    bytes += aligned(tiles * {length});")}    return tiles ? bytes : 0;
}}

extern "C" cudaError_t {self.name}({self._parameters})
{{
    const long long stretch = states < STRETCH ? states : STRETCH;
    const long long tiles = (stretch + {WARP - 1}) / {WARP} * {WARP};
    char *at = (char *)workspace;
{self._between(self._taken)}    {self.kind} *scratch = ({self.kind} *)at;
    cudaError_t error = cudaSuccess;
    (void)tiles;
{self._attributes()}    for (long long begin = 0; begin < states && !error; begin += stretch) {{
        const long long count = states - begin < stretch ? states - begin : stretch;
{self._launches()}        error = cudaGetLastError();
    }}
    return error;
}}
"""

    @property
    def _taken(self) -> str:
        return (
            f"    {self.kind} *between{{k}} = ({self.kind} *)at;\n"
            "    at += aligned(tiles * {length});"
        )

    def _declared(self, part: LaunchedPart) -> str:
        types = [f"const {self.kind} *"] * part.constant
        types += [f"{self.kind} *"] * (len(part.pointers) - part.constant)
        return (
            f'extern "C" __global__ void {part.name}({", ".join(types)}, {self.kind} *, long long);'
        )

    def _between(self, line: str) -> str:
        return "".join(
            line.format(k=k, length=length) + "\n" for k, length in enumerate(self.between)
        )

    def _scratch(self) -> str:
        return "".join(
            f"    needed = blocks_of(states, {p.shape.threads}) * {p.shape.scratch};\n"
            "    most = needed > most ? needed : most;\n"
            for p in self.parts
        )

    def _attributes(self) -> str:
        return "".join(
            f"    error = cudaFuncSetAttribute({p.name}, "
            f"cudaFuncAttributeMaxDynamicSharedMemorySize, {p.shape.shared});\n"
            "    if (error != cudaSuccess) return error;\n"
            for p in self.parts
            if p.shape.shared > 48 * 1024
        )

    def _launches(self) -> str:
        return "".join(
            f"        {p.name}<<<blocks_of(count, {p.shape.threads}), {p.shape.threads}, "
            f"{p.shape.shared}, stream>>>({', '.join((*p.pointers, 'scratch', 'count'))});\n"
            for p in self.parts
        )

    def test(self, cases: Sequence[Case], tolerance: float) -> str:
        """A program that compares results of some states with expected ones.

        Arguments:
            cases: the states; without any, the test fails.
            tolerance: of a result, relative to the largest expected one.
        """
        inputs, count = len(self.inputs), len(cases)
        lengths = [size(x.shape) for x in self.operands]
        tables = []
        for k, name in enumerate(self.names):
            side, at = (0, k) if k < inputs else (1, k - inputs)
            numbers = ", ".join(repr(x) for case in cases for x in case[side][at])
            tables.append(f"static const double {name}_given[] = {{{numbers or '0.0'}}};")
        copies = "".join(
            f"    {self.kind} *{name} = on_device({name}_given, {n * count});\n"
            for name, n in zip(self.names, lengths, strict=True)
        )
        checks = "".join(
            f'    wrong += differing("{name}", {name}, {name}_given, {n * count});\n'
            for name, n in list(zip(self.names, lengths, strict=True))[inputs:]
        )
        tables_text = "\n".join(tables)
        return f"""#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "{self.name}.h"

{tables_text}

{self._test_helpers(tolerance)}
int main(void)
{{
    const long long states = {count};
    void *workspace = 0;
    int wrong = states == 0;
    const size_t bytes = {self.name}_workspace(states);
{copies}    if (bytes && cudaMalloc(&workspace, bytes) != cudaSuccess) return 2;
    const cudaError_t error = {self.name}({", ".join(self.names)}, states, workspace, 0);
    if (error != cudaSuccess) {{
        printf("{self.name}: %s\\n", cudaGetErrorString(error));
        return 1;
    }}
{checks}    printf("{self.name}: %s\\n", wrong == 0 ? "passed" : "FAILED");
    return wrong != 0;
}}
"""

    def _test_helpers(self, tolerance: float) -> str:
        """Functions that copy numbers to the device, and compare results."""
        return f"""static {self.kind} *on_device(const double *numbers, int count)
{{
    {self.kind} *host = ({self.kind} *)malloc(count * sizeof *host), *device = 0;
    for (int i = 0; i < count; ++i) host[i] = ({self.kind})numbers[i];
    if (cudaMalloc((void **)&device, count * sizeof *host) != cudaSuccess) exit(2);
    cudaMemcpy(device, host, count * sizeof *host, cudaMemcpyHostToDevice);
    free(host);
    return device;
}}

static int differing(const char *name, const {self.kind} *device, const double *expected, int count)
{{
    {self.kind} *host = ({self.kind} *)malloc(count * sizeof *host);
    double scale = 0.0;
    int wrong = 0;
    cudaMemcpy(host, device, count * sizeof *host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; ++i) scale = fmax(scale, fabs(expected[i]));
    for (int i = 0; i < count; ++i)
        if (!(fabs((double)host[i] - expected[i]) <= {tolerance!r} * scale)) {{
            printf("{self.name}: %s[%d] is %g, not %g\\n", name, i, (double)host[i], expected[i]);
            ++wrong;
        }}
    free(host);
    return wrong;
}}
"""

    def cmake(self) -> str:
        """A CMake file for the kernels, as a library, and the test."""
        parts = " ".join(f"{self.name}_part{k}.cu" for k in range(len(self.parts)))
        return f"""cmake_minimum_required(VERSION 3.18)
project({self.name} LANGUAGES CXX CUDA)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80 90)
endif()

add_library({self.name} {self.name}.cu {parts})
target_include_directories({self.name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})

enable_testing()
add_executable({self.name}_test {self.name}_test.cu)
target_link_libraries({self.name}_test {self.name})
add_test(NAME {self.name} COMMAND {self.name}_test)
"""
