"""Lint: what is wrong or doubtful in a description, though it can be loaded.

Severities: an *error* makes dynamics wrong or impossible, a *warning* is most likely a mistake, a
*note* is worth knowing. What cannot be loaded at all is an exception of the reader's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.model.description import Connection, Link
from kinetree.model.model import Limits, Model
from kinetree.spatial import Inertia

SEVERITIES = ("error", "warning", "note")
HEAVY = 500.0  # kg: heavier links are most likely given in grams
ROUNDING = 1e-9  # of the largest moment: files round their numbers


@dataclass(frozen=True)
class Problem:
    """One finding: how bad, about what, where, and what."""

    severity: str
    element: str
    message: str
    where: str = ""

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.severity}: {self.element}: {self.message}"


def description_problems(
    links: Sequence[Link], connections: Sequence[Connection]
) -> Iterator[Problem]:
    """The findings in a file's links and joints, in its order."""
    for link in links:
        for severity, message in inertia_problems(link.inertia):
            yield Problem(severity, f"link {link.name!r}", message, link.where)
        if not link.name.strip():
            yield Problem("warning", f"link {link.name!r}", "it has no name", link.where)
    for c in connections:
        if c.joint is None:
            continue
        for severity, message in limit_problems(c.limits):
            yield Problem(severity, f"joint {c.name!r}", message, c.where)
        for what in ("armature", "damping", "friction"):
            if getattr(c.drive, what) < 0.0:
                message = f"its {what} is negative: the joint would gain energy"
                yield Problem("error", f"joint {c.name!r}", message, c.where)


def model_problems(model: Model) -> Iterator[Problem]:
    """The findings in a model's bodies and joints."""
    for body in model.bodies:
        for severity, message in inertia_problems(body.inertia):
            yield Problem(severity, f"body {body.name!r}", message)
        if body.follows is None:
            for severity, message in limit_problems(body.limits):
                yield Problem(severity, f"joint {body.joint_name!r}", message)
    for joint, message in idle_joints(model):
        yield Problem("error", f"joint {joint!r}", message)


def idle_joints(model: Model) -> Iterator[tuple[str, str]]:
    """The joints behind which there is no inertia at all, each with what that means."""
    carried = [
        body.inertia.mass + max(abs(x) for x in body.inertia.rotational) for body in model.bodies
    ]
    for i in reversed(range(len(model.bodies))):
        if model.bodies[i].parent >= 0:
            carried[model.bodies[i].parent] += carried[i]
    for body, inertia in zip(model.bodies, carried, strict=True):
        if inertia == 0.0 and body.drive.armature == 0.0:
            yield (
                body.joint_name,
                f"link {body.name!r} and all it carries have no inertia, so the mass matrix is "
                "singular and there is no forward dynamics",
            )


def inertia_problems(inertia: Inertia) -> Iterator[tuple[str, str]]:
    """What no rigid body's inertia can be, or hardly is."""
    m, h = inertia.mass, inertia.moment
    about_origin = np.array([list(row) for row in inertia.rotational.rows])
    if m < 0.0:
        yield "error", f"its mass is negative: {m:g} kg"
        return
    if m == 0.0:
        if np.abs(about_origin).max() > 0.0:
            yield "warning", "it has a rotational inertia but no mass"
        return
    if m > HEAVY:
        yield "warning", f"its mass is {m:g} kg: is it in grams?"
    c = np.array([x / m for x in h])
    about_center = about_origin - m * (c @ c * np.eye(3) - np.outer(c, c))
    moments = np.linalg.eigvalsh(about_center)
    floor = ROUNDING * max(float(moments[-1]), m * float(c @ c), 1e-300)
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


def limit_problems(limits: Limits) -> Iterator[tuple[str, str]]:
    """Limits that contradict themselves."""
    if limits.lower > limits.upper:
        yield "error", f"its lower limit {limits.lower:g} is above its upper limit {limits.upper:g}"
    elif limits.lower == limits.upper and math.isfinite(limits.lower):
        yield "note", f"its limits are both {limits.lower:g}: it cannot move"
    for what in ("velocity", "effort"):
        value = getattr(limits, what)
        if value < 0.0:
            yield "error", f"its {what} limit is negative: {value:g}"


def _list(values: np.ndarray) -> str:
    return "(" + ", ".join(f"{v:.3g}" for v in values) + ")"
