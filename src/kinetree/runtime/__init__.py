"""Compiled programs as NumPy functions: the host's code generator, the cache, threads, kernels."""

from kinetree.runtime.kernel import Kernel
from kinetree.runtime.threads import get_threads, set_threads

__all__ = ["Kernel", "get_threads", "set_threads"]
