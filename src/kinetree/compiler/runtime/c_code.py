"""A kernel in C: files to take elsewhere, or a shared library that Python calls."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from kinetree import kinds
from kinetree.compiler.emit import c, c_project
from kinetree.compiler.emit.c_names import identifier, is_function_name
from kinetree.compiler.graph import Program, interpret
from kinetree.compiler.graph.lower import lower
from kinetree.compiler.runtime.arrays import DTYPES, Shapes, batch_shape, plain_arrays
from kinetree.compiler.runtime.interface import Description
from kinetree.errors import KinetreeError, MissingFileError

FLAGS = ("-std=c99", "-fPIC", "-shared", "-ffp-contract=fast")
LARGE = 20_000
"""Operations from which on code is compiled at level 1: as fast, in a quarter of the time."""
CASES, DRAWN = 3, 8
"""States in the test that comes with the code, and how many are drawn to choose from."""


@dataclass(frozen=True)
class CCode:
    """A function in C99: its files, and how to build them.

    Attributes:
        name: of the function; also of the files, without their endings.
        kind: "double" or "float".
        header, source: the two files of the function.
        test: a program that compares the function's results with expected ones.
        cmake: a CMakeLists.txt for all of them.
        level: the optimisation level of the compiler.
        inputs, outputs: names and shapes of arguments and results.
    """

    name: str
    kind: str
    header: str
    source: str
    test: str
    cmake: str
    level: int
    inputs: Shapes
    outputs: Shapes

    @property
    def files(self) -> dict[str, str]:
        """The text of each file, by its name."""
        return {
            f"{self.name}.h": self.header,
            f"{self.name}.c": self.source,
            f"{self.name}_test.c": self.test,
            "CMakeLists.txt": self.cmake,
        }

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write the files into a folder, which is created if it does not exist.

        Arguments:
            folder: its path.

        Returns:
            The paths of the files.
        """
        return save_files(folder, self.files)

    def build(
        self,
        folder: str | os.PathLike[str],
        compiler: str | None = None,
        flags: Sequence[str] = ("-march=native",),
    ) -> CFunction:
        """Compile a shared library in a folder and load it.

        Arguments:
            folder: where to write the files and the library.
            compiler: its command; by default $CC, or the first of cc, gcc and clang that is found.
            flags: further options. The default generates code for this processor only.

        Returns:
            The function; call it with arrays.
        """
        source = self.save(folder)[1]
        library = compile_library(source, self.level, compiler, flags)
        return CFunction(library, self.name, self.kind, self.inputs, self.outputs)


def save_files(folder: str | os.PathLike[str], files: Mapping[str, str]) -> list[Path]:
    """Write texts into a folder, which is created if it does not exist; their paths.

    Arguments:
        folder: its path.
        files: the texts by the names of their files.
    """
    where = kinds.path("folder", folder)
    where.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        (where / file).write_text(text, encoding="utf-8")
    return [where / file for file in files]


def compile_library(
    source: Path,
    level: int,
    compiler: str | None = None,
    flags: Sequence[str] = ("-march=native",),
) -> Path:
    """Compile a shared library next to its source.

    Arguments:
        level: of optimisation.
        compiler, flags: as in `CCode.build`.

    Returns:
        The path of the library.
    """
    command = compiler or _compiler()
    ending = ".dylib" if sys.platform == "darwin" else ".so"
    library = source.with_name(f"lib{source.stem}{ending}")
    call = [command, f"-O{level}", *FLAGS, *flags, "-o", str(library), str(source), "-lm"]
    try:
        done = subprocess.run(call, capture_output=True, text=True, check=False)
    except OSError as e:
        raise MissingFileError(f"the compiler {command!r} cannot be run: {e.strerror}") from None
    if done.returncode != 0:
        raise KinetreeError(f"{' '.join(call)} failed:\n{done.stderr[-2000:]}")
    return library


def _compiler() -> str:
    named = os.environ.get("CC")
    for command in (named,) if named else ("cc", "gcc", "clang"):
        if shutil.which(command):
            return command
    raise MissingFileError(
        "there is no C compiler: cc, gcc and clang were looked for; name one with compiler= or CC"
    )


