"""Base parameters: the combinations of parameters that joint forces depend on.

Sources: W. Khalil & J.-F. Kleinfinger, Minimum operations and minimum parameters of the dynamic
models of tree structure robots (1987), for the way by structure: what lies on a joint's axis counts
as the parent's. M. Gautier, Numerical calculation of the base inertial parameters of robots, J.
Robotic Systems 8 (1991), for the way by numbers: a rank-revealing QR factorisation of the regressor
at random states.

    symbol    code      meaning
    theta     names     all parameters
    B         matrix    base parameters = B theta; its rows span those of every regressor

Both give the reduced row-echelon form of B, which is unique: each base parameter is one parameter
(the first that is not determined by those before it) plus multiples of later ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinetree._lazy import cached_property
from kinetree.errors import among, unknown
from kinetree.identify.factor import triangle
from kinetree.identify.parameters import Parameters
from kinetree.model import Model
from kinetree.model.prepare.reframe import reframe
from kinetree.model.prepare.regroup import regrouped_inertias
from kinetree.spatial import Inertia, Symmetric3, Vector3
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot

RANK = 1e-9
"""For a regressor with normalised columns: smaller diagonal entries of R are rounding errors."""
ROUNDING = 1e-9
"""Smaller coefficients are rounding errors."""
STATES = 3
"""Rows per column of a regressor at random states."""


@dataclass(frozen=True)
class BaseParameters:
    """The combinations of parameters that joint forces depend on.

    Arguments:
        matrix: B, (nb, count): base parameters = B theta.
        pivots: the parameter that leads each combination, (nb,).
        parameters: what theta is.
    """

    matrix: Array
    pivots: NDArray[np.intp]
    parameters: Parameters

    def __len__(self) -> int:
        return len(self.matrix)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Each combination as text, such as "link1.Izz + link2.Iyy + 0.04 link2.mass"."""
        names = self.parameters.names
        return tuple(_sum(row, names) for row in self.matrix)

    @cached_property
    def leading(self) -> tuple[str, ...]:
        """The name of the parameter that leads each combination."""
        return tuple(self.parameters.names[k] for k in self.pivots)

    @cached_property
    def unseen(self) -> tuple[str, ...]:
        """Parameters that no joint force depends on."""
        zero = np.abs(self.matrix).max(axis=0, initial=0.0) == 0.0
        return tuple(name for name, none in zip(self.parameters.names, zero, strict=True) if none)

    @cached_property
    def values(self) -> Array:
        """The base parameters of the robot as it is, (nb,)."""
        return self.of(self.parameters.nominal)

    def of(self, theta: ArrayLike) -> Array:
        """The base parameters that belong to parameters theta.

        Arguments:
            theta: all parameters, (..., count).

        Returns:
            (..., number of base parameters).
        """
        return np.asarray(theta, float) @ self.matrix.T

    def __str__(self) -> str:
        width = max((len(f"{x:.6g}") for x in self.values), default=0)
        lines = [
            f"{x:>{width}.6g}  {name}" for x, name in zip(self.values, self.names, strict=True)
        ]
        count = len(self.parameters.names)
        head = f"{len(self)} base parameters of {count} parameters of {self.parameters.robot.name}:"
        return "\n".join([head, *lines])


def base_parameters(
    robot: Robot, method: str = "structure", drives: Sequence[str] = ()
) -> BaseParameters:
    """The combinations of parameters that joint forces depend on.

    Arguments:
        robot: what is to be identified.
        method, drives: as in `Robot.base_parameters`.

    Returns:
        The base parameters, as `Robot.base_parameters` returns them.
    """
    if not among(method, ("structure", "numbers")):
        raise unknown("method", method, ("structure", "numbers"), "base_parameters")
    parameters = Parameters(robot, drives)  # type: ignore[arg-type]
    rows = _by_structure(parameters) if method == "structure" else _by_numbers(parameters)
    matrix, pivots = echelon(rows)
    return BaseParameters(matrix, pivots, parameters)


