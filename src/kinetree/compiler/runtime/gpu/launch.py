"""CUDA text to launches: compiled by NVRTC through CuPy, which keeps the code on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree._optional import optional
from kinetree.compiler.emit.cuda_layout import Shape
from kinetree.errors import KinetreeError

OPTIONS = ("--std=c++14", "--fmad=true")


def cupy() -> Any:
    """The package, if it is there."""
    return optional("cupy", "a kernel of arrays on a GPU")


def compiled(name: str, text: str, shape: Shape) -> Any:
    """CuPy's kernel of a text."""
    try:
        module = cupy().RawModule(code=text, options=OPTIONS, backend="nvrtc")
        found = module.get_function(name)
    except Exception as e:
        raise KinetreeError(f"{name}: no code for this GPU: {e}") from e
    if shape.shared > 48 * 1024:
        found.max_dynamic_shared_size_bytes = shape.shared
    return found


def launch(name: str, function: Any, blocks: int, shape: Shape, arguments: Sequence[Any]) -> None:
    """Put a kernel on the current stream."""
    try:
        function((blocks,), (shape.threads,), tuple(arguments), shared_mem=shape.shared)
    except cupy().cuda.driver.CUDADriverError as e:
        raise KinetreeError(f"{name}: the launch failed: {e}") from e
