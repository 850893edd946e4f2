"""`kinetree export`: a quantity of a robot as source code for another program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from kinetree.cli.choices import TARGETS
from kinetree.cli.options import check_settings
from kinetree.cli.outputs import check_outputs
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import KinetreeError, unknown
from kinetree.quantities import PUBLIC, QUANTITIES
from kinetree.robot import Robot


class Export(NamedTuple):
    """What is to be exported.

    quantity, method, settings: as in `Robot.kernel`.
    target: one of TARGETS.
    folder: where the files go; it is made if need be.
    dtype, name: as in `Kernel.c_code`.
    library: whether a shared library is built as well.
    overwrite: whether files of an earlier export are replaced.
    """

    quantity: str
    target: str
    folder: Path
    dtype: str
    name: str
    library: bool
    method: str
    settings: Mapping[str, Any]
    overwrite: bool = False


def write_export(robot: Robot, export: Export) -> list[Path]:
    """Write the files of an export; their paths."""
    if export.target not in TARGETS:
        raise unknown("target", export.target, TARGETS, "kinetree export")
    if export.quantity not in QUANTITIES:
        raise unknown("quantity", export.quantity, PUBLIC, "kinetree export")
    if export.folder.is_file():
        raise KinetreeError(f"--output {export.folder} is a file: a folder is expected")
    check_settings(robot.model, export.quantity, export.settings)
    kernel = robot.kernel(export.quantity, export.method, **export.settings)
    if export.target == "cuda":
        return _write_cuda(kernel, export)
    code = kernel.c_code(export.dtype, export.name)
    if export.folder.is_dir():
        check_outputs([export.folder / f"{code.name}.c"], export.overwrite)
    files = code.save(export.folder)
    return [*files, code.build(export.folder).library] if export.library else files


def _write_cuda(kernel: Kernel, export: Export) -> list[Path]:
    if export.library:
        raise KinetreeError("--lib builds C; CUDA is built by its CMakeLists.txt, or by nvcc *.cu")
    code = kernel.cuda_code(export.dtype, export.name)
    if export.folder.is_dir():
        check_outputs([export.folder / f"{code.name}.cu"], export.overwrite)
    return code.save(export.folder)
