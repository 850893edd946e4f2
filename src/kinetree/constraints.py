"""Constraints to close loops, hold frames and couple joints with; see `Robot.constrain`."""

from kinetree._lazy import listing
from kinetree.model.constraints import *  # noqa: F403 - its __all__ is the one list
from kinetree.model.constraints import __all__ as _names

__all__ = []
__all__ += _names
__dir__ = listing(__all__)
