"""C functions in the form that `casadi.external` loads: pointers in arrays, sparsity patterns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.compiler.emit import c
from kinetree.compiler.graph import Program
from kinetree.compiler.graph.lower import lower
from kinetree.compiler.graph.program import size

INTEGER = "long long int"


class Matrix(NamedTuple):
    """An argument or a result as CasADi sees it.

    at: row and column of each nonzero, column by column.
    """

    name: str
    rows: int
    columns: int
    at: list[tuple[int, int]]

    @staticmethod
    def dense(name: str, rows: int, columns: int) -> Matrix:
        """A matrix without structural zeros."""
        return Matrix(name, rows, columns, [(r, k) for k in range(columns) for r in range(rows)])

    @property
    def sparsity(self) -> list[int]:
        """CasADi's compressed pattern: sizes, where each column starts, the row of each nonzero."""
        starts = [sum(k < column for _, k in self.at) for column in range(self.columns + 1)]
        return [self.rows, self.columns, *starts, *(row for row, _ in self.at)]


class CasadiFunction(NamedTuple):
    """A program as CasADi calls it.

    program: its arguments and results are vectors of nonzeros, column by column.
    taken, given: all of CasADi's arguments and results.
    reads, writes: for each argument and each result of the program, which of CasADi's it is. What
        is not read has no influence; what is not written has no nonzero.
    """

    name: str
    program: Program
    taken: list[Matrix]
    given: list[Matrix]
    reads: list[int]
    writes: list[int]


def interface_source(function: CasadiFunction) -> str:
    """The source of a function, and of what tells CasADi how to call it."""
    name, program, taken, given, reads, writes = function
    body = c.source(lower(program, c.style("double")), f"{name}_body")
    sizes = [size(o.shape) for o in program.outputs]
    longest = max((size(i.shape) for i in program.inputs), default=1)
    operands = [f"a{k}" for k in range(len(reads))] + [f"r{k}" for k in range(len(writes))]
    return "\n".join(
        [
            body.replace(f'#include "{name}_body.h"\n', ""),
            f"static const double {name}_zeros[{max(longest, 1)}];",
            f"int {name}(const double **arg, double **res, {INTEGER} *iw, double *w, int mem)",
            "{",
            *(
                f"    const double *a{k} = arg[{place}] ? arg[{place}] : {name}_zeros;"
                for k, place in enumerate(reads)
            ),
            *(
                f"    double *r{k} = res[{place}] ? res[{place}] : w + {sum(sizes[:k])};"
                for k, place in enumerate(writes)
            ),
            "    (void)arg, (void)res, (void)iw, (void)w, (void)mem;",
            f"    {name}_body({', '.join(operands)});",
            "    return 0;",
            "}",
            *_queries(name, taken, given, sum(sizes)),
        ]
    )


def _queries(name: str, taken: Sequence[Matrix], given: Sequence[Matrix], work: int) -> list[str]:
    lines = []
    for side, matrices in (("in", taken), ("out", given)):
        count = len(matrices)
        lines.append(f"{INTEGER} {name}_n_{side}(void) {{ return {count}; }}")
        texts = ", ".join(f'"{m.name}"' for m in matrices)
        lines.append(f"static const char *const {name}_{side}_names[] = {{{texts}}};")
        lines.append(
            f"const char *{name}_name_{side}({INTEGER} i)\n"
            f"{{\n    return i < {count} ? {name}_{side}_names[i] : 0;\n}}"
        )
        for k, m in enumerate(matrices):
            numbers = ", ".join(map(str, m.sparsity))
            lines.append(f"static const {INTEGER} {name}_{side}_{k}[] = {{{numbers}}};")
        patterns = ", ".join(f"{name}_{side}_{k}" for k in range(count))
        lines.append(f"static const {INTEGER} *const {name}_{side}_all[] = {{{patterns}}};")
        lines.append(
            f"const {INTEGER} *{name}_sparsity_{side}({INTEGER} i)\n"
            f"{{\n    return i < {count} ? {name}_{side}_all[i] : 0;\n}}"
        )
    lines.append(
        f"int {name}_work({INTEGER} *sz_arg, {INTEGER} *sz_res, {INTEGER} *sz_iw, "
        f"{INTEGER} *sz_w)\n{{\n"
        f"    *sz_arg = {len(taken)};\n    *sz_res = {len(given)};\n    *sz_iw = 0;\n"
        f"    *sz_w = {work};\n    return 0;\n}}\n"
    )
    return lines
