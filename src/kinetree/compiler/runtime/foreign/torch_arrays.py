"""PyTorch: a kernel as a differentiable function of tensors, by its own compiled derivatives.

There are two forms of it, because no single one works everywhere: an `autograd.Function`, which
`torch.func` can transform, and a custom operator, which `torch.compile` keeps in its graphs. Both
share the memory of the tensors that they are given. The backward of both is the same for
`Kernel.vjp`, so that gradients of any order are machine code. An operator is registered once for
each program and stays for the life of the process.

Tensors on a GPU are in `cuda_tensors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree._optional import optional
from kinetree.compiler.emit.c_names import identifier
from kinetree.compiler.runtime.arrays import Shapes, check_count, plain_array
from kinetree.compiler.runtime.foreign import foreign_module, no_numbers
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import DtypeError, KinetreeError, ShapeError

torch = optional("torch", "a kernel of tensors")

REGISTERED: set[str] = set()
"""The names of the operators of this process."""
DEVICES = ("cpu", "cuda")
"""The kinds of devices that kernels run on."""
PLAIN = (torch.Tensor, torch.nn.Parameter)
"""Tensors with memory of their own."""


def call(kernel: Kernel, arrays: Sequence[Any], out: Any) -> Any:
    """The results of a kernel as tensors; float32 if all arguments are, else float64."""
    tensors = _tensors(kernel, arrays)
    if out is None:
        return apply(kernel, tensors)
    _write(kernel, tensors, out if isinstance(out, tuple) else (out,))
    return out


def apply(kernel: Kernel, tensors: Sequence[Any]) -> Any:
    """The results of a kernel for tensors on one device, all float64 or all float32."""
    if torch.compiler.is_compiling():
        return getattr(torch.ops.kinetree, kernel.torch_operator())(*tensors)
    return function(kernel).apply(*tensors)


def function(kernel: Kernel) -> Any:
    """The `autograd.Function` of a kernel: forward and reverse derivatives, vmap."""
    return kernel.in_package("torch", _function)


def _function(kernel: Kernel) -> Any:
    inputs, outputs = kernel.interface.inputs, kernel.interface.outputs

    class Function(torch.autograd.Function):  # type: ignore[name-defined,misc]
        @staticmethod
        def forward(*tensors: Any) -> Any:
            if all(type(t) in PLAIN for t in tensors):
                return _computed(kernel, tensors)
            # tensors without memory, while graphs are recorded
            return getattr(torch.ops.kinetree, kernel.torch_operator())(*tensors)

        @staticmethod
        def setup_context(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, *weights: Any) -> Any:
            return _gradients(kernel, ctx.needs_input_grad, ctx.saved_tensors, weights)

        @staticmethod
        def jvp(ctx: Any, *rates: Any) -> Any:
            given = {name: r for (name, _), r in zip(inputs, rates, strict=True) if r is not None}
            return apply(kernel.tangent(list(given)), (*ctx.saved_tensors, *given.values()))

        @staticmethod
        def vmap(info: Any, in_dims: Sequence[int | None], *tensors: Any) -> Any:
            moved = _batch_first(inputs, in_dims, tensors)
            return apply(kernel, moved), 0 if len(outputs) == 1 else (0,) * len(outputs)

    Function.__name__ = Function.__qualname__ = identifier(kernel.name)
    return Function


def registered(kernel: Kernel) -> str:
    """The name of a kernel's custom operator in `torch.ops.kinetree`, registered if need be."""
    guarded = "_checked" if kernel.guarded else ""
    name = f"{identifier(kernel.name)}_{kernel.interface.digest[:16]}{guarded}"
    if name not in REGISTERED:
        _register(name, kernel)
        REGISTERED.add(name)
    return name


def _register(name: str, kernel: Kernel) -> None:
    inputs, outputs = kernel.interface.inputs, kernel.interface.outputs
    taken = ", ".join(f"Tensor x{k}" for k in range(len(inputs)))
    given = "Tensor" if len(outputs) == 1 else f"({', '.join(['Tensor'] * len(outputs))})"

    def shapes(*tensors: Any) -> Any:
        made = _empty(kernel, tensors)
        return made if len(made) > 1 else made[0]

    def backward(ctx: Any, *weights: Any) -> Any:
        return _gradients(kernel, ctx.needs_input_grad, ctx.saved_tensors, weights)

    made = torch.library.custom_op(
        f"kinetree::{name}",
        lambda *tensors: _computed(kernel, tensors),
        mutates_args=(),
        schema=f"({taken}) -> {given}",
        device_types=DEVICES,
    )
    made.register_fake(shapes)
    made.register_autograd(
        backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs)
    )


