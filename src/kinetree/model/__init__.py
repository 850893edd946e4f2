"""The frozen model of a robot, its joints, its readers and the built-in robots."""

from kinetree.model.limits import BallRange
from kinetree.model.model import Body, Drive, Frame, Limits, Model

__all__ = ["BallRange", "Body", "Drive", "Frame", "Limits", "Model"]
