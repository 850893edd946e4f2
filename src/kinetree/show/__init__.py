"""Robots seen: plots, and the viewer in the browser."""

from kinetree.show import plot

__all__ = ["plot"]
