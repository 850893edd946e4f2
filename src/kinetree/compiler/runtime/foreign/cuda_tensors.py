"""Tensors of PyTorch on a GPU: kernels are launched on their memory, on PyTorch's current stream.

Memory for results and for what lies between launches is PyTorch's own, so that it belongs to
PyTorch's CUDA graphs, too. What is no kernel gets CuPy's arrays that share
the memory of the tensors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from kinetree._optional import optional
from kinetree.compiler.runtime.gpu.launch import adopted
from kinetree.compiler.runtime.gpu.plan import View

if TYPE_CHECKING:
    from kinetree.compiler.runtime.gpu.device_kernel import GpuKernel
    from kinetree.compiler.runtime.kernel import Kernel

torch = optional("torch", "a kernel of tensors")


def launch(kernel: Kernel, tensors: Sequence[Any], out: Sequence[Any]) -> None:
    """Compute into the memory of given tensors.

    Arguments:
        tensors: the arguments, on one GPU and of one dtype.
        out: tensors of the results' shapes.
    """
    cupy = optional("cupy", "a kernel of tensors on a GPU")
    index = tensors[0].device.index
    with cupy.cuda.Device(index):
        kind = "float" if tensors[0].dtype == torch.float32 else "double"
        compiled = cast("GpuKernel", kernel.compiled_on(f"cuda:{index}", kind))
        given = [t.resolve_neg() if t.is_neg() else t for t in tensors]
        key = ("torch", *((t.shape, t.stride()) for t in (*given, *out)))
        plan = compiled.plan(key, lambda: (_views(given), _views(out)))
        if not plan.launches:
            return
        for k in plan.copied:
            shape = kernel.interface.inputs[k][1]
            given[k] = given[k].detach().expand(*plan.batch, *shape).contiguous()
        addresses = [t.data_ptr() for t in (*given, *out)]
        if not plan.workspace:
            plan.run(addresses, 0, current_stream(index))
            return
        memory = torch.empty(plan.workspace, dtype=torch.uint8, device=tensors[0].device)
        plan.run(addresses, memory.data_ptr(), current_stream(index))


def _views(tensors: Sequence[Any]) -> tuple[View, ...]:
    return tuple(View(tuple(t.shape), tuple(t.stride())) for t in tensors)


def current_stream(index: int) -> int:
    """The address of PyTorch's current stream on a GPU."""
    fast = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return int(torch.cuda.current_stream(index).cuda_stream if fast is None else fast(index))


@contextmanager
def beside(like: Any) -> Iterator[None]:
    """CuPy's device and stream are those of PyTorch for a tensor."""
    cupy = optional("cupy", "tensors on a GPU")
    index = like.device.index
    with cupy.cuda.Device(index), adopted(current_stream(index), index):
        yield


def to_cupy(t: Any) -> Any:
    """CuPy's array in the memory of a tensor."""
    return optional("cupy", "tensors on a GPU").from_dlpack(t.detach().resolve_neg())


def from_cupy(array: Any) -> Any:
    """A tensor in the memory of an array of CuPy."""
    return torch.from_dlpack(array)
