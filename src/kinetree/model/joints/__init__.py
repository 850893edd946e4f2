"""The joints, one file each. A joint is what its transform, its subspace and its chart say."""

from kinetree.model.joints.base import Joint
from kinetree.model.joints.floating import Floating
from kinetree.model.joints.prismatic import Prismatic
from kinetree.model.joints.revolute import Revolute

__all__ = ["Floating", "Joint", "Prismatic", "Revolute"]
