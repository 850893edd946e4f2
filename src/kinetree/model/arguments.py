"""Checking numbers that users give: axes, inertias and placements, or an error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.errors import ModelError, among, unknown
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3

PoseLike = Any
"""A Transform, a homogeneous 4x4 matrix, or a point."""
Axis = Vector3 | Sequence[float] | str
"""A direction: "x", "y", "z" (or "-x", ...), three numbers, or a Vector3."""
UNIT = 1e-12
"""Axes whose length differs from one by less are kept: they are unit vectors up to rounding."""
DIRECTIONS = {
    sign + letter: Vector3(*(s * (1.0 if letter == k else 0.0) for k in "xyz"))
    for sign, s in (("", 1.0), ("-", -1.0))
    for letter in "xyz"
}
EXPECTED = {
    (): "a number",
    (3,): "three numbers (x, y, z)",
    (3, 3): "a 3x3 matrix",
    (4, 4): "a homogeneous 4x4 matrix",
}


def given_inertia(mass: float, com: Sequence[float], inertia: Any) -> Inertia:
    """The inertia from a user's numbers; an error if they cannot be one.

    Arguments:
        inertia: a 3x3 matrix, its diagonal entries, or None for a point mass.
    """
    m = given_number("mass", mass)
    if m < 0.0:
        raise ModelError(f"mass must not be negative, got {mass!r}")
    c = given_numbers("com", com, (3,))
    I = np.zeros((3, 3)) if inertia is None else given_numbers("inertia", inertia, (3,), (3, 3))
    I = np.diag(I) if I.shape == (3,) else I
    floor = 1e-9 * np.abs(I).max()  # what is typed in is rounded
    if np.abs(I - I.T).max() > floor:
        raise ModelError(f"inertia must be symmetric, got {I.tolist()}")
    least = np.linalg.eigvalsh(I)[0]
    if least < -floor:
        raise ModelError(f"inertia={I.tolist()} has the negative principal moment {least:.3g}")
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = I.tolist()
    return Inertia.about_center(m, Vector3(*c.tolist()), Symmetric3(xx, yy, zz, xy, xz, yz))


def given_transform(at: PoseLike, name: str = "at") -> Transform:
    """The transform from a user's pose; an error that names the argument if it is none."""
    if isinstance(at, Transform):
        return at
    X = given_numbers(name, tuple(at) if isinstance(at, Vector3) else at, (3,), (4, 4))
    if X.shape == (3,):
        return Transform(Rotation.identity(), Vector3(*X.tolist()))
    R = X[:3, :3]
    if not np.allclose(R @ R.T, np.eye(3), atol=1e-9) or np.linalg.det(R) < 0.0:
        raise ModelError(f"{name} is not a pose: its upper left 3x3 block is not a rotation")
    if not np.array_equal(X[3], [0.0, 0.0, 0.0, 1.0]):
        raise ModelError(f"{name} is not a pose: its last row is {X[3].tolist()}, not (0, 0, 0, 1)")
    return Transform(Rotation(*(Vector3(*row) for row in R.tolist())), Vector3(*X[:3, 3].tolist()))


def given_axis(axis: Axis, name: str = "axis") -> Vector3:
    """The unit vector of an axis; a Vector3 of other scalars than floats is taken as it is."""
    if isinstance(axis, str):
        if not among(axis, DIRECTIONS):
            raise unknown("direction", axis, DIRECTIONS, "an axis" if name == "axis" else name)
        return DIRECTIONS[axis]
    if isinstance(axis, Vector3):
        numbers = all(isinstance(x, (int, float)) for x in axis)
        if not numbers or abs(math.hypot(*axis) - 1.0) <= UNIT:
            return axis
    x, y, z = given_vector(name, axis)
    length = math.hypot(x, y, z)
    if length == 0.0:
        raise ModelError(
            f"{name}={axis!r} is zero: a direction is expected, such as 'z' or (0, 0, 1)"
        )
    return Vector3(x / length, y / length, z / length)


def given_vector(name: str, value: Any) -> Vector3:
    """Three numbers, or a Vector3 of them."""
    given = tuple(value) if isinstance(value, Vector3) else value
    return Vector3(*given_numbers(name, given, (3,)).tolist())


def given_number(name: str, value: Any) -> float:
    return float(given_numbers(name, value, ()))


def given_numbers(name: str, value: Any, *shapes: tuple[int, ...]) -> np.ndarray:
    """An array of one of these shapes with finite numbers only."""
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        numbers = np.array([])
    if numbers.shape not in shapes:
        expected = " or ".join(EXPECTED[shape] for shape in shapes)
        raise ModelError(f"{name} must be {expected}, got {value!r}")
    if not np.isfinite(numbers).all():
        raise ModelError(f"{name} must be finite, got {value!r}")
    return numbers
