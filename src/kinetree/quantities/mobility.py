"""How constraints leave a robot to move: open loops, contradictions, redundant rows, mobility.

Rows are dependent, and contradict each other, at particular configurations. So configurations that
satisfy the constraints are sought, from the neutral one and from random ones, by damped steps as
in `algorithms.constraints.closing`. Where the errors e cannot become smaller, J^T e = 0: the rows
with errors are those that contradict each other.

The mobility is nv - rank J; Grübler's count, nv less the rows, is smaller by the redundant ones.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from kinetree.algorithms.constraints.rows import constraint_rows
from kinetree.algorithms.manifold import integrate, normalize
from kinetree.model import Model
from kinetree.model.configurations import generic_configuration, neutral_configuration
from kinetree.model.joints import Label
from kinetree.model.problem import Problem

CLOSED = 1e-9
"""m or rad: rows with smaller errors are satisfied where loops are closed here."""
OPEN = 1e-6
"""m or rad: the least error of a row at the neutral configuration that is worth a note."""
STEPS, TRIES = 60, 4
STATIONARY = 1e-6
"""Of the square of the errors: no more steps if one changes less."""
LARGEST_DAMPING = 1e4
FARTHEST = 1e6
"""m or rad: the longest step."""
TINY = 1e-12
DEPENDENT = 1e-6
"""A row of length one is redundant if what the rows before it do not span is shorter."""
LARGEST, LARGEST_FILE = 40_000, 4_000
"""Bodies times rows: with more of them nothing is computed, for a list with notes and without."""
NOTICEABLE = 1e-3
"""Of the largest error: rows with smaller ones are not said to contradict others."""
NAMED = 6
"""How many rows are named in a message."""
SEED = 1


class Place(NamedTuple):
    """A configuration with the errors of the constraints and their Jacobian there."""

    q: list[float]
    error: np.ndarray
    J: np.ndarray

    @property
    def is_closed(self) -> bool:
        return bool((np.abs(self.error) <= CLOSED).all())


def constraint_problems(model: Model, notes: bool = True) -> Iterator[Problem]:
    """The problems of a model's constraints, of which there is at least one.

    Arguments:
        notes: whether notes are wanted: open loops, redundant rows and the mobility.
    """
    if len(model.bodies) * len(model.constraint_labels) > (LARGEST if notes else LARGEST_FILE):
        return
    neutral = _place(model, neutral_configuration(model))
    if notes:
        yield from _open_loops(model, neutral)
    nearest = _closed(model, neutral)
    generic = _generic(model) if notes or not nearest.is_closed else []
    closed = [place for place in (*generic, nearest) if place.is_closed]
    if not closed:
        yield _contradiction(model, min((nearest, *generic), key=_distance))
    elif notes:
        yield from _redundancy(model, closed[0].J)


def _place(model: Model, q: Sequence[float]) -> Place:
    rows = constraint_rows(model, q)
    J = [[float(row.get(k, 0.0)) for k in range(model.nv)] for row in rows.J]
    error = np.array([float(x) for x in rows.error])
    return Place(list(q), error, np.array(J).reshape(len(error), model.nv))


def _closed(model: Model, place: Place) -> Place:
    """Where damped steps end: a configuration that satisfies the constraints, if there is one."""
    damping = 0.0
    for _ in range(STEPS):
        if place.is_closed or not math.isfinite(_distance(place)):
            break
        step = _step(place, damping)
        tried = _place(model, normalize(model, integrate(model, place.q, step.tolist())))
        gained = 1.0 - _distance(tried) / _distance(place)
        place = tried if gained > 0.0 else place
        damping = damping * 0.1 if gained > 0.0 else max(damping * 10.0, 1e-4)
        if abs(gained) < STATIONARY or damping > LARGEST_DAMPING:
            break
    return place


def _step(place: Place, damping: float) -> np.ndarray:
    """The damped step that closes the loops to first order, of bounded length."""
    J, nv = place.J, place.J.shape[1]
    scale = math.sqrt(damping * max(float(np.mean(np.einsum("ij,ij->i", J, J))), TINY))
    damped = np.concatenate([J, scale * np.eye(nv)])
    right = np.concatenate([place.error, np.zeros(nv)])
    step = -np.linalg.lstsq(damped, right, rcond=1e-10)[0]
    return step * min(1.0, FARTHEST / max(float(np.abs(step).max(initial=0.0)), TINY))


def _distance(place: Place) -> float:
    """The square of the errors; infinite where a number overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        square = float(place.error @ place.error) + 0.0 * float(np.sum(np.square(place.J)))
    return square if math.isfinite(square) else math.inf


