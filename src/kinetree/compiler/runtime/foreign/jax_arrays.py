"""JAX: a kernel as a primitive, which every transformation of JAX knows.

Compiled kernels run through XLA's foreign-function interface: on the CPU as machine code, on a GPU
as CUDA kernels on XLA's stream. On the CPU, outside of `jit`, large results are computed without
XLA, in memory that is kept. Elsewhere, and where nothing is compiled, the program is traced into
JAX's own operations. Derivatives are kernels: forward by `Kernel.tangent`, in reverse by
`Kernel.vjp`, of any order.

A primitive's operands have the axes of one state and one batch axis before them. An argument whose
batch has length one serves all states.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree._optional import optional
from kinetree.compiler.graph.evaluate import values
from kinetree.compiler.graph.program import size
from kinetree.compiler.runtime.arrays import batch_shape, check_count, plain_array, refuse_masked
from kinetree.compiler.runtime.foreign import foreign_name, no_numbers, refuse_out
from kinetree.compiler.runtime.foreign.jax_targets import cpu_target, gpu_target
from kinetree.compiler.runtime.memory import LARGE
from kinetree.errors import BackendWarning, DtypeError
from kinetree.scalar import ALIASES

if TYPE_CHECKING:
    from kinetree.compiler.runtime.kernel import Kernel

jax = optional("jax", "a kernel of JAX's arrays")
jnp = optional("jax.numpy", "a kernel of JAX's arrays")
ad, batching, mlir = (
    optional(f"jax.interpreters.{name}", "a kernel of JAX's arrays")
    for name in ("ad", "batching", "mlir")
)
Primitive = optional("jax.extend.core", "a kernel of JAX's arrays").Primitive
ShapedArray = optional("jax.core", "a kernel of JAX's arrays").ShapedArray


def call(kernel: Kernel, arrays: Sequence[Any], out: Any) -> Any:
    """The results of a kernel as JAX's arrays; float32 if all arguments are, else float64."""
    refuse_out(kernel, out, "JAX")
    given = _arguments(kernel, arrays)
    batch = batch_shape(kernel.name, kernel.interface.inputs, given)
    flat = [
        _flat(x, batch, shape) for x, (_, shape) in zip(given, kernel.interface.inputs, strict=True)
    ]
    found = kernel_p.bind(*flat, kernel=kernel)
    outputs = kernel.interface.outputs
    results = [
        jnp.reshape(y, (*batch, *shape)) for y, (_, shape) in zip(found, outputs, strict=True)
    ]
    return results[0] if len(results) == 1 else tuple(results)


def _arguments(kernel: Kernel, arrays: Sequence[Any]) -> list[Any]:
    """The arguments as JAX's arrays of one dtype."""
    check_count(kernel.name, kernel.interface.inputs, arrays)
    named = zip(kernel.interface.inputs, arrays, strict=True)
    given = [_array(f"{kernel.name}: {name}", x) for (name, _), x in named]
    for (name, _), x in zip(kernel.interface.inputs, given, strict=True):
        if x.dtype.name not in ("float64", "float32") and x.dtype.kind not in "iub":
            raise DtypeError(
                f"{kernel.name}: {name} has dtype {x.dtype}; float64 is expected (or float32, or "
                "integers)"
            )
    single = all(x.dtype.name == "float32" for x in given)
    dtype = jnp.float32 if single else jnp.result_type(float)
    return [x.astype(dtype) for x in given]


def _array(what: str, given: Any) -> Any:
    """An argument as JAX's array; lists may hold what JAX traces."""
    if isinstance(given, np.ndarray) or foreign_name((given,)) not in ("", "jax_arrays"):
        return jnp.asarray(plain_array(what, given))
    refuse_masked(what, given)
    try:
        return jnp.asarray(given)
    except (TypeError, ValueError) as e:
        raise DtypeError(f"{what}: {e}") from None


def to_numpy(what: str, array: Any) -> Any:
    """The same numbers on the host; an array that JAX traces has none."""
    if isinstance(array, jax.core.Tracer):
        raise no_numbers(
            what, "jax_arrays", "call it outside of jit, grad and vmap, or use a kernel's method"
        )
    return plain_array(what, np.asarray(array))


def from_numpy(array: Any, like: Any) -> Any:
    """An array of NumPy on the device of another array; float32 if JAX has no float64."""
    found = jnp.asarray(array)
    return found if found.devices() == like.devices() else jax.device_put(found, _device(like))


def on_gpu(array: Any) -> bool:
    """Whether an array is on a GPU."""
    traced = isinstance(array, jax.core.Tracer)
    return not traced and _device(array).platform in ("gpu", "cuda")


@contextmanager
def beside(like: Any) -> Iterator[None]:
    """CuPy's device is that of an array, and JAX's work on it is done before and CuPy's after."""
    cupy = optional("cupy", "arrays of JAX on a GPU")
    like.block_until_ready()
    with cupy.cuda.Device(like.__dlpack_device__()[1]):
        yield
        cupy.cuda.get_current_stream().synchronize()


