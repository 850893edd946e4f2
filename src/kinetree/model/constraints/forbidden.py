"""The wrenches that a joint transmits without doing work: the complement of its axes.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 3.4 and 8.1: a joint with
motion subspace S transmits the forces T with T^T S = 0.

For most joints the span of the axes is fixed in the body, even where the axes themselves turn in it
(Euler angles), and T is a constant matrix. Otherwise (universal joints), only the part of T that
changes is computed at each configuration, by Householder reflections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.model.joints import Joint
from kinetree.model.rounding import TOLERANCE
from kinetree.scalar import Scalar, less, select, sqrt
from kinetree.spatial import Force, Twist, Vector3

SAMPLES = 5
"""Configurations at which a joint's axes are compared, to find the fixed part of their span."""
SAME = 1e-9
"""Relative singular values below this count as zero: axes are accurate to many more digits."""


@dataclass(frozen=True)
class Forbidden:
    """The wrenches that a joint transmits.

    constant: those that are fixed in the body, rows of six numbers.
    varying: a basis of the orthogonal complement, which contains the other wrenches and the axes.
    """

    joint: Joint
    constant: tuple[tuple[float, ...], ...]
    varying: tuple[tuple[float, ...], ...]

    @property
    def rows(self) -> int:
        """The number of wrenches."""
        return 6 - self.joint.nv

    def wrenches(self, q: Sequence[Scalar]) -> list[Force]:
        """T at the joint's coordinates, in the body's frame."""
        fixed = [Force(Vector3(*row[:3]), Vector3(*row[3:])) for row in self.constant]
        if len(fixed) == self.rows:
            return fixed
        axes = [[_dot(row, list(axis)) for row in self.varying] for axis in self.joint.subspace(q)]
        return fixed + [_combined(weights, self.varying) for weights in complement(axes)]


def forbidden(joint: Joint) -> Forbidden:
    """The wrenches that a joint transmits; the constant part is found numerically."""
    rng = np.random.default_rng(0)
    ends = np.full(joint.nq, 0.9)
    places = [joint.neutral(), *(joint.sample(rng, (), -ends, ends) for _ in range(SAMPLES - 1))]
    axes = [_matrix(joint.subspace([float(x) for x in q])) for q in places]
    constant = _null_space(np.concatenate(axes))
    varying = _null_space(constant) if len(constant) < 6 - joint.nv else np.zeros((0, 6))
    return Forbidden(joint, _tuples(constant), _tuples(varying))


def complement(axes: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """Orthonormal vectors that are normal to all the given ones, which are independent.

    Householder reflections map the given vectors onto the first axes; their signs avoid divisions
    by small numbers. The images of the remaining axes under the inverse are the result.
    """
    n = len(axes[0])
    rest = [list(axis) for axis in axes]
    mirrors: list[tuple[list[Scalar], Scalar]] = []
    for k in range(len(axes)):
        a = [0 if i < k else x for i, x in enumerate(rest[k])]
        length = sqrt(_dot(a, a))
        a[k] = a[k] + select(less(a[k], 0), -length, length)
        mirrors.append((a, 2 / _dot(a, a)))
        rest = [_mirrored(x, *mirrors[-1]) for x in rest]
    normal: list[list[Scalar]] = []
    for j in range(len(axes), n):
        unit: list[Scalar] = [1 if i == j else 0 for i in range(n)]
        for mirror in reversed(mirrors):
            unit = _mirrored(unit, *mirror)
        normal.append(unit)
    return normal


def _mirrored(x: Sequence[Scalar], a: Sequence[Scalar], twice: Scalar) -> list[Scalar]:
    """x - 2 a (a . x) / (a . a)."""
    share = _dot(a, x) * twice
    return [u - share * w for u, w in zip(x, a, strict=True)]


def _null_space(rows: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the null space of the rows, of unit vectors as far as possible."""
    if not len(rows):
        return np.eye(6)
    _, values, right = np.linalg.svd(rows)
    rank = int((values > SAME * max(values[0], 1e-300)).sum())
    left = np.eye(6) - right[:rank].T @ right[:rank]  # the projection onto the null space
    basis: list[np.ndarray] = []
    while len(basis) < 6 - rank:
        k = int(np.argmax(np.round(np.diag(left), 12)))  # the first of equal ones
        vector = left[k] / np.sqrt(left[k, k])
        basis.append(np.where(np.abs(vector) > 10 * TOLERANCE, vector, 0.0))
        left = left - np.outer(vector, vector)
    return np.array(sorted(basis, key=lambda x: int(np.argmax(np.abs(x))))).reshape(-1, 6)


def _matrix(axes: Sequence[Twist]) -> np.ndarray:
    return np.array([[float(x) for x in axis] for axis in axes], dtype=float).reshape(-1, 6)


def _tuples(rows: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(_whole(x)) for x in row) for row in rows)


def _whole(x: float) -> float:
    """A number, +-1 made exact."""
    return float(np.sign(x)) if abs(abs(x) - 1.0) <= 10 * TOLERANCE else x


def _combined(weights: Sequence[Scalar], basis: Sequence[Sequence[float]]) -> Force:
    six = [_dot(weights, column) for column in zip(*basis, strict=True)]
    return Force(Vector3(*six[:3]), Vector3(*six[3:]))


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), start=0)
