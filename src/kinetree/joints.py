"""Joints to build robots with; see `kinetree.Assembly` and docs/building.md.

An axis is "x", "y" or "z" (or "-x", ...), three numbers, or a Vector3. Only its direction counts.
"""

from kinetree.model.joints import (
    EULER_SEQUENCES,
    Ball,
    Composite,
    Custom,
    ExponentialBall,
    Floating,
    Joint,
    Prismatic,
    Revolute,
    Screw,
    cylindrical,
    euler,
    free_motion,
    planar,
    universal,
)

__all__ = [
    "EULER_SEQUENCES",
    "Ball",
    "Composite",
    "Custom",
    "ExponentialBall",
    "Floating",
    "Joint",
    "Prismatic",
    "Revolute",
    "Screw",
    "cylindrical",
    "euler",
    "free_motion",
    "planar",
    "universal",
]