def to_cupy(what: str, array: Any) -> Any:
    """The memory of an array on a GPU as one of CuPy."""
    return optional("cupy", "arrays of JAX on a GPU").from_dlpack(array.block_until_ready())


def from_cupy(array: Any, like: Any) -> Any:
    """An array of CuPy as one of JAX in the same memory."""
    return jnp.from_dlpack(array)


def _device(array: Any) -> Any:
    return min(array.devices(), key=lambda device: device.id)


def _flat(x: Any, batch: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """An argument with one batch axis, of length one if all states share it."""
    own = x.shape[: x.ndim - len(shape)]
    if prod(own) == 1:
        return jnp.reshape(x, (1, *shape))
    return jnp.reshape(jnp.broadcast_to(x, (*batch, *shape)), (prod(batch), *shape))


def traced(kernel: Kernel, *arrays: Any) -> list[Any]:
    """The results of a kernel by JAX's own operations, on any device.

    Arguments and results have one batch axis.
    """
    program = kernel.program
    n = _states(arrays)
    columns = [
        [jnp.reshape(x, (x.shape[0], -1))[:, k] for k in range(size(i.shape))]
        for x, i in zip(arrays, program.inputs, strict=True)
    ]
    found = values(program, columns, _operation)
    dtype = arrays[0].dtype
    return [
        jnp.reshape(
            jnp.stack([jnp.broadcast_to(jnp.asarray(found[k], dtype), (n,)) for k in o.nodes], -1),
            (n, *o.shape),
        )
        for o in program.outputs
    ]


NAMES = {
    "neg": "negative",
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "atan2": "arctan2",
    "select": "where",
    "min": "minimum",
    "max": "maximum",
}
"""JAX's names of operations, where they are not ours."""


def _operation(op: str, args: list[Any]) -> Any:
    if op in ALIASES:
        value, *others = args
        followed = (x - jax.lax.stop_gradient(x) for x in others)
        return sum(followed, start=jax.lax.stop_gradient(value))
    return getattr(jnp, NAMES.get(op, op))(*args)


def _states(arrays: Sequence[Any]) -> int:
    """How many states operands have: as many as one of them that does not serve all."""
    return next((x.shape[0] for x in arrays if x.shape[0] != 1), 1)


# The primitives. `kernel_p` is a kernel; `tangent_p` is its tangent, which is known to be linear in
# the rates: its arguments are those of the kernel, then the rates of those that are named.

kernel_p = Primitive("kinetree_kernel")
tangent_p = Primitive("kinetree_tangent")


def _tangent(kernel: Kernel, names: tuple[str, ...]) -> Kernel:
    return kernel.tangent(names)


def _evaluated(*arrays: Any, kernel: Kernel) -> list[Any]:
    n, dtype = _states(arrays), arrays[0].dtype
    return [ShapedArray((n, *shape), dtype) for _, shape in kernel.interface.outputs]


def _lowered(ctx: Any, *operands: Any, kernel: Kernel) -> Any:
    """The call of the compiled kernel in XLA's program."""
    kind = "float" if ctx.avals_in[0].dtype == np.float32 else "double"
    native = kernel.compiled(kind).native
    if native is None:
        return _lowered_trace(ctx, *operands, kernel=kernel)
    return jax.ffi.ffi_lowering(cpu_target(kernel, kind, native))(ctx, *operands)


def _lowered_gpu(ctx: Any, *operands: Any, kernel: Kernel) -> Any:
    """The launch of the kernel in XLA's program for a GPU; needs CuPy."""
    if find_spec("cupy") is None:
        warnings.warn(
            f"{kernel.name}: without CuPy it is made of JAX's own operations on a GPU, far slower "
            "than its kernel (pip install 'kinetree[gpu]')",
            BackendWarning,
            stacklevel=2,
        )
        return _lowered_trace(ctx, *operands, kernel=kernel)
    kind = "float" if ctx.avals_in[0].dtype == np.float32 else "double"
    return jax.ffi.ffi_lowering(gpu_target(kernel, kind))(ctx, *operands)


def _lowered_trace(ctx: Any, *operands: Any, kernel: Kernel) -> Any:
    return mlir.lower_fun(partial(traced, kernel), multiple_results=True)(ctx, *operands)


def _pushed(primals: Sequence[Any], tangents: Sequence[Any], *, kernel: Kernel) -> Any:
    """The results and their rates."""
    results = kernel_p.bind(*primals, kernel=kernel)
    return results, _rates(primals, tangents, kernel)


def _rates(primals: Sequence[Any], tangents: Sequence[Any], kernel: Kernel) -> list[Any]:
    pairs = zip(kernel.interface.inputs, tangents, strict=True)
    rates = {name: t for (name, _), t in pairs if type(t) is not ad.Zero}
    return tangent_p.bind(*primals, *rates.values(), kernel=kernel, names=tuple(rates))


def _pushed_tangent(
    primals: Sequence[Any], tangents: Sequence[Any], *, kernel: Kernel, names: tuple[str, ...]
) -> Any:
    results = tangent_p.bind(*primals, kernel=kernel, names=names)
    return results, _rates(primals, tangents, _tangent(kernel, names))


def _transposed(
    weights: Sequence[Any], *operands: Any, kernel: Kernel, names: tuple[str, ...]
) -> list[Any]:
    """What the rates weigh, from the weights of the results' rates: the kernel's vjp."""
    count = len(kernel.interface.inputs)
    points, rates = operands[:count], operands[count:]
    wanted = [k for k, rate in enumerate(rates) if ad.is_undefined_primal(rate)]
    given = [ad.instantiate_zeros(w) for w in weights]
    gradient = kernel.ambient().vjp([names[k] for k in wanted])
    found = kernel_p.bind(*points, *given, kernel=gradient)
    results: list[Any] = [None] * len(operands)
    for k, flat in zip(wanted, found, strict=True):
        shape = rates[k].aval.shape
        whole = jnp.reshape(flat, (flat.shape[0], *shape[1:]))
        shared = shape[0] == 1 and flat.shape[0] != 1
        results[count + k] = jnp.sum(whole, axis=0, keepdims=True) if shared else whole
    return results


def _batched(
    primitive: Any, operands: Sequence[Any], dims: Sequence[Any], **parameters: Any
) -> Any:
    """A mapped axis becomes a part of the batch."""
    mapped = [d is not None for d in dims]
    fronts = [
        jnp.moveaxis(x, d, 0) if m else x for x, d, m in zip(operands, dims, mapped, strict=True)
    ]
    B = next(x.shape[0] for x, m in zip(fronts, mapped, strict=True) if m)
    lengths = [x.shape[1] if m else x.shape[0] for x, m in zip(fronts, mapped, strict=True)]
    n = next((length for length in lengths if length != 1), 1)
    flat = []
    for x, m in zip(fronts, mapped, strict=True):
        core = x.shape[2:] if m else x.shape[1:]
        if not m and x.shape[0] == 1:
            flat.append(x)
        else:
            whole = jnp.broadcast_to(x, (B, n, *core))
            flat.append(jnp.reshape(whole, (B * n, *core)))
    results = primitive.bind(*flat, **parameters)
    shaped = [jnp.reshape(y, (B, y.shape[0] // B, *y.shape[1:])) for y in results]
    return shaped, [0] * len(shaped)


@partial(jax.jit, static_argnames=("primitive", "parameters"))
def _compiled(*operands: Any, primitive: Any, parameters: Any) -> Any:
    return primitive.bind(*operands, **dict(parameters))


def _gives_much(*arrays: Any, kernel: Kernel) -> bool:
    """Whether results of a compiled kernel on the CPU are large.

    XLA takes new memory for each result, and new pages cost more than computing what is written.
    """
    count, size_ = _states(arrays), arrays[0].dtype.itemsize
    if count * size_ * sum(size(shape) for _, shape in kernel.interface.outputs) < LARGE:
        return False
    devices = {d for x in arrays if isinstance(x, jax.Array) for d in x.devices()}
    kind = "float" if arrays[0].dtype == np.float32 else "double"
    return devices <= {jax.devices("cpu")[0]} and kernel.compiled(kind).native is not None


def computed(*arrays: Any, kernel: Kernel) -> list[Any]:
    """The results of a kernel in memory of Kinetree, which JAX's arrays share."""
    found = kernel.unguarded(tuple(map(np.asarray, arrays)))
    return [jnp.from_dlpack(y) for y in (found if isinstance(found, tuple) else (found,))]


def _install(
    primitive: Any, evaluated: Any, lowerings: Mapping[str, Any], pushed: Any, outside_jit: Any
) -> None:
    gives_much, on_cpu = outside_jit

    def run(*operands: Any, **parameters: Any) -> Any:
        if gives_much(*operands, **parameters):
            return on_cpu(*operands, **parameters)
        return _compiled(
            *operands, primitive=primitive, parameters=tuple(sorted(parameters.items()))
        )

    primitive.multiple_results = True
    primitive.def_impl(run)
    primitive.def_abstract_eval(evaluated)
    for platform, lowered in lowerings.items():
        mlir.register_lowering(primitive, lowered, platform=platform or None)
    ad.primitive_jvps[primitive] = pushed
    batching.primitive_batchers[primitive] = partial(_batched, primitive)


def _of_tangent(rule: Any) -> Any:
    """A rule for kernels, for tangents of kernels."""

    def applied(*given: Any, kernel: Kernel, names: tuple[str, ...]) -> Any:
        return rule(*given, kernel=_tangent(kernel, names))

    return applied


_LOWERINGS = {"": _lowered_trace, "cpu": _lowered, "cuda": _lowered_gpu}
_OUTSIDE_JIT = (_gives_much, computed)
_install(kernel_p, _evaluated, _LOWERINGS, _pushed, _OUTSIDE_JIT)
_install(
    tangent_p,
    _of_tangent(_evaluated),
    {platform: _of_tangent(lowered) for platform, lowered in _LOWERINGS.items()},
    _pushed_tangent,
    tuple(map(_of_tangent, _OUTSIDE_JIT)),
)
ad.primitive_transposes[tangent_p] = _transposed
