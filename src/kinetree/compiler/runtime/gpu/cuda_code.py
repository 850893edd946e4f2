"""A kernel exported as CUDA C++: nvcc builds it, and it runs without Python."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from kinetree.compiler.emit.c_names import identifier
from kinetree.compiler.emit.cuda_project import LaunchedPart, Project
from kinetree.compiler.graph import Program
from kinetree.compiler.graph.parts import Segment, split
from kinetree.compiler.runtime.c_code import function_name, save_files, test_cases
from kinetree.compiler.runtime.gpu.device_part import LIMIT, ROWS, GpuPart
from kinetree.compiler.runtime.gpu.plan import BLOCKS, STRETCH
from kinetree.compiler.runtime.interface import Description


@dataclass(frozen=True)
class CudaCode:
    """A function that launches CUDA kernels: its files.

    Attributes:
        name: of the function; also of the files, without their endings.
        files: the text of each file, by its name: a header, the function, a file for each kernel, a
            test that compares results with expected ones, and a CMakeLists.txt.
    """

    name: str
    files: dict[str, str]

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write the files into a folder, which is created if it does not exist.

        Arguments:
            folder: its path.

        Returns:
            The paths of the files.
        """
        return save_files(folder, self.files)


def cuda_code(program: Program, name: str, kind: str, description: Description) -> CudaCode:
    """The CUDA code of a program.

    Arguments:
        name: of the function; by default the program's.
        kind: "double" or "float".
        description: for the comment of the header.
    """
    function = function_name(name, program)
    parts = split(program, LIMIT[kind])
    kernels = [GpuPart(part, program, kind) for part in parts.parts]
    project = Project(
        name=function,
        kind=kind,
        inputs=program.inputs,
        outputs=program.outputs,
        parts=[_launched(kernel, program) for kernel in kernels],
        between=parts.between,
        stretch=STRETCH,
        blocks=BLOCKS,
    )
    files = {
        f"{function}.h": project.header(description.summary, description.operands),
        f"{function}.cu": project.source(),
        **{f"{function}_part{k}.cu": kernel.text() for k, kernel in enumerate(kernels)},
        f"{function}_test.cu": project.test(*test_cases(program, kind)),
        "CMakeLists.txt": project.cmake(),
    }
    return CudaCode(function, files)


def _launched(part: GpuPart, program: Program) -> LaunchedPart:
    layout = part.layout(ROWS)
    pointers = [
        _pointer(segment, [identifier(x.name) for x in operands], lies.stride or 0)
        for operands, segments, side in (
            (program.inputs, part.inputs, layout.inputs),
            (program.outputs, part.outputs, layout.outputs),
        )
        for segment, lies in zip(segments, side, strict=True)
    ]
    return LaunchedPart(identifier(part.name), part.shape, tuple(pointers), len(part.inputs))


def _pointer(segment: Segment, names: list[str], stride: int) -> str:
    """A pointer to a segment for the first state of a stretch, in C."""
    behind = segment.array - len(names)
    if behind >= 0:
        return f"between{behind}"
    return f"{names[segment.array]} + begin * {stride} + {segment.start}"
