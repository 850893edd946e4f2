"""Impacts: the velocity after an impact, and the impulses of the constraints.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 11.5, with Newton's law of
restitution: J v' = - e J v. Other forces are finite, and have no impulse in an instant.

    book         code            meaning
    u' - u       change          M^-1 J^T impulses
    lambda       impulses        of the rows, N s or N m s: G lambda = - (1 + e) J v
    e            restitution     0: the rows come to rest; 1: they bounce back as fast

Cost: that of `forward` without the bias forces.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.constraints.proximal import proximal
from kinetree.algorithms.constraints.rows import constraint_rows
from kinetree.model import Model
from kinetree.scalar import Scalar


def impact(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    restitution: Scalar,
    names: Sequence[str] = (),
) -> tuple[list[Scalar], list[Scalar]]:
    """The velocity after an impact at the rows, and the impulses."""
    rows = constraint_rows(model, q, names=names)
    factors = proximal(model, q, rows.J)
    again = -(restitution + 1)
    impulses, _ = factors.forces([speed * again for speed in rows.velocity(qd)])
    change = factors.solve({}, impulses)
    return [v + dv for v, dv in zip(qd, change, strict=True)], impulses