class CFunction:
    """A function of a shared library, called with arrays; a batch is a loop over its states.

    Arguments:
        library: the path of the shared library.
        name: of the function.
        kind: "double" or "float".
        inputs, outputs: names and shapes of arguments and results.
    """

    def __init__(
        self, library: Path, name: str, kind: str, inputs: Shapes, outputs: Shapes
    ) -> None:
        self.library, self.name, self.kind = library, name, kind
        self._inputs, self._outputs = inputs, outputs
        self._function = getattr(_loaded(library), name)
        self._function.restype = None
        self._function.argtypes = [ctypes.c_void_p] * (len(inputs) + len(outputs))

    def __repr__(self) -> str:
        return f"<CFunction {self.name} of {self.library}>"

    def __call__(self, *arrays: Any) -> Any:
        """The results for one state or any batch of them.

        Arguments:
            arrays: the arguments, in order, each (..., *shape); batches broadcast.

        Returns:
            The result, or a tuple of several, each (..., *shape).
        """
        plain = plain_arrays(self.name, self._inputs, arrays)
        batch = batch_shape(self.name, self._inputs, plain)
        kind, count = DTYPES[self.kind], prod(batch)
        given = [
            np.ascontiguousarray(np.broadcast_to(x, batch + shape), kind)
            for x, (_, shape) in zip(plain, self._inputs, strict=True)
        ]
        results = [np.empty(batch + shape, kind) for _, shape in self._outputs]
        # a row of numbers for each state, also where there is but one number
        shapes = [shape for _, shape in (*self._inputs, *self._outputs)]
        operands = zip((*given, *results), shapes, strict=True)
        for rows in zip(*(x.reshape(count, prod(shape)) for x, shape in operands), strict=True):
            self._function(*(row.ctypes.data for row in rows))
        return results[0] if len(results) == 1 else tuple(results)


def _loaded(library: Path) -> ctypes.CDLL:
    """The library, loaded from a copy: of a path loaded before, the loader gives the old one."""
    with tempfile.TemporaryDirectory(prefix="kinetree-") as folder:
        return ctypes.CDLL(shutil.copy(library, folder))


def c_code(program: Program, name: str, kind: str, description: Description) -> CCode:
    """The C code of a program.

    Arguments:
        name: of the function; by default the program's.
        kind: "double" or "float".
        description: for the comment of the header.
    """
    function = function_name(name, program)
    lowered = lower(program, c.style(kind))
    level = 1 if sum(program.operations.values()) > LARGE else 2
    cases, tolerance = test_cases(program, kind)
    return CCode(
        name=function,
        kind=kind,
        header=c.header(lowered, function, description.summary, description.operands),
        source=c.source(lowered, function),
        test=c_project.self_test(lowered, function, cases, tolerance),
        cmake=c_project.cmake(function, level),
        level=level,
        inputs=tuple((i.name, i.shape) for i in program.inputs),
        outputs=tuple((o.name, o.shape) for o in program.outputs),
    )


def function_name(name: str, program: Program) -> str:
    """The name of a function in C, checked; by default the program's."""
    function = kinds.text("name", name) or identifier(program.name)
    if not is_function_name(function):
        raise KinetreeError(
            f"name={name!r} cannot name a C function: letters, digits and _ are expected, a letter "
            "first, and no word of C, of its library or of CMake, such as "
            f"{identifier(f'{name}_{program.name}')!r}"
        )
    return function


def test_cases(program: Program, kind: str) -> tuple[list[c_project.Case], float]:
    """The states of the self-test with their expected results, and its tolerance.

    States whose results are not finite are left out: a square root has no negative argument.
    """
    rng = np.random.default_rng(0)
    lowest = np.repeat([[-1.0], [0.1]], DRAWN // 2, axis=0)  # some states have no negative number
    states = [
        rng.uniform(lowest, 1.0, (DRAWN, prod(i.shape))).astype(np.float32).reshape(DRAWN, *i.shape)
        for i in program.inputs
    ]
    with np.errstate(all="ignore"):
        exact, rough = (
            [
                np.broadcast_to(y, (DRAWN, *o.shape))
                for y, o in zip(interpret(program, *given), program.outputs, strict=True)
            ]
            for given in ([x.astype(float) for x in states], states)
        )
    each = [np.isfinite(y.reshape(DRAWN, -1)).all(axis=1) for y in (*exact, *rough)]
    usable = np.flatnonzero(np.all(each, axis=0))[:CASES]
    cases: list[c_project.Case] = [
        ([_flat(x[k]) for x in states], [_flat(y[k]) for y in exact]) for k in usable
    ]
    return cases, _tolerance([y[usable] for y in rough], [y[usable] for y in exact], kind)


def _flat(x: np.ndarray) -> list[float]:
    return [float(value) for value in x.ravel()]


def _tolerance(rough: Sequence[np.ndarray], exact: Sequence[np.ndarray], kind: str) -> float:
    """The tolerance: ten times the error of single precision, scaled to the kind.

    Arguments:
        rough, exact: the results of several states, in single and in double precision.
    """
    lost = np.finfo(np.float32).eps
    for r, e in zip(rough, exact, strict=True):
        axes = tuple(range(1, e.ndim))
        scale = np.maximum(np.abs(e).max(axes, initial=0.0), np.finfo(float).tiny)
        lost = max(lost, (np.abs(r - e).max(axes, initial=0.0) / scale).max(initial=0.0))
    return float(10.0 * lost * np.finfo(DTYPES[kind]).eps / np.finfo(np.float32).eps)
