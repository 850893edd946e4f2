"""Remarks on a compiled MuJoCo model: forces that MuJoCo applies and that are left out here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

LEFT_OUT = "takes no part in the dynamics"
Remark = tuple[str, str, str]
"""Severity, element, message."""


def remarks(m: Any, joints: list[str], off: set[str]) -> Iterator[Remark]:
    """Remarks on joints, bodies and flexes; other readers remark on their own parts.

    Arguments:
        joints: the names of its joints.
        off: its disabled flags.
    """
    parts = (
        _joints(m, joints, off),
        _bodies(m),
        _others(m),
    )
    for part in parts:
        yield from part


def _joints(m: Any, joints: list[str], off: set[str]) -> Iterator[Remark]:
    springs, dampers = not off & {"SPRING", "PASSIVE"}, not off & {"DAMPER", "PASSIVE"}
    for j, name in enumerate(joints):
        element, dof = f"joint {name!r}", m.jnt_dofadr[j]
        if springs and _any(m, "jnt_stiffnesspoly", j):
            yield "warning", element, f"the higher-order part of its spring (stiffness) {LEFT_OUT}"
        if springs and _any(m, "jnt_springyield", j):
            yield "warning", element, f"the yield of its spring (springyield) {LEFT_OUT}"
        if dampers and _any(m, "dof_dampingpoly", dof):
            yield "warning", element, f"the higher-order part of its damping {LEFT_OUT}"


def _bodies(m: Any) -> Iterator[Remark]:
    for i in range(m.nbody):
        element = f"body {_name(m, 'body', i)}"
        if m.body_plugin[i] >= 0:
            yield "warning", element, f"its plugin {LEFT_OUT}"


def _others(m: Any) -> Iterator[Remark]:
    for i in range(m.nflex):
        yield "warning", f"flex {_name(m, 'flex', i)}", f"its deformation {LEFT_OUT}"


def _any(m: Any, field: str, i: int) -> bool:
    """Whether an entry of a field is not zero; false if this MuJoCo has no such field."""
    values = getattr(m, field, None)
    return values is not None and bool(np.any(values[i]))


def _name(m: Any, kind: str, i: int) -> str:
    """The name of an object for a message, or its index."""
    start = getattr(m, f"name_{kind}adr")[i]
    name = m.names[start : m.names.index(b"\0", start)].decode()
    return repr(name) if name else f"number {i}"
