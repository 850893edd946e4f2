"""Snapping: rounding noise in a model's numbers becomes the zeros and ones that were meant.

A right angle written as 1.5707963267948966 leaves 6e-17 where a zero was meant, and each such
number keeps arithmetic alive in generated code. The model stays exact; this is applied to the copy
that is traced. `rounding` says what counts as noise.

Of a rotational inertia only products are snapped, each beside the two moments it lies between. A
moment never is: however small it is beside the others, the joint about its axis feels nothing else.
"""

from __future__ import annotations

import math
from dataclasses import replace

from kinetree.model.model import Model
from kinetree.model.prepare.sum_of_squares import as_sum_of_squares
from kinetree.model.rounding import TOLERANCE, snapped_to_zero, snapped_transform
from kinetree.spatial import Inertia, Symmetric3, Vector3


def snap(model: Model) -> Model:
    """The model without rounding noise, for tracing."""
    return replace(
        model,
        bodies=tuple(
            replace(
                b,
                placement=snapped_transform(b.placement),
                joint=b.joint.snapped(),
                inertia=_inertia(b.inertia),
            )
            for b in model.bodies
        ),
        frames=tuple(replace(f, placement=snapped_transform(f.placement)) for f in model.frames),
        colliders=tuple(replace(c, at=snapped_transform(c.at)) for c in model.colliders),
    )


def _inertia(inertia: Inertia) -> Inertia:
    return Inertia(
        inertia.mass,
        Vector3(*snapped_to_zero(inertia.moment)),
        as_sum_of_squares(_rotational(inertia.rotational)),
    )


def _rotational(I: Symmetric3) -> Symmetric3:
    largest = max(abs(entry) for entry in I)

    def product(entry: float, a: float, b: float) -> float:
        # a body without a moment has no product beside it: that is noise of the largest entry
        floor = TOLERANCE * (math.sqrt(abs(a)) * math.sqrt(abs(b)) or largest)
        return 0.0 if abs(entry) <= floor else entry

    xx, yy, zz = I.xx, I.yy, I.zz
    products = product(I.xy, xx, yy), product(I.xz, xx, zz), product(I.yz, yy, zz)
    return Symmetric3(xx, yy, zz, *products)
