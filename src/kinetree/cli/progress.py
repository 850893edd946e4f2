"""One line that says how far an iteration has come, where someone looks at it."""

from __future__ import annotations

import sys
from collections.abc import Callable


def progress_line(name: str) -> Callable[[float], object]:
    """A function that rewrites one line of the terminal; it does nothing in a pipe.

    Arguments:
        name: of the number that is told.
    """
    seen = 0

    def tell(value: float) -> None:
        nonlocal seen
        seen += 1
        if sys.stderr.isatty():
            print(f"\riteration {seen}: {name} = {value:.5g}   ", end="", file=sys.stderr)

    return tell
