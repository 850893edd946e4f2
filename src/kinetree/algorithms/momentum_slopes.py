"""How M(q) x changes with the configuration, at constant x.

Source: J. Carpentier & N. Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS
(2018): inverse dynamics at rest without gravity is M x, and what springs add to it.

    symbol    code    meaning
    M         -       the mass matrix
    x         x       accelerations, velocities or any other column that M is applied to

Cost: that of `inverse_derivatives`.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.frames import in_one_frame
from kinetree.algorithms.inverse_derivatives import Matrix, derivatives
from kinetree.model import Model
from kinetree.model.edit import without
from kinetree.scalar import Scalar


def momentum_slopes(model: Model, q: Sequence[Scalar], x: Sequence[Scalar]) -> Matrix:
    """The columns of the derivative of M(q) x by q, at constant x."""
    weightless, rest = without(model, "gravity"), [0] * model.nv
    parts = in_one_frame(weightless, q)
    with_x, without_x = (derivatives(parts, q, rest, a)[0] for a in (x, rest))
    pairs = zip(zip(*with_x, strict=True), zip(*without_x, strict=True), strict=True)
    return [[a - b for a, b in zip(*pair, strict=True)] for pair in pairs]
