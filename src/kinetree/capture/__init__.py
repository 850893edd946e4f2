"""Motion capture: BVH files in and out, and the human figure fitted to a recorded skeleton."""

from kinetree._lazy import listing
from kinetree.capture.bvh import MotionCapture, read_bvh, write_bvh
from kinetree.capture.fit import Fit, fit_human

__all__ = ["Fit", "MotionCapture", "fit_human", "read_bvh", "write_bvh"]

__dir__ = listing(__all__)
