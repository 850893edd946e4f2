"""The charts of a free orientation, by name."""

from __future__ import annotations

from kinetree.model.joints.answers import Chart
from kinetree.model.joints.ball import Ball, ExponentialBall
from kinetree.model.joints.composite import EULER_SEQUENCES, euler, free_motion
from kinetree.model.joints.floating import Floating

CHARTS = {
    "quaternion": Chart(Ball(), Floating()),
    "exponential": Chart(ExponentialBall(), free_motion(ExponentialBall())),
    **{name: Chart(euler(name), free_motion(euler(name))) for name in EULER_SEQUENCES},
}
"""Maps the name of a chart to its joints."""
