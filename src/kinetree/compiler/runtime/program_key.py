"""What a program is made from: enough to find it in the cache without tracing it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from kinetree._lazy import cached_property


@dataclass(frozen=True)
class ProgramKey:
    """Identifies a program across processes.

    Arguments:
        subject: what the program computes, for messages.
        parts: texts that determine the program together with Kinetree's own source.
    """

    subject: str
    parts: tuple[str, ...]

    def derived(self, *parts: str) -> ProgramKey:
        """The key of a program that is made from this one.

        Arguments:
            parts: what is done to it.
        """
        return ProgramKey(self.subject, (*self.parts, *parts))

    @cached_property
    def digest(self) -> str:
        """A hash of all parts, and of where each of them ends."""
        return hashlib.sha256(json.dumps(self.parts).encode()).hexdigest()
