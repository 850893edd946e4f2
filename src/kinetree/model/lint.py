"""Lint: errors and doubtful values in a description that can be loaded.

A file that cannot be loaded is an exception of its reader.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from kinetree.model.description import Description
from kinetree.model.joints import Joint
from kinetree.model.model import Drive, Limits, Model
from kinetree.model.problem import Problem
from kinetree.spatial import Inertia

HEAVY = 500.0  # kg: heavier links are most likely given in grams
ROUNDING = 1e-9  # of the largest moment: files round their numbers
SYMMETRIC = [[0, 3, 4], [3, 1, 5], [4, 5, 2]]  # the places of a Symmetric3's entries
TOO_LARGE = "its inertia about its centre of mass is too large for a number"


def description_problems(description: Description) -> Iterator[Problem]:
    """The problems of a file's links and joints: the reader's remarks, then in the file's order."""
    yield from description.remarks
    links, connections = description.links, description.connections
    for link, problems in zip(links, inertia_problems([x.inertia for x in links]), strict=True):
        for severity, message in problems:
            yield Problem(severity, f"link {link.name!r}", message, link.where)
        if not link.name.strip():
            yield Problem("warning", f"link {link.name!r}", "it has no name", link.where)
    used = {name for c in connections for name in (c.parent, c.child)}
    for link in links:
        if link.name not in used and len(links) > 1:
            message = "no joint connects it to the robot"
            yield Problem("warning", f"link {link.name!r}", message, link.where)
    for c in connections:
        if c.joint is None:
            continue
        for severity, message in (
            *joint_problems(c.limits, c.drive),
            *range_problems(c.joint, c.limits),
        ):
            yield Problem(severity, f"joint {c.name!r}", message, c.where)


def model_problems(model: Model) -> Iterator[Problem]:
    """The problems of a model's bodies and joints, each by itself; see `robot.problems`."""
    inertias = [body.inertia for body in model.bodies]
    for body, problems in zip(model.bodies, inertia_problems(inertias), strict=True):
        for severity, message in problems:
            yield Problem(severity, f"body {body.name!r}", message)
        if body.follows is None:
            for severity, message in (
                *joint_problems(body.limits, body.drive),
                *range_problems(body.joint, body.limits),
            ):
                yield Problem(severity, f"joint {body.joint_name!r}", message)


def inertia_problems(inertias: Sequence[Inertia]) -> Iterator[list[tuple[str, str]]]:
    """For each inertia, what makes it impossible or implausible for a rigid body."""
    mass = np.array([I.mass for I in inertias], float)
    h = np.array([[*I.moment] for I in inertias], float).reshape(-1, 3)
    entries = np.array([[*I.rotational] for I in inertias], float).reshape(-1, 6)
    about_origin = entries[:, SYMMETRIC]
    with np.errstate(all="ignore"):
        c = h / np.where(mass == 0.0, 1.0, mass)[:, None]
        square = np.einsum("ni,ni->n", c, c)
        steiner = square[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None, :]
        about_center = about_origin - mass[:, None, None] * steiner
        finite = np.isfinite(about_center).all(axis=(1, 2))
        moments = np.linalg.eigvalsh(np.where(finite[:, None, None], about_center, 0.0))
        floors = ROUNDING * np.maximum(np.maximum(moments[:, -1], mass * square), 1e-300)
    turning = np.abs(about_origin).max(axis=(1, 2))
    columns = (x.tolist() for x in (finite, mass, moments, floors, turning))
    for computed, *row in zip(*columns, strict=True):
        yield list(_inertia_problems(*row)) if computed else [("error", TOO_LARGE)]


def _inertia_problems(
    m: float, moments: list[float], floor: float, largest: float
) -> Iterator[tuple[str, str]]:
    if m < 0.0:
        yield "error", f"its mass is negative: {m:g} kg"
        return
    if m == 0.0:
        if largest > 0.0:
            yield "warning", "it has a rotational inertia but no mass"
        return
    if m > HEAVY:
        yield "warning", f"its mass is {m:g} kg: is it in grams?"
    if moments[0] < -floor:
        yield "error", f"its rotational inertia is not positive: principal moments {_list(moments)}"
    elif moments[0] + moments[1] < moments[2] * (1.0 - 1e-6) - floor:
        yield (
            "warning",
            f"its principal moments {_list(moments)} break the triangle inequality: no body of "
            "positive density has them",
        )
    elif moments[0] <= floor:
        yield "note", f"it has no extent across an axis: principal moments {_list(moments)}"


def joint_problems(limits: Limits, drive: Drive) -> Iterator[tuple[str, str]]:
    """Contradictory limits, and drives that would generate energy."""
    if limits.lower > limits.upper:
        yield "error", f"its lower limit {limits.lower:g} is above its upper limit {limits.upper:g}"
    elif limits.lower == limits.upper and math.isinf(limits.lower):
        yield "error", f"its limits are both {limits.lower:g}: no position lies between them"
    elif limits.lower == limits.upper:
        yield "note", f"its limits are both {limits.lower:g}: it cannot move"
    for what in ("velocity", "effort"):
        value = getattr(limits, what)
        if value < 0.0:
            yield "error", f"its {what} limit is negative: {value:g}"
    for what in ("armature", "damping", "friction"):
        if getattr(drive, what) < 0.0:
            yield "error", f"its {what} is negative: the joint would gain energy"
    if drive.stiffness < 0.0:
        yield "error", "its stiffness is negative: the spring would push away from where it rests"


def range_problems(joint: Joint, limits: Limits) -> Iterator[tuple[str, str]]:
    """Limits of orientations on joints that have none, and the other way round."""
    turns = joint.nv == 3 and all(any(x.angular) for x in joint.subspace(joint.neutral()))
    if limits.ball is not None and not turns:
        yield "error", "it has a range of orientations (ball=) but is no ball joint"
    bounded = math.isfinite(limits.lower) or math.isfinite(limits.upper)
    if bounded and joint.nq != joint.nv:
        yield "warning", "lower and upper limits do not act on quaternions; ball= limits them"


def _list(values: list[float]) -> str:
    return "(" + ", ".join(f"{v:.3g}" for v in values) + ")"
