"""The dense oracle of spatial algebra: 6x6 matrices, linear part first, and what its tests share.

Every matrix follows from two facts about a rigid body seen from a frame: the point r moves with
v + w x r, and a force f at r has the moment r x f about the origin. The arrays take any scalar:
on fractions the oracle is exact.
"""

import math
from dataclasses import fields, is_dataclass
from fractions import Fraction

import numpy as np
import sympy
from hypothesis import strategies as st

from kinetree.compiler.graph import interpret, trace
from kinetree.spatial import (
    ArticulatedInertia,
    Force,
    Inertia,
    Matrix3,
    Rotation,
    Symmetric3,
    Transform,
    Twist,
    Vector3,
)
from tests.random_models import numbers

# three by three


def vec(values) -> np.ndarray:
    """The coordinates of anything that lists them."""
    return np.array(list(values))


def mat3(matrix: Matrix3 | Symmetric3 | Rotation) -> np.ndarray:
    return np.array([list(row) for row in matrix.rows])


def skew(v) -> np.ndarray:
    """[v]: columns v x e_k."""
    return np.array([np.cross(vec(v), e) for e in np.eye(3, dtype=int)]).T


def block(a, b, c, d) -> np.ndarray:
    return np.concatenate([np.concatenate([a, b], axis=1), np.concatenate([c, d], axis=1)])


ZERO = np.zeros((3, 3), dtype=int)
ONE = np.eye(3, dtype=int)


# six by six


def motion_to_parent(X: Transform) -> np.ndarray:
    """The velocity of P's origin, as a point of the body, is R v + p x (R w)."""
    R, p = mat3(X.rotation), vec(X.translation)
    return block(R, skew(p) @ R, ZERO, R)


def force_to_parent(X: Transform) -> np.ndarray:
    """The moment about P's origin is R n + p x (R f)."""
    R, p = mat3(X.rotation), vec(X.translation)
    return block(R, ZERO, skew(p) @ R, R)


def motion_cross(V: Twist) -> np.ndarray:
    """The rate of `motion_to_parent` at the identity, along V."""
    v, w = skew(V.linear), skew(V.angular)
    return block(w, v, ZERO, w)


def force_cross(V: Twist) -> np.ndarray:
    """The rate of `force_to_parent` at the identity, along V."""
    v, w = skew(V.linear), skew(V.angular)
    return block(w, ZERO, v, w)


def inertia_of_points(masses, points) -> np.ndarray:
    """The sum of m JT J over point masses, where J V = v + w x r is the velocity of a point r."""
    total = np.zeros((6, 6), dtype=int)
    for m, r in zip(masses, points, strict=True):
        J = np.concatenate([ONE, -skew(r)], axis=1)
        total = total + m * (J.T @ J)
    return total


def inertia(I: Inertia) -> np.ndarray:
    h = skew(I.moment)
    return block(I.mass * ONE, -h, h, mat3(I.rotational))


def articulated(I: ArticulatedInertia) -> np.ndarray:
    coupling = mat3(I.coupling)
    return block(mat3(I.mass), coupling, coupling.T, mat3(I.rotational))


def dense(value) -> np.ndarray:
    """The matrix of an inertia of either kind, the six-vector of a motion or force."""
    if isinstance(value, Inertia):
        return inertia(value)
    return articulated(value) if isinstance(value, ArticulatedInertia) else vec(value)


def expm(A) -> np.ndarray:
    """The matrix exponential: Taylor's series of A / 2^k, squared k times."""
    A = np.asarray(A, dtype=float)
    k = max(0, math.ceil(math.log2(max(np.abs(A).sum(), 1e-300))) + 3)
    term = total = np.eye(len(A))
    for n in range(1, 18):
        term = term @ A / (n * 2.0**k)
        total = total + term
    for _ in range(k):
        total = total @ total
    return total


# strategies


def vectors(size: float = 1.0) -> st.SearchStrategy[Vector3]:
    return st.builds(Vector3, *[numbers(-size, size)] * 3)


def motions() -> st.SearchStrategy[Twist]:
    return st.builds(Twist, vectors(), vectors())


def forces() -> st.SearchStrategy[Force]:
    return st.builds(Force, vectors(), vectors())


