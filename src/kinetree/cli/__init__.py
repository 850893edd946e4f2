"""The command `kinetree`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command, or say what it needs."""
    try:
        from kinetree.cli.app import app
    except ModuleNotFoundError as e:
        if e.name not in ("typer", "rich"):
            raise
        sys.exit(f"kinetree: the command needs {e.name}: pip install 'kinetree[cli]'")
    app()
