"""Long batches in pieces, so that Ctrl-C is heard between two of them.

Machine code runs without the interpreter, which cannot handle signals meanwhile. A piece takes some
hundredths of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from kinetree.compiler.runtime.memory import LARGE, empty

ELEMENTS = 8e6
"""Elements of a piece's results: 64 MB in double precision, for the time that memory takes."""
Cores = Sequence[tuple[int, ...]]
"""The shapes of operands for one state."""


def in_pieces(
    gufunc: Any,
    longest: float,
    dtype: np.dtype[Any],
    cores: tuple[Cores, Cores],
    batch: tuple[int, ...],
    arrays: Sequence[np.ndarray],
    out: tuple[np.ndarray, ...] | None,
) -> Any:
    """Call a compiled program on a batch, piece by piece if it is long.

    Arguments:
        gufunc: computes any batch.
        longest: how many states make a piece, at most.
        dtype: of the results.
        cores: the shapes of arguments and of results for one state.
        batch: the shape of the batch.
        arrays: the arguments.
        out: arrays to write into; new ones if None.

    Returns:
        What the gufunc gives.
    """
    inputs, outputs = cores
    longest = min(longest, ELEMENTS / (1 + sum(map(prod, outputs))))
    short = prod(batch) <= longest
    if out is None:
        if short and prod(batch) * sum(map(prod, outputs)) * dtype.itemsize < LARGE:
            return gufunc(*arrays)
        out = tuple(empty(batch + core, dtype) for core in outputs)
    elif not short:  # one piece's results must not be another's arguments
        arrays = [a.copy() if any(np.may_share_memory(a, x) for x in out) else a for a in arrays]
    if short:
        return gufunc(*arrays, out=out)
    views = [np.broadcast_to(a, batch + core) for a, core in zip(arrays, inputs, strict=True)]
    _run(gufunc, longest, batch, views, out)
    return out if len(out) > 1 else out[0]


def _run(
    gufunc: Any,
    longest: float,
    batch: tuple[int, ...],
    arrays: Sequence[np.ndarray],
    out: Sequence[np.ndarray],
) -> None:
    """Halve the first axis of a batch until pieces are short."""
    if prod(batch) <= max(longest, 1):
        gufunc(*arrays, out=tuple(out))
        return
    axis = next(k for k, length in enumerate(batch) if length > 1)
    half = batch[axis] // 2
    for part, length in ((slice(half), half), (slice(half, None), batch[axis] - half)):
        at = (slice(None),) * axis + (part,)
        shorter = (*batch[:axis], length, *batch[axis + 1 :])
        _run(gufunc, longest, shorter, [a[at] for a in arrays], [x[at] for x in out])
