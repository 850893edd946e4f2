"""Tendons: lengths that are functions of the configuration, with springs and dampers along them."""

from kinetree.model.tendons.path import Pulley, Via, Wrap
from kinetree.model.tendons.tendon import FixedTendon, SpatialTendon, Tendon

__all__ = ["FixedTendon", "Pulley", "SpatialTendon", "Tendon", "Via", "Wrap"]