def _empty(kernel: Kernel, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """Tensors for the results of a kernel."""
    batch = _batch(kernel.name, kernel.interface.inputs, tensors)
    return tuple(tensors[0].new_empty((*batch, *shape)) for _, shape in kernel.interface.outputs)


def _computed(kernel: Kernel, tensors: Sequence[Any]) -> Any:
    """The results of a kernel on the memory of tensors."""
    if tensors[0].is_cuda:
        made = _empty(kernel, tensors)
        foreign_module("cuda_tensors").launch(kernel, tensors, made)
        return made if len(made) > 1 else made[0]
    results = kernel.call(tuple(map(_memory, tensors)))
    if isinstance(results, tuple):
        return tuple(map(torch.from_numpy, results))
    return torch.from_numpy(results)


def _memory(t: Any) -> Any:
    """A tensor's memory as an array of NumPy; of a negated view, a copy."""
    return t.detach().resolve_neg().numpy()


def wants_gradient(t: Any) -> bool:
    """Whether what is computed of a tensor is to be differentiated in reverse."""
    return bool(t.requires_grad and torch.is_grad_enabled())


def differentiable(forward: Any, pullback: Any, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """Results of a function that is no kernel, which autograd differentiates once.

    Arguments:
        forward: takes the tensors, without gradients, and gives a tuple of tensors.
        pullback: takes the weights of the results, and gives the gradient by each of the tensors,
            with all batch axes.
        tensors: the arguments.

    Returns:
        What `forward` gives.
    """

    class Function(torch.autograd.Function):  # type: ignore[name-defined,misc]
        @staticmethod
        def forward(ctx: Any, *given: Any) -> Any:
            return forward(*(t.detach() for t in given))

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, *weights: Any) -> Any:
            pairs = zip(pullback(*weights), tensors, strict=True)
            return tuple(found.sum_to_size(t.shape) for found, t in pairs)

    results: tuple[Any, ...] = Function.apply(*tensors)
    return results


def _gradients(
    kernel: Kernel, needed_by: Sequence[bool], tensors: Sequence[Any], weights: Sequence[Any]
) -> tuple[Any, ...]:
    """The gradients by the arguments that want one, by the kernel's vjp; None for the others."""
    inputs = kernel.interface.inputs
    wanted = [k for k, needs in enumerate(needed_by) if needs]
    gradient = kernel.ambient().vjp([inputs[k][0] for k in wanted])
    found = apply(gradient, (*tensors, *weights))
    each = found if isinstance(found, tuple) else (found,)
    results: list[Any] = [None] * len(inputs)
    for k, flat in zip(wanted, each, strict=True):
        whole = flat.reshape((*flat.shape[:-1], *inputs[k][1]))
        results[k] = whole.sum_to_size(tensors[k].shape)
    return tuple(results)


def _batch_first(inputs: Shapes, dims: Sequence[int | None], tensors: Sequence[Any]) -> list[Any]:
    """Tensors whose mapped axis is the first, before all other batch axes."""
    pairs = list(zip(tensors, inputs, dims, strict=True))
    depths = [t.ndim - len(shape) - (dim is not None) for t, (_, shape), dim in pairs]
    moved = []
    for (t, _, dim), depth in zip(pairs, depths, strict=True):
        if dim is None:
            moved.append(t)
        else:
            front = t.movedim(dim, 0)
            ones = (1,) * (max(depths) - depth)
            moved.append(front.reshape((front.shape[0], *ones, *front.shape[1:])))
    return moved


def _tensors(kernel: Kernel, arrays: Sequence[Any]) -> list[Any]:
    """The arguments as tensors of one dtype, where the first tensor is.

    Numbers and lists have no dtype: they get that of the others, without rounding before.
    """
    check_count(kernel.name, kernel.interface.inputs, arrays)
    device = next(x.device for x in arrays if isinstance(x, torch.Tensor))
    single = all(str(x.dtype).endswith("float32") for x in arrays if hasattr(x, "dtype"))
    dtype = torch.float32 if single else torch.float64
    tensors = []
    for (name, _), x in zip(kernel.interface.inputs, arrays, strict=True):
        what = f"{kernel.name}: {name}"
        if isinstance(x, torch.Tensor):
            _check(what, x, device)
            tensors.append(x if x.dtype == dtype else x.to(dtype))
        else:
            tensors.append(_from_host(what, x).to(device, dtype))
    return tensors


def on_gpu(t: Any) -> bool:
    """Whether a tensor is on a GPU."""
    return bool(t.is_cuda)


def beside(like: Any) -> Any:
    """A context in which CuPy computes where a tensor is, on PyTorch's current stream."""
    return foreign_module("cuda_tensors").beside(like)


def to_cupy(what: str, t: Any) -> Any:
    """The memory of a tensor on a GPU as an array of CuPy; not of those with gradients."""
    _refuse_gradient(what, t)
    return foreign_module("cuda_tensors").to_cupy(t)


def from_cupy(array: Any, like: Any) -> Any:
    """An array of CuPy as a tensor in the same memory."""
    return foreign_module("cuda_tensors").from_cupy(array)


def _refuse_gradient(what: str, t: Any) -> None:
    """Refuse a tensor that would lose its gradient."""
    _check(what, t, t.device)
    tangent = torch.autograd.forward_ad.unpack_dual(t).tangent
    if tangent is not None or (t.requires_grad and torch.is_grad_enabled()):
        raise KinetreeError(
            f"{what} is a tensor of PyTorch that requires a gradient, and "
            f"{what.partition(':')[0]} computes with NumPy, where gradients end: detach() it, or "
            "use torch.no_grad()"
        )


def to_numpy(what: str, t: Any) -> Any:
    """The numbers of a tensor, in its own memory if that is on the host; not those with gradients.

    Arguments:
        what: the function and the argument, for messages.
    """
    _refuse_gradient(what, t)
    try:
        return plain_array(what, t.detach().resolve_neg().cpu().numpy())
    except RuntimeError:  # inside torch.func and torch.compile there is no memory
        raise no_numbers(
            what, "torch_arrays", "call it outside of torch.func and torch.compile"
        ) from None


def from_numpy(array: Any, like: Any) -> Any:
    """An array of NumPy as a tensor on the device of another one."""
    return _shared(array).to(like.device)


def _shared(array: Any) -> Any:
    """A tensor in the memory of an array, or in a copy where PyTorch cannot use that."""
    usable = array.flags.writeable and all(step >= 0 for step in array.strides)
    return torch.from_numpy(array if usable else array.copy())


def _from_host(what: str, given: Any) -> Any:
    """A tensor of numbers that are in none yet."""
    if isinstance(given, (int, float)) or torch.compiler.is_compiling():
        return torch.as_tensor(given, dtype=torch.float64)
    if isinstance(given, (list, tuple)) and any(isinstance(x, torch.Tensor) for x in given):
        raise DtypeError(f"{what} is a list of tensors; torch.stack makes one of them")
    return _shared(plain_array(what, given))


def _check(what: str, t: Any, device: Any) -> None:
    if t.layout != torch.strided or t.is_nested:
        kind = "nested" if t.is_nested else str(t.layout).removeprefix("torch.")
        raise DtypeError(f"{what} is a {kind} tensor; a dense one is expected")
    if t.device.type not in DEVICES:
        raise KinetreeError(
            f"{what} is on {t.device}; a tensor on the CPU or on a CUDA device is expected"
        )
    if t.device != device:
        raise KinetreeError(
            f"{what} is on {t.device} and another argument on {device}; all tensors must be on "
            "one device"
        )
    exact = t.dtype in (torch.float64, torch.float32) or not (
        t.is_floating_point() or t.is_complex() or t.is_quantized
    )
    if not exact:
        raise DtypeError(
            f"{what} has dtype {t.dtype}; float64 is expected (or float32, or integers)"
        )


def _write(kernel: Kernel, tensors: Sequence[Any], out: Sequence[Any]) -> None:
    """Compute into the memory of given tensors, which are not differentiated."""
    for t in out:
        if not isinstance(t, torch.Tensor):
            raise DtypeError(
                f"{kernel.name}: out is a {type(t).__name__}; a tensor is expected, or a tuple of "
                "them, because an argument is a tensor"
            )
        _check(f"{kernel.name}: out", t, tensors[0].device)
        if t.is_neg():
            raise DtypeError(f"{kernel.name}: out is a negated view; memory of its own is expected")
    if torch.is_grad_enabled() and any(t.requires_grad for t in (*tensors, *out)):
        raise KinetreeError(
            f"{kernel.name}: out= cannot be differentiated; leave it out, or use torch.no_grad()"
        )
    if tensors[0].is_cuda:
        _check_results(kernel, tensors, out)
        foreign_module("cuda_tensors").launch(kernel, tensors, out)
        return
    views, arrays = (tuple(map(_memory, x)) for x in (out, tensors))
    kernel.call(arrays, views if len(views) > 1 else views[0])


def _check_results(kernel: Kernel, tensors: Sequence[Any], out: Sequence[Any]) -> None:
    """Refuse tensors on a GPU that results cannot be written into."""
    outputs = kernel.interface.outputs
    if len(out) != len(outputs):
        raise ShapeError(f"{kernel.name}: out has {len(out)} tensors; {len(outputs)} expected")
    batch = _batch(kernel.name, kernel.interface.inputs, tensors)
    for (name, shape), t in zip(outputs, out, strict=True):
        if tuple(t.shape) != (*batch, *shape) or t.dtype != tensors[0].dtype:
            raise ShapeError(
                f"{kernel.name}: out for {name} has shape {tuple(t.shape)} and {t.dtype}; "
                f"{(*batch, *shape)} and {tensors[0].dtype} are expected"
            )


def _batch(name: str, inputs: Shapes, tensors: Sequence[Any]) -> tuple[int, ...]:
    """The broadcast batch shape, also of tensors that have no memory yet."""
    batches = []
    for (argument, shape), t in zip(inputs, tensors, strict=True):
        axes = t.ndim - len(shape)
        if axes < 0 or tuple(t.shape[axes:]) != shape:
            raise ShapeError(
                f"{name}: {argument} has shape {tuple(t.shape)}; the last axes must be {shape}"
            )
        batches.append(t.shape[:axes])
    return tuple(torch.broadcast_shapes(*batches)) if batches else ()
