"""The arrays of this package: of numbers, of truth values, of indices."""

from typing import Any

Array = Any
