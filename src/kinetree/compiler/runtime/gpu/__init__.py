"""Kernels on NVIDIA's GPUs."""
