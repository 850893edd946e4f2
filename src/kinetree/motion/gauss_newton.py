"""Second-order expansions of costs over scalars: exact, or Gauss-Newton for sums of squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.scalar import Scalar


def expanded(
    smooth: tuple[Any, Sequence[Any]] | None,
    residuals: Any,
    arguments: Sequence[Any],
    by: tuple[str, ...],
    sizes: list[int],
) -> tuple[Any, list[Scalar]]:
    """Second derivatives and gradient of a cost and of a sum of squares, over scalars.

    Arguments:
        smooth: the kernel of the cost and its arguments, if it is a single number.
        residuals: the kernel of the squared numbers, if there are any; it takes `arguments`.
        by: names of the arguments of the derivatives, and their `sizes`.
    """
    n = sum(sizes)
    H: Any = [[0.0] * n for _ in range(n)]
    g: list[Scalar] = [0.0] * n
    if smooth is not None:
        kernel, given = smooth
        first = kernel.jacobian(by)
        H, g = _quadratic(first, first.jacobian(by), given, sizes)
    if residuals is not None:
        values = residuals.on_scalars(*arguments)[0]
        parts = residuals.jacobian(by).on_scalars(*arguments)
        for k, r in enumerate(values):
            slope = {i: x for i, x in enumerate(y for part in parts for y in part[k]) if x != 0}
            for i, x in slope.items():
                g[i] = g[i] + 2.0 * r * x
                for j, y in slope.items():
                    if j <= i:
                        H[i][j] = H[i][j] + 2.0 * x * y
        for i in range(n):
            for j in range(i):
                H[j][i] = H[i][j]
    return H, g


def _quadratic(
    first: Any, second: Any, arguments: Sequence[Any], sizes: list[int]
) -> tuple[Any, list[Scalar]]:
    """Second derivatives and gradient by several arguments of some sizes, over scalars."""
    slopes, bends = first.on_scalars(*arguments), second.on_scalars(*arguments)
    count = len(sizes)
    H = [
        [x for block in bends[count * k : count * k + count] for x in block[i]]
        for k, size in enumerate(sizes)
        for i in range(size)
    ]
    # in a chart H is symmetric only where the gradient vanishes
    every = range(sum(sizes))
    symmetric = [[0.5 * (H[i][j] + H[j][i]) for j in every] for i in every]
    return symmetric, [x for part in slopes for x in part]
