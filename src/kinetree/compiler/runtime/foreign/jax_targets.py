"""Kernels under the names by which XLA calls them."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import TYPE_CHECKING, Any

from kinetree._optional import optional
from kinetree.compiler.emit.c_names import identifier

if TYPE_CHECKING:
    from kinetree.compiler.runtime.host_program import Native
    from kinetree.compiler.runtime.kernel import Kernel

jax = optional("jax", "a kernel of JAX's arrays")

TARGETS: dict[str, Any] = {}
"""The handlers that XLA knows, by name, and what must stay alive with them."""


def gpu_target(kernel: Kernel, kind: str) -> str:
    """The name under which XLA knows a kernel on GPUs."""
    name = f"{_name(kernel, kind)}_cuda"
    if name not in TARGETS:
        from kinetree.compiler.runtime.gpu.device_kernel import launch_buffers  # for GPUs alone
        from kinetree.compiler.runtime.gpu.xla_frame import handler

        entry = handler(partial(launch_buffers, kernel, kind))
        address = ctypes.cast(entry, ctypes.c_void_p).value
        assert address is not None
        jax.ffi.register_ffi_target(name, _capsule(address), platform="CUDA")
        TARGETS[name] = entry
    return name


def _name(kernel: Kernel, kind: str) -> str:
    return f"kinetree_{identifier(kernel.name)}_{kernel.interface.digest}_{kind}"


def cpu_target(kernel: Kernel, kind: str, native: Native) -> str:
    """The name under which XLA knows a kernel on the CPU."""
    name = _name(kernel, kind)
    if name not in TARGETS:
        entry = native.xla_handler
        jax.ffi.register_ffi_target(name, _capsule(entry.address), platform="cpu")
        TARGETS[name] = entry
    return name


def _capsule(address: int) -> Any:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(address, None, None)
