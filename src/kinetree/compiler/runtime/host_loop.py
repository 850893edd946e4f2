"""Loops over time on NumPy's arrays, in pieces between which Ctrl-C is heard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from kinetree.compiler.runtime.arrays import DTYPES
from kinetree.compiler.runtime.loop_layout import Extent, LoopLayout, Rolled

PIECE = 256
"""Systems that are run together at least, however long that takes."""
Run = Callable[[list[np.ndarray], int, int, dict[str, np.ndarray]], None]
"""Called with arguments, steps, every and records; final states are written over the first."""


class HostLoop:
    """A program in a loop over time, on NumPy's arrays.

    Arguments:
        layout: its arguments and results.
        kind: "double" or "float".
        longest: how many steps, of all systems together, may be run before signals must be handled.
        runner: gives what runs so many systems.
    """

    def __init__(
        self, layout: LoopLayout, kind: str, longest: float, runner: Callable[[int], Run]
    ) -> None:
        self._layout, self._dtype, self._longest = layout, DTYPES[kind], longest
        self._runner = runner

    def __call__(
        self, arguments: Sequence[np.ndarray], extent: Extent, out: Mapping[str, np.ndarray]
    ) -> Rolled:
        """See `runtime.backend.CompiledLoop`."""
        layout, (systems, steps, every, _, backwards) = self._layout, extent
        arrays = [layout.argument(np, k, x, extent, self._dtype) for k, x in enumerate(arguments)]
        states, others = arrays[: layout.states], arrays[layout.states :]
        now = [x.copy() for x in states]
        records = layout.new_records(np, extent, self._dtype)
        records |= {name: array for name, array in out.items() if name in records}
        run = self._runner(systems)
        piece, length = _pieces(systems, steps, every, self._longest)
        if piece >= systems and length >= steps and not backwards:
            run([*now, *others], steps, every, records)
            return Rolled(layout.final(now, systems), records)
        series = layout.first_series - layout.states
        for first in range(0, steps, length):
            span = range(first, min(first + length, steps))
            seen = range(first // every, -(-span.stop // every))
            for begin in range(0, systems, piece):
                part = slice(begin, min(begin + piece, systems))
                given = [x[part] for x in (*now, *others[:series])]
                given += [_stretch(x[part], span, backwards) for x in others[series:]]
                kept = {name: _stretch(x[part], seen, backwards) for name, x in records.items()}
                run(given, len(span), every, kept)
        return Rolled(layout.final(now, systems), records)


def _stretch(array: np.ndarray, span: range, backwards: bool) -> np.ndarray:
    """A stretch of time, the second axis."""
    if not backwards:
        return array[:, span.start : span.stop]
    return array[:, ::-1][:, span.start : span.stop]


def _pieces(systems: int, steps: int, every: int, longest: float) -> tuple[int, int]:
    """How many systems, and how many steps, are run between two looks at signals."""
    length = max(1, int(longest / min(systems or 1, PIECE)) // every) * every
    length = min(length, max(steps, 1))
    return max(PIECE, int(longest / length)), length
