"""Shapes, where a robot has them, and which of them can touch; see `Robot.collide`."""

from kinetree.model.geometry import (
    Box,
    Capsule,
    Collider,
    ContactOptions,
    ContactPair,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HeightField,
    Plane,
    Solid,
    Sphere,
)

__all__ = [
    "Box",
    "Capsule",
    "Collider",
    "ContactOptions",
    "ContactPair",
    "ConvexMesh",
    "Cylinder",
    "Ellipsoid",
    "HeightField",
    "Plane",
    "Solid",
    "Sphere",
]
