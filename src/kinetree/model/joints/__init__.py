"""The joints, one file each. Everything a joint is asked is answered in its file; see `Joint`."""

from kinetree.model.joints.answers import Chart, Label, MjcfElement, Transmission, UrdfElement
from kinetree.model.joints.axis import AxisJoint
from kinetree.model.joints.ball import Ball, ExponentialBall
from kinetree.model.joints.base import ConstantAxes, Joint
from kinetree.model.joints.charts import CHARTS
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
from kinetree.model.joints.dependent import CoordinateMap, Dependent
from kinetree.model.joints.floating import Floating
from kinetree.model.joints.mimic import Mimic
from kinetree.model.joints.offset import Offset
from kinetree.model.joints.prismatic import Prismatic
from kinetree.model.joints.revolute import Revolute
from kinetree.model.joints.screw import Screw
from kinetree.model.joints.wrapped import Relocated, Reversed

__all__ = [
    "CHARTS",
    "EULER_SEQUENCES",
    "AxisJoint",
    "Ball",
    "Chart",
    "Composite",
    "ConstantAxes",
    "CoordinateMap",
    "Custom",
    "Dependent",
    "ExponentialBall",
    "Floating",
    "Joint",
    "Label",
    "Mimic",
    "MjcfElement",
    "Offset",
    "Prismatic",
    "Relocated",
    "Reversed",
    "Revolute",
    "Screw",
    "Transmission",
    "UrdfElement",
    "cylindrical",
    "euler",
    "free_motion",
    "planar",
    "universal",
]
