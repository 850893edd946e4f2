"""What is made for a robot and kept for its next calls."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")
KEPT = 32
"""How many objects are kept: keys made anew for each call must not fill the memory."""


class Memo(Generic[Key, Made]):
    """Objects of one kind, which are found again by what they were made from."""

    def __init__(self) -> None:
        self._made: dict[Key, Made] = {}

    def __len__(self) -> int:
        return len(self._made)

    def recall(self, key: Key, make: Callable[[], Made]) -> Made:
        """The object of a key: the one made before, or a new one.

        Arguments:
            key: what it is made from. If it cannot be hashed, the object is made anew.
            make: makes it.
        """
        try:
            hash(key)
        except TypeError:
            return make()
        if key not in self._made:
            self._made[key] = make()
            if len(self._made) > KEPT:
                del self._made[next(iter(self._made))]  # the oldest
        return self._made[key]
