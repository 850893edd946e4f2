"""Compiled programs as NumPy functions: the host's code generator, the cache, threads, kernels."""
