"""Names under which files lie until they are complete."""

from __future__ import annotations

from pathlib import Path


def partial_name(path: Path) -> Path:
    """A name beside a file, of the same kind, for its content while it is being written."""
    return path.with_name(f".{path.stem}.part{path.suffix}")