def matrices() -> st.SearchStrategy[Matrix3]:
    return st.builds(Matrix3, vectors(), vectors(), vectors())


def symmetric() -> st.SearchStrategy[Symmetric3]:
    return st.builds(Symmetric3, *[numbers(-1.0, 1.0)] * 6)


def articulated_inertias() -> st.SearchStrategy[ArticulatedInertia]:
    return st.builds(ArticulatedInertia, symmetric(), matrices(), symmetric())


def fractions() -> st.SearchStrategy[Fraction]:
    return st.fractions(-2, 2, max_denominator=20)


def fraction_vectors() -> st.SearchStrategy[Vector3]:
    return st.builds(Vector3, fractions(), fractions(), fractions())


@st.composite
def fraction_rotations(draw) -> Rotation:
    """A rational rotation: Euler and Rodrigues' matrix of a quaternion of integers, normalised."""
    four = st.tuples(*[st.integers(-4, 4)] * 4).filter(any)
    x, y, z, w = draw(four)
    n = x * x + y * y + z * z + w * w
    rows = (
        (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )
    return Rotation(*(Vector3(*(Fraction(entry, n) for entry in row)) for row in rows))


def fraction_transforms() -> st.SearchStrategy[Transform]:
    return st.builds(Transform, fraction_rotations(), fraction_vectors())


def fraction_inertias() -> st.SearchStrategy[Inertia]:
    return st.builds(
        Inertia, fractions(), fraction_vectors(), st.builds(Symmetric3, *[fractions()] * 6)
    )


# one operation, every scalar type


def parts(value) -> list:
    """What a value of the algebra consists of."""
    return [getattr(value, f.name) for f in fields(value) if f.compare]


def leaves(value) -> list:
    """The scalars of a value, in order."""
    if is_dataclass(value):
        return [s for part in parts(value) for s in leaves(part)]
    if isinstance(value, (tuple, list)):
        return [s for item in value for s in leaves(item)]
    return [value]


def rebuilt(value, scalars):
    """A value of the same structure over the next scalars of an iterator."""
    if is_dataclass(value):
        return type(value)(
            *(rebuilt(getattr(value, f.name), scalars) for f in fields(value) if f.compare)
        )
    if isinstance(value, (tuple, list)):
        return type(value)(rebuilt(item, scalars) for item in value)
    return next(scalars)


def is_rational(value) -> bool:
    """Whether every scalar of a value is exact."""
    return all(isinstance(s, (int, Fraction)) for s in leaves(value))


def _on_fractions(call, numbers):
    result = call([Fraction(s) for s in numbers])
    assert is_rational(result)
    return [float(s) for s in result]


def _on_complex(call, numbers):
    result = call([complex(s) for s in numbers])
    assert not np.imag(result).any()
    return np.real(result)


def _on_arrays(call, numbers):
    """A batch of three scalings of the numbers: the row of the unscaled ones is wanted."""
    batch = np.array([0.5, 1.0, -0.75])[:, None] * np.array(numbers)
    rows = [call(list(row)) for row in batch]
    columns = call(list(batch.T))
    together = np.stack(np.broadcast_arrays(*columns, batch[:, 0]), axis=-1)[:, :-1]
    np.testing.assert_allclose(together, rows, rtol=1e-13, atol=1e-13)
    return together[1]


def _on_symbols(call, numbers):
    symbols = sympy.symbols(f"x:{len(numbers)}", real=True)
    return sympy.lambdify(symbols, call(list(symbols)), "math")(*numbers)


def _on_traced(call, numbers):
    program = trace("f", lambda x: {"y": list(call(x))}, {"x": (len(numbers),)})
    return interpret(program, numbers)[0]


EVERY_SCALAR = {
    "fraction": _on_fractions,
    "complex": _on_complex,
    "array": _on_arrays,
    "symbol": _on_symbols,
    "traced": _on_traced,
}
"""Scalar type -> a way to run a function of a list of scalars on it, giving floats back."""


def run_on(kind: str, function, *arguments):
    """The scalars of function(*arguments), computed on another scalar type, and on floats."""
    numbers = leaves(arguments)

    def call(scalars):
        return leaves(function(*rebuilt(arguments, iter(scalars))))

    return np.array(EVERY_SCALAR[kind](call, numbers)), np.array(call(numbers))
