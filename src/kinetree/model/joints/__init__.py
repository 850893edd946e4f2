"""The joints, one file each. A joint is what its transform, its subspace and its chart say."""

from kinetree.model.joints.ball import Ball, ExponentialBall
from kinetree.model.joints.base import ConstantAxes, Joint
from kinetree.model.joints.composite import (
    EULER_SEQUENCES,
    Composite,
    cylindrical,
    euler,
    free_motion,
    planar,
    universal,
)
from kinetree.model.joints.custom import Custom
from kinetree.model.joints.floating import Floating
from kinetree.model.joints.mimic import Mimic
from kinetree.model.joints.moved import Moved, Reversed, moved, reversed_joint
from kinetree.model.joints.prismatic import Prismatic
from kinetree.model.joints.revolute import Revolute
from kinetree.model.joints.screw import Screw

__all__ = [
    "EULER_SEQUENCES",
    "Ball",
    "Composite",
    "ConstantAxes",
    "Custom",
    "ExponentialBall",
    "Floating",
    "Joint",
    "Mimic",
    "Moved",
    "Prismatic",
    "Reversed",
    "Revolute",
    "Screw",
    "cylindrical",
    "euler",
    "free_motion",
    "moved",
    "planar",
    "reversed_joint",
    "universal",
]