def _by_structure(parameters: Parameters) -> Array:
    """B by regrouping: parameters in the joint frames, without those that act on no joint."""
    frames, regrouped = regrouping(parameters.robot.model)
    seen = Parameters(type(parameters.robot)(frames), parameters.drives)
    drive_count = len(parameters.names) - len(regrouped)
    whole = np.block(
        [
            [regrouped, np.zeros((len(regrouped), drive_count))],
            [np.zeros((drive_count, len(regrouped))), np.eye(drive_count)],
        ]
    )
    lumped = np.abs(whole).max(axis=1) < ROUNDING
    R = _at_random_states(seen)[:, ~lumped]
    # what is left of dependence: bodies near the base that cannot move in all directions
    return row_space(R) @ whole[~lumped]


def regrouping(model: Model) -> tuple[Model, Array]:
    """The robot in its joints' frames, and its parameters there as combinations of its own.

    Arguments:
        model: the robot.

    Returns:
        The model, and (10 n, 10 n): its regrouped parameters, which give the same joint forces.
    """
    units = np.eye(10 * len(model.bodies)).reshape(len(model.bodies), 10, -1)
    bodies = [
        replace(b, inertia=Inertia(x[0], Vector3(*x[1:4]), Symmetric3(*x[4:])))
        for b, x in zip(model.bodies, units, strict=True)
    ]
    frames = reframe(replace(model, bodies=tuple(bodies)))
    rows = [
        np.broadcast_to(x, units.shape[-1:])
        for I in regrouped_inertias(frames, _less)
        for x in (I.mass, *I.moment, *I.rotational)
    ]
    return reframe(model), np.array(rows)


def _less(whole: Inertia, part: Inertia) -> Inertia:
    return Inertia(
        whole.mass - part.mass, whole.moment - part.moment, whole.rotational - part.rotational
    )


def _by_numbers(parameters: Parameters) -> Array:
    """B as the row space of the regressor at random states."""
    return row_space(_at_random_states(parameters))


def _at_random_states(parameters: Parameters, seed: int = 0) -> Array:
    """The triangular factor of the regressor at random states, (count, count)."""
    robot, count = parameters.robot, len(parameters.names)
    states = max(30, STATES * count // max(robot.nv, 1))
    rng = np.random.default_rng(seed)
    q = robot.random(rng, states)
    v, a = 3.0 * rng.standard_normal((2, states, robot.nv))
    stacked = np.zeros((states * robot.nv, count))
    blocks = parameters.blocks(q, v, a)
    for k, (places, rows) in enumerate(zip(parameters.support, blocks, strict=True)):
        stacked[k * states : (k + 1) * states, places] = rows
    return triangle(stacked)


def row_space(R: Array) -> Array:
    """Rows that span those of a matrix, by QR with column pivoting."""
    length = np.linalg.norm(R, axis=0)
    scale = np.where(length > 0.0, length, 1.0)
    scaled = np.where(length > ROUNDING * length.max(initial=0.0), R / scale, 0.0)
    factor, order = import_module("scipy.linalg").qr(scaled, mode="r", pivoting=True)
    size = np.abs(np.diag(factor))
    rank = int((size > RANK * size.max(initial=0.0)).sum())
    rows = np.zeros((rank, R.shape[1]))
    rows[:, order] = factor[:rank]
    return rows * scale


def echelon(rows: Array) -> tuple[Array, NDArray[np.intp]]:
    """The reduced row-echelon form of independent rows, and its pivots."""
    A = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-300)
    pivots: list[int] = []
    for column in range(A.shape[1]):
        r = len(pivots)
        if r == len(A):
            break
        at = r + int(np.argmax(np.abs(A[r:, column])))
        if abs(A[at, column]) < 1e-7 * np.abs(A[r:]).max():
            A[r:, column] = 0.0
            continue
        A[[r, at]] = A[[at, r]]
        A[r] /= A[r, column]
        others = np.arange(len(A)) != r
        A[others] -= A[others, column : column + 1] * A[r]
        pivots.append(column)
    A[np.abs(A) < ROUNDING] = 0.0
    return A[: len(pivots)], np.array(pivots, dtype=np.intp)


def _sum(row: Array, names: Sequence[str]) -> str:
    """A combination as text."""
    text = ""
    for x, name in zip(row, names, strict=True):
        if x == 0.0:
            continue
        size = "" if abs(abs(x) - 1.0) < ROUNDING else f"{abs(x):.4g} "
        sign = "-" if x < 0.0 else "+"
        text += f" {sign} {size}{name}" if text else f"{'-' if x < 0.0 else ''}{size}{name}"
    return text
