"""Packages of the extra `identify`, imported when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from kinetree.errors import MissingExtraError


def package(name: str, extra: str = "identify") -> Any:
    """A module of an optional package.

    Arguments:
        name: such as "scipy.linalg".
        extra: of Kinetree, which installs it.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtraError(
            f"this needs {name.partition('.')[0]}, which is not installed: run pip install "
            f"'kinetree[{extra}]'"
        ) from None