def _generic(model: Model) -> list[Place]:
    """The first random configuration from which loops close; all that were tried if none does."""
    rng = random.Random(SEED)
    tried: list[Place] = []
    for _ in range(TRIES):
        tried.append(_closed(model, _place(model, generic_configuration(model, rng))))
        if tried[-1].is_closed:
            return tried[-1:]
    return tried


def _open_loops(model: Model, neutral: Place) -> Iterator[Problem]:
    start = 0
    for c in model.constraints:
        errors = np.abs(neutral.error[start : start + c.row_count])
        start += c.row_count
        worst = int(np.argmax(errors))
        if errors[worst] > OPEN:
            off = _amount(c.row_labels()[worst], errors[worst])
            message = (
                f"at the neutral configuration it is not satisfied, {off}; "
                "robot.constraints.assemble(q) finds a configuration nearby where it is"
            )
            yield Problem("note", f"constraint {c.name!r}", message)


def _contradiction(model: Model, nearest: Place) -> Problem:
    labels, errors = model.constraint_labels, np.abs(nearest.error)
    worst = int(np.argmax(errors))
    least = max(CLOSED, NOTICEABLE * errors[worst])
    rows = [label.name for label, e in zip(labels, errors, strict=True) if e > least]
    more = f", and {_listed(rows)} contradict each other" if len(rows) > 1 else ""
    message = (
        f"no configuration was found that satisfies them: in the nearest one "
        f"{_amount(labels[worst], errors[worst])}{more}"
    )
    return Problem("warning", "the constraints", message)


def _redundancy(model: Model, J: np.ndarray) -> Iterator[Problem]:
    redundant = _redundant_rows(J)
    names = [model.constraint_labels[k].name for k in redundant]
    rank = len(J) - len(redundant)
    if names:
        follow = "follows" if len(names) == 1 else "follow"
        message = (
            f"redundant: {_listed(names)} {follow} from the others; accelerations are unique, "
            "and of all forces the least are computed"
        )
        yield Problem("note", "the constraints", message)
    message = (
        f"they leave {model.nv - rank} of {model.nv} degrees of freedom: {len(J)} rows of rank "
        f"{rank}; Grübler's count, without regard to the rank, is {model.nv - len(J)}"
    )
    yield Problem("note", "the constraints", message)


def _redundant_rows(J: np.ndarray) -> list[int]:
    """The rows that depend on those before them; as many as singular values vanish."""
    lengths = np.linalg.norm(J, axis=1, keepdims=True)
    unit = J / np.where(lengths > 0.0, lengths, 1.0)
    rank = int((np.linalg.svd(unit, compute_uv=False) > DEPENDENT).sum()) if J.size else 0
    basis = np.zeros((0, J.shape[1]))
    outside = np.zeros(len(J))
    for k, row in enumerate(unit):
        for _ in range(2):  # once more, for the digits lost in the first
            row = row - basis.T @ (basis @ row)
        outside[k] = np.linalg.norm(row)
        if outside[k] > DEPENDENT:
            basis = np.concatenate([basis, row[None] / outside[k]])
    return sorted(np.argsort(outside, kind="stable")[: len(J) - rank].tolist())


def _amount(label: Label, error: float) -> str:
    shown = f"{1e3 * error:.3g} mm" if label.unit == "m" else f"{math.degrees(error):.3g} degrees"
    return f"{label.name} is off by {shown}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
