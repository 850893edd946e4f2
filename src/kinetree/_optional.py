"""Optional packages, imported when they are needed; or a sentence that says what to install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from kinetree.errors import MissingExtraError

EXTRAS = {
    "casadi": "tools",
    "clarabel": "identify",
    "collada": "view",
    "cupy": "gpu",
    "cvxpy": "identify",
    "dask": "tools",
    "gymnasium": "learn",
    "imageio": "view",
    "jax": "tools",
    "matplotlib": "view",
    "mujoco": "files",
    "numba": "tools",
    "pyarrow": "files",
    "pybullet": "bullet",
    "rosbags": "files",
    "sympy": "symbolic",
    "trimesh": "view",
    "viser": "view",
    "yaml": "files",
}
"""Maps a package to the extra of Kinetree that installs it; any other is installed by its name."""


def optional(module: str, purpose: str, otherwise: str = "") -> Any:
    """A module of an optional package.

    Arguments:
        module: such as "pyarrow.parquet".
        purpose: what needs it, the start of the message if it is missing.
        otherwise: what can be done without it, the end of that message.
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as e:
        if (e.name or package).partition(".")[0] != package:
            raise  # the package is there, and lacks something itself
    name = package.replace("_", "-")
    what = f"'kinetree[{EXTRAS[package]}]'" if package in EXTRAS else name
    raise MissingExtraError(
        f"{purpose} needs {name}, which is not installed: run pip install {what}"
        + (f", {otherwise}" if otherwise else "")
    )
