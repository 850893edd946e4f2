"""The problem of soft constraints at a state.

Source: E. Todorov (2014), as in `reference`, and MuJoCo's documentation, "Computation".

    symbol    code     meaning
    M         M        the mass matrix
    f         f        joint forces less all forces at zero acceleration

Cost: none; that of the parts is theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.algorithms.contact.part import Part
from kinetree.scalar import Scalar


@dataclass(frozen=True)
class Layout:
    """The structure of a problem, independent of the state.

    order: in which velocities are eliminated.
    at: for each part, the velocities that move it.
    """

    order: tuple[int, ...]
    at: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Problem:
    """Equation (9) at a state.

    near: for each part, 1 if some of its rows can act, else 0.
    size: about f^T M^-1 f, to which decrements are compared.
    """

    M: list[list[Scalar]]
    f: list[Scalar]
    parts: list[Part]
    near: list[Scalar]
    size: Scalar
