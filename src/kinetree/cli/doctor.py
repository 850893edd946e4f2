"""`kinetree doctor`: what is installed here, and what is used."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import warnings
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import kinetree
from kinetree import robots
from kinetree._optional import EXTRAS
from kinetree.compiler.runtime import cache
from kinetree.errors import CacheWarning, KinetreeError

OPTIONAL = {
    "typer": "the command",
    "rich": "the command",
    "mujoco": "MJCF files",
    "pyarrow": "Parquet files",
    "rosbags": "ROS bags",
    "matplotlib": "plots and pictures",
    "viser": "the viewer",
    "trimesh": "meshes in the viewer",
    "collada": "Collada meshes",
    "sympy": "closed forms",
    "cvxpy": "identification",
    "gymnasium": "learning",
    "pybullet": "Bullet",
    "cupy": "CUDA",
    "torch": "PyTorch",
    "jax": "JAX",
    "casadi": "CasADi",
    "pin": "compared with by kinetree bench",
}
"""Packages that are used where they are installed, and for what."""
FEATURES = ("sse4.2", "avx", "avx2", "fma", "avx512f", "avx512dq", "neon", "sve")
"""Features of processors that the speed of kernels depends on."""
EXACT = 1e-9


def diagnosis() -> dict[str, Any]:
    """Everything that the report shows, as values that JSON has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)  # it is part of the report
        return {
            "versions": _versions(),
            "processor": _processor(),
            "cache": _cache(),
            "packages": {name: _version(name) for name in OPTIONAL},
            "gpu": _gpus(),
            "self_test": _self_test(),
        }


def healthy(found: dict[str, Any]) -> bool:
    """Whether kernels are compiled, kept and right."""
    compiled = "error" not in found["processor"]
    return compiled and not found["cache"]["problem"] and found["self_test"] == "passed"


def report(found: dict[str, Any], console: Console | None = None) -> None:
    """Print a diagnosis."""
    console = console or Console(highlight=False)
    for title in ("versions", "processor", "cache"):
        console.print(_table(title, found[title]))
    shown = {
        f"{name} ({OPTIONAL[name]})": version or _missing(name)
        for name, version in found["packages"].items()
    }
    console.print(_table("optional packages", shown))
    console.print(_table("GPU", dict.fromkeys(found["gpu"], "") or {"none found": ""}))
    console.print(_table("self-test", {"dynamics of a double pendulum": found["self_test"]}))


def _missing(package: str) -> str:
    """What to install for a package that is not there."""
    extra = EXTRAS.get(package)
    return f"not installed (extra {extra})" if extra else "not installed"


def _table(title: str, rows: dict[str, Any]) -> Table:
    table = Table(show_header=False, box=None, title=title, title_justify="left", padding=(0, 3))
    for name, value in rows.items():
        words = ", ".join(value) if isinstance(value, list) else str(value)
        table.add_row(escape(name), escape(words))
    return table


def _versions() -> dict[str, Any]:
    return {
        "kinetree": kinetree.__version__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "system": platform.platform(),
        "numpy": np.__version__,
        "llvmlite": _version("llvmlite") or "not installed",
    }


def _version(package: str) -> str | None:
    """The version of a package that has this name, or a module of this name."""
    for name in (package, *_modules().get(package, [])):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return None


@lru_cache
def _modules() -> Mapping[str, list[str]]:
    """Maps a module to the packages that it is in."""
    return packages_distributions()


def _processor() -> dict[str, Any]:
    """The processor as LLVM sees it."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    found: dict[str, Any] = {"cores": cores, "threads": kinetree.get_threads()}
    backend = os.environ.get("KINETREE_BACKEND")
    if backend:
        found["KINETREE_BACKEND"] = backend
    try:
        from kinetree.compiler.runtime.cpu.host import host
    except ImportError as e:
        return {**found, "error": f"no compiler, kernels are interpreted and slow: {e}"}
    here = host()
    switched_on = {word[1:] for word in here.features.split(",") if word.startswith("+")}
    return {
        **found,
        "name": here.cpu,
        "architecture": here.architecture,
        "vector bits": here.vector_bits,
        "features": [name for name in FEATURES if name in switched_on],
    }


def _cache() -> dict[str, Any]:
    """The folder of the cache, or why there is none."""
    named = os.environ.get("KINETREE_CACHE")
    path, problem = cache.judge()
    found: dict[str, Any] = {"folder": None if path is None else str(path), "problem": problem}
    if path is None:
        why = problem or "switched off: KINETREE_CACHE is empty"
        return {**found, "used": False, "why": why}
    why = "KINETREE_CACHE names it" if named else "the default; KINETREE_CACHE names another"
    count, size = cache.usage()
    sizes = {"size": f"{size / 1e6:.1f} MB", "limit": f"{cache.limit() / 1e6:,.0f} MB"}
    return {**found, "used": True, "why": why, "entries": count, **sizes}


def _gpus() -> list[str]:
    """The NVIDIA GPUs that the driver lists."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    command = [program, "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip()]


def _self_test() -> str:
    """Whether forward dynamics inverts inverse dynamics."""
    robot = robots.double_pendulum()
    q, v, a = np.random.default_rng(0).standard_normal((3, 16, robot.nv))
    try:
        error = robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a)) - a
    except (KinetreeError, OSError, RuntimeError) as e:
        return f"failed: {e}"
    return "passed" if np.abs(error).max() < EXACT else f"failed: off by {np.abs(error).max():.1e}"
