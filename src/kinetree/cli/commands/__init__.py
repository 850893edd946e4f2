"""The commands, in the order of the help; each imports what it needs when it runs."""

from kinetree.cli.commands import (  # noqa: I001 - in the order of the help
    measure,
    describe,
    states,
    show,
    move,
    learn,
    generate,
    study,
)

__all__ = ["describe", "generate", "learn", "measure", "move", "show", "states", "study"]
