"""A word to people who wait for a compiler."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

SECONDS = 2.0
"""How long nothing is said."""


@contextmanager
def patience(name: str) -> Iterator[None]:
    """Say on standard error what takes so long, if somebody is there to read it.

    KINETREE_QUIET turns it off.
    """
    if os.environ.get("KINETREE_QUIET") or not _is_interactive():
        yield
        return
    timer = Timer(SECONDS, _tell, [name])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _is_interactive() -> bool:
    """Whether a person started this: a prompt, a notebook, or a terminal to write to."""
    return hasattr(sys, "ps1") or sys.stderr.isatty()


def _tell(name: str) -> None:
    sys.stderr.write(
        f"kinetree: compiling {name}; it is kept for later runs (KINETREE_QUIET=1 turns this line "
        "off)\n"
    )
