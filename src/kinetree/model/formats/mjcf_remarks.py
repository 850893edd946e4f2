"""Remarks on a compiled MuJoCo model: the forces that MuJoCo applies and that are left out."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from kinetree.model.problem import Problem

BALL = 1  # mjtJoint
NO_BIAS, AFFINE = 0, 1  # mjtBias
LEFT_OUT = "takes no part in the dynamics"
ACTING = ("stiffness", "stiffnesspoly", "damping", "dampingpoly", "armature", "frictionloss")
Remark = tuple[str, str, str]
"""Severity, element, message."""


def remarks(
    m: Any, joints: list[str], off: set[str], taken: Collection[int], file: str
) -> list[Problem]:
    """The problems of a compiled model.

    Arguments:
        joints: the names of its joints.
        off: its disabled flags.
        taken: the numbers of the equalities that became joints following others.
        file: where it was read.
    """
    parts = (
        _joints(m, joints, off),
        _bodies(m),
        _actuators(m, off),
        _tendons(m),
        _equalities(m, off, taken),
        _others(m),
    )
    remarks = (remark for part in parts for remark in part)
    return [Problem(severity, element, message, file) for severity, element, message in remarks]


def _joints(m: Any, joints: list[str], off: set[str]) -> Iterator[Remark]:
    springs, dampers = not off & {"SPRING", "PASSIVE"}, not off & {"DAMPER", "PASSIVE"}
    for j, name in enumerate(joints):
        element, dof = f"joint {name!r}", m.jnt_dofadr[j]
        if springs and _any(m, "jnt_stiffnesspoly", j):
            yield "warning", element, f"the higher-order part of its spring {LEFT_OUT}"
        if springs and _any(m, "jnt_springyield", j):
            yield "warning", element, f"the yield of its spring (springyield) {LEFT_OUT}"
        if dampers and _any(m, "dof_dampingpoly", dof):
            yield "warning", element, f"the higher-order part of its damping {LEFT_OUT}"
        if m.jnt_limited[j] and m.jnt_type[j] == BALL:
            yield "warning", element, "the limit of a ball joint is not read"


def _bodies(m: Any) -> Iterator[Remark]:
    for i in range(m.nbody):
        element = f"body {_name(m, 'body', i)}"
        if m.body_gravcomp[i]:
            yield "warning", element, f"its gravity compensation (gravcomp) {LEFT_OUT}"
        if m.body_plugin[i] >= 0:
            yield "warning", element, f"its plugin {LEFT_OUT}"


def _actuators(m: Any, off: set[str]) -> Iterator[Remark]:
    count = len(m.actuator_trntype)
    for i in range(count):
        element = f"actuator {_name(m, 'actuator', i)}"
        group = int(m.actuator_group[i])
        switched_off = "ACTUATION" in off or (group >= 0 and m.opt.disableactuator >> group & 1)
        if m.actuator_plugin[i] >= 0 and not switched_off:
            yield "warning", element, f"its plugin {LEFT_OUT}"
        elif _has_bias(m, i) and not switched_off:
            message = f"its bias, the force of a servo or a muscle without control, {LEFT_OUT}"
            yield "warning", element, message
        for field in ("armature", "damping", "dampingpoly"):
            if _any(m, f"actuator_{field}", i):
                yield "warning", element, f"its {field.removesuffix('poly')} {LEFT_OUT}"
    if count:
        message = "forces are given to the joints, not through controls and gears"
        yield "note", "the model", f"its actuators ({count}) are not read: {message}"


def _has_bias(m: Any, i: int) -> bool:
    kind = m.actuator_biastype[i]
    return kind != NO_BIAS and (kind != AFFINE or bool(m.actuator_biasprm[i].any()))


def _tendons(m: Any) -> Iterator[Remark]:
    for i in range(m.ntendon):
        acts = m.tendon_limited[i] or any(_any(m, f"tendon_{field}", i) for field in ACTING)
        what = "its spring, damping, armature, friction or limit" if acts else "it"
        severity = "warning" if acts else "note"
        yield severity, f"tendon {_name(m, 'tendon', i)}", f"{what} {LEFT_OUT}"


def _equalities(m: Any, off: set[str], taken: Collection[int]) -> Iterator[Remark]:
    if off & {"EQUALITY", "CONSTRAINT"}:
        return
    for i in range(m.neq):
        if m.eq_active0[i] and i not in taken:
            message = f"it {LEFT_OUT}: only a joint that follows another linearly is read"
            yield "warning", f"equality {_name(m, 'eq', i)}", message


def _others(m: Any) -> Iterator[Remark]:
    for i in range(m.nflex):
        yield "warning", f"flex {_name(m, 'flex', i)}", f"its deformation {LEFT_OUT}"
    if m.opt.density or m.opt.viscosity:
        yield "warning", "the model", f"the fluid around it (density, viscosity) {LEFT_OUT}"


def _any(m: Any, field: str, i: int) -> bool:
    """Whether an entry of a field is not zero; not where this MuJoCo has no such field."""
    values = getattr(m, field, None)
    return values is not None and bool(np.any(values[i]))


def _name(m: Any, kind: str, i: int) -> str:
    """The name of an object for a message, or its number."""
    start = getattr(m, f"name_{kind}adr")[i]
    name = m.names[start : m.names.index(b"\0", start)].decode()
    return repr(name) if name else f"number {i}"
