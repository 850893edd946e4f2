"""Shapes, where a robot has them, and which of them can touch; see `Robot.collide`."""

from kinetree._lazy import listing
from kinetree.model.geometry import *  # noqa: F403 - its __all__ is the one list
from kinetree.model.geometry import __all__ as _names

__all__ = []
__all__ += _names
__dir__ = listing(__all__)
