"""Pairs of shapes for which there is no function: capsules take the place of some of them."""

from __future__ import annotations

from dataclasses import replace

from kinetree.algorithms.contact import can_touch
from kinetree.errors import ModelError
from kinetree.model import Model
from kinetree.model.formats.collision_shapes import fitted_capsule
from kinetree.model.geometry import Collider, ContactPair, ConvexMesh, Cylinder, Ellipsoid


def possible(model: Model, remarks: list[str]) -> Model:
    """The same model with pairs for all of which there is a function.

    In other pairs a cylinder, an ellipsoid or a hull is replaced by a capsule; what is impossible
    even so is left out.

    Arguments:
        model: with any pairs.
        remarks: what is replaced or left out is added to it, a sentence each.
    """
    colliders = {c.name: c for c in model.colliders}
    pairs: list[ContactPair] = []
    for pair in model.contacts:
        one, two = colliders[pair.first], colliders[pair.second]
        if not can_touch(one.shape, two.shape):
            one, two = (_replaced(c, colliders, remarks) for c in (one, two))
        if can_touch(one.shape, two.shape):
            pairs.append(replace(pair, first=one.name, second=two.name))
        else:
            remarks.append(f"contact pair {pair.name!r} is left out: {_no_function(one, two)}")
    return replace(model, colliders=tuple(colliders.values()), contacts=tuple(pairs))


def check_possible(model: Model) -> Model:
    """Refuse a pair for which there is no function.

    Arguments:
        model: with any pairs.

    Returns:
        The model.
    """
    colliders = {c.name: c for c in model.colliders}
    for pair in model.contacts:
        one, two = colliders[pair.first], colliders[pair.second]
        if not can_touch(one.shape, two.shape):
            raise ModelError(
                f"contact pair {pair.name!r}: {_no_function(one, two)}; use a capsule, a sphere or "
                "a box instead of one of them"
            )
    return model


def _no_function(one: Collider, two: Collider) -> str:
    return f"there is no function for a {one.shape.kind} and a {two.shape.kind}"


def _replaced(c: Collider, colliders: dict[str, Collider], remarks: list[str]) -> Collider:
    """The capsule that takes the place of a collider, added to the others; or itself."""
    if not isinstance(c.shape, (Cylinder, Ellipsoid, ConvexMesh)):
        return c
    name = f"{c.name}_capsule"
    if name not in colliders:
        capsule, at = fitted_capsule(c.shape)
        colliders[name] = Collider(name, c.frame, capsule, c.at @ at)
        remarks.append(
            f"collider {c.name!r}, a {c.shape.kind}, touches some shapes as a capsule of radius "
            f"{capsule.radius:.3g} m and half length {capsule.half_length:.3g} m"
        )
    return colliders[name]
