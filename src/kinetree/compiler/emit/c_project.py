"""What accompanies a function in C: a self-test with expected results, and a CMake file."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.compiler.graph.lowered import Lowered

Values = Sequence[Sequence[float]]
"""For each operand, the numbers of one state."""
Case = tuple[Values, Values]
"""Arguments, and the results that are expected of them."""


def self_test(lowered: Lowered, name: str, cases: Sequence[Case], tolerance: float) -> str:
    """A program that compares results with expected ones; it prints differences and then fails.

    Arguments:
        cases: the states to be tested; without any, the test fails and says so.
        tolerance: how far a result may be from what is expected, relative to the largest.
    """
    if not cases:
        return _untested(name)
    kind = lowered.kind
    blocks = [_case(lowered, name, k, *case) for k, case in enumerate(cases)]
    return f"""#include <math.h>
#include <stdio.h>

#include "{name}.h"

/* How many of n results are farther than the tolerance from what is expected. */
static int {name}_wrong(const char *result, const {kind} *found, const double *expected, int n)
{{
    double scale = 0.0;
    int count = 0;
    for (int i = 0; i < n; ++i) {{
        scale = fmax(scale, fabs(expected[i]));
    }}
    for (int i = 0; i < n; ++i) {{
        const double value = (double)found[i];
        if (!(fabs(value - expected[i]) <= {tolerance!r} * scale)) {{
            printf("{name}: %s[%d] is %g, expected %g\\n", result, i, value, expected[i]);
            ++count;
        }}
    }}
    return count;
}}

{"".join(blocks)}int main(void)
{{
    const int count = {" + ".join(f"{name}_case_{k}()" for k in range(len(cases)))};
    printf("{name}: %s\\n", count == 0 ? "passed" : "FAILED");
    return count != 0;
}}
"""


def _untested(name: str) -> str:
    return f"""#include <stdio.h>

int main(void)
{{
    printf("{name}: not tested, because no state with finite results was found\\n");
    return 1;
}}
"""


def _case(lowered: Lowered, name: str, k: int, arguments: Values, results: Values) -> str:
    """A function that compares one state."""
    f = "f" if lowered.kind == "float" else ""
    lines = []
    for i, values in enumerate(arguments):
        numbers = ", ".join(f"{x!r}{f}" for x in values)
        lines.append(f"static const {lowered.kind} {name}_x{i}[] = {{{numbers}}};")
    for i, values in enumerate(results):
        numbers = ", ".join(repr(x) for x in values)
        lines.append(f"static const double {name}_expected{i}[] = {{{numbers}}};")
        lines.append(f"{lowered.kind} {name}_y{i}[{len(values)}];")
    operands = [f"{name}_x{i}" for i in range(len(arguments))]
    operands += [f"{name}_y{i}" for i in range(len(results))]
    lines.append(f"{name}({', '.join(operands)});")
    checks = [
        f'{name}_wrong("{output.name}", {name}_y{i}, {name}_expected{i}, {len(results[i])})'
        for i, output in enumerate(lowered.outputs)
    ]
    lines.append(f"return {' + '.join(checks)};")
    body = "\n".join(f"    {line}" for line in lines)
    return f"static int {name}_case_{k}(void)\n{{\n{body}\n}}\n\n"


def cmake(name: str, level: int) -> str:
    """A CMake file for the function, as a library, and its test.

    Arguments:
        level: at which GCC and Clang optimise it.
    """
    return f"""cmake_minimum_required(VERSION 3.10)
project({name} C)

set(CMAKE_C_STANDARD 99)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library({name} {name}.c)
target_include_directories({name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options({name} PRIVATE -O{level} -ffp-contract=fast)
endif()
if(UNIX)
  target_link_libraries({name} PUBLIC m)
endif()

enable_testing()
add_executable({name}_test {name}_test.c)
target_link_libraries({name}_test {name})
add_test(NAME {name} COMMAND {name}_test)
"""
