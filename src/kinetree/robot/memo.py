"""What is made for a robot and kept for its next calls."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Made = TypeVar("Made")
MOST = 32
"""How many objects of one type are kept: keys made anew for each call must not fill the memory."""


class Memo:
    """Objects that are found again by their type and by what they were made from."""

    def __init__(self) -> None:
        self._made: dict[type[Any], dict[Hashable, Any]] = {}

    def recall(self, kind: type[Made], key: Hashable, make: Callable[[], Made]) -> Made:
        """The object of a type and a key: the one made before, or a new one.

        Arguments:
            kind: its type.
            key: what it is made from. If it cannot be hashed, the object is made anew.
            make: makes it.
        """
        try:
            hash(key)
        except TypeError:
            return make()
        made = self._made.setdefault(kind, {})
        if key not in made:
            made[key] = make()
            if len(made) > MOST:
                del made[next(iter(made))]  # the oldest
        return made[key]

    def count(self, kind: type[Any]) -> int:
        """How many objects of a type are kept."""
        return len(self._made.get(kind, ()))
