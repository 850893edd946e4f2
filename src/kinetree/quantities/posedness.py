"""Whether forces determine a robot's accelerations: is its mass matrix singular?

The pivot of a coordinate (`algorithms.pivots`) is compared with the inertia that the coordinate
feels while the joints further out are held. `share` is the quotient of the two:

    share below 1e-13    error: the mass matrix is singular, no digit of an acceleration is right
    share below 1e-8     warning: half of the digits are lost
    share negative       error: a mass or an inertia that no body has

at generic configurations; a share below 1e-13 at the neutral configuration only is a note.

Most joints pass without a recursion: the pivot of a joint is at least the contribution of its own
body, and the inertia that it feels is at most `model.bounds.inertia_bounds`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinetree._lazy import cached_property
from kinetree.algorithms.crba import crba
from kinetree.algorithms.jacobian import jacobian
from kinetree.algorithms.ltl import elimination_order
from kinetree.algorithms.operational_space import ROWS
from kinetree.algorithms.pivots import SINGULAR, Pivot, joint_pivots, pivots
from kinetree.errors import SingularModelError
from kinetree.model import Model, lint
from kinetree.model.bounds import inertia_bounds
from kinetree.model.configurations import generic_configuration, neutral_configuration
from kinetree.model.model import Body
from kinetree.spatial import ArticulatedInertia

INVERTIBLE, POSITIVE = "invertible", "positive"
ILL_CONDITIONED = 1e-8
DIGITS = 16
MOST_BODIES_WARNED = 1000
"""Above this number of bodies, no warning about lost digits: their number alone may cause it."""
LARGEST_MATRIX = 300
"""The most coordinates for which the mass matrix is computed here."""
NAMED = 4
"""How many of the joints that move against another are named."""
NOTICEABLE = 1e-4
SEED = 1
DEPENDENT = 1e-10
"""Rows of a Jacobian are dependent if a singular value, with normalised rows, is smaller."""
CONSEQUENCE = (
    "so the mass matrix is singular and forces do not determine accelerations: give the links "
    "inertia, or lock the joint"
)


class Finding(NamedTuple):
    """A problem of a joint.

    kind: "singular", "negative", "inexact" or "neutral".
    """

    severity: str
    joint: str
    message: str
    kind: str


def findings(model: Model, accelerated: Collection[int] = ()) -> tuple[Finding, ...]:
    """The joints of a model whose accelerations are not determined by forces, or only barely.

    Arguments:
        accelerated: bodies whose joints' accelerations are given.
    """
    # a model never changes, so the result is kept on it, like its cached properties
    kept: dict[frozenset[int], tuple[Finding, ...]] = vars(model).setdefault("_posedness", {})
    key = frozenset(accelerated)
    if key not in kept:
        # a joint that is held makes no pivot smaller
        kept[key] = tuple(_judged(model, key)) if not key or findings(model) else ()
    return kept[key]


def refuse(model: Model, quantity: str, needs: str, accelerated: Collection[int] = ()) -> None:
    """Raise SingularModelError if a quantity of a model is not defined.

    Arguments:
        needs: what the quantity requires of the mass matrix: INVERTIBLE or POSITIVE.
        accelerated: as in `findings`.
    """
    for finding in findings(model, accelerated):
        if finding.kind == "singular" or (finding.kind == "negative" and needs == POSITIVE):
            raise SingularModelError(
                f"{quantity} of robot {model.name!r} is not defined: joint {finding.joint!r}: "
                f"{finding.message}"
            )


def refuse_dependent_rows(model: Model, quantity: str, frame: str, axes: str, rows: str) -> None:
    """Raise SingularModelError if rows of a frame's Jacobian are dependent in every configuration.

    Arguments:
        frame, axes, rows: the settings of the quantity.
    """
    q = generic_configuration(model, random.Random(SEED))
    J = np.array(jacobian(model, q, frame, axes), dtype=float)
    rank = _rank(J[: ROWS[rows]])
    if rank == ROWS[rows]:
        return
    position = rows == "pose" and _rank(J[: ROWS["position"]]) == ROWS["position"]
    hint = (
        "rows='position' takes only those of its position"
        if position
        else ("robot.jacobian and robot.mass_matrix_inverse give J M^-1 J^T itself")
    )
    raise SingularModelError(
        f"{quantity} of robot {model.name!r} is not defined: the {ROWS[rows]} rows of the Jacobian "
        f"of frame {frame!r} have rank {rank} in every configuration, so J M^-1 J^T has no "
        f"inverse; {hint}"
    )


def _rank(J: np.ndarray) -> int:
    """The rank of a matrix whose rows have different units."""
    sizes = np.linalg.norm(J, axis=1, keepdims=True)
    return int(np.linalg.matrix_rank(J / np.where(sizes > 0.0, sizes, 1.0), DEPENDENT))


def _judged(model: Model, accelerated: Collection[int]) -> Iterator[Finding]:
    chosen = _doubtful(model)
    if not chosen:
        return
    rng = random.Random(SEED)
    first, second = generic_configuration(model, rng), generic_configuration(model, rng)
    generic = pivots(model, first, accelerated, chosen)
    if min(map(_share, generic.values()), default=1.0) < ILL_CONDITIONED:
        again = pivots(model, second, accelerated, chosen)
        generic = {k: _better(pivot, again[k]) for k, pivot in generic.items()}
    causes = _Causes(model, first, accelerated)
    for i, k in _worst(model, generic):
        finding = _finding(causes, i, k, generic[k])
        if finding is not None:
            yield finding


def neutral_findings(model: Model) -> Iterator[Finding]:
    """The joints of a model that are singular at the neutral configuration, but not everywhere."""
    chosen = _doubtful(model)
    if not chosen:
        return
    generic = {finding.joint for finding in findings(model)}
    q = neutral_configuration(model)
    there, causes = pivots(model, q, (), chosen), _Causes(model, q, ())
    for i, k in _worst(model, there):
        joint = model.bodies[i].joint_name
        if joint not in generic and abs(_share(there[k])) < SINGULAR:
            cause = causes.of(i, k, there[k])
            message = f"at the neutral configuration {cause}, so accelerations are not determined"
            yield Finding("note", joint, message, "neutral")


def _share(pivot: Pivot) -> float:
    return float(pivot.free / pivot.held) if pivot.held else 0.0


def _better(a: Pivot, b: Pivot) -> Pivot:
    """The more conclusive of two pivots: a negative one, or else the larger share."""
    negative = min(a, b, key=_share)
    return negative if _share(negative) < -ILL_CONDITIONED else max(a, b, key=_share)


def _worst(model: Model, by_coordinate: Mapping[int, Pivot]) -> Iterator[tuple[int, int]]:
    """For each body whose joint has pivots, the coordinate with the least share."""
    for i in model.coordinate_order:
        judged = [k for k in range(*model.v_slices[i].indices(model.nv)) if k in by_coordinate]
        if judged:
            yield i, min(judged, key=lambda k: _share(by_coordinate[k]))


def _finding(causes: _Causes, i: int, k: int, pivot: Pivot) -> Finding | None:
    model = causes.model
    share, joint = _share(pivot), model.bodies[i].joint_name
    if share < -ILL_CONDITIONED:
        message = (
            f"the inertia that resists it is negative ({pivot.free:.3g}): a link that it carries "
            "has a negative mass or an inertia that no body has"
        )
        return Finding("error", joint, message, "negative")
    if abs(share) < SINGULAR:
        message = f"{causes.of(i, k, pivot)}, {CONSEQUENCE}"
        return Finding("error", joint, message, "singular")
    if abs(share) < ILL_CONDITIONED and len(model.bodies) <= MOST_BODIES_WARNED:
        message = (
            f"only {abs(share):.1g} of the inertia that it carries resists it: accelerations lose "
            f"{round(-math.log10(abs(share)))} of their {DIGITS} digits"
        )
        return Finding("warning", joint, message, "inexact")
    return None


# why a pivot is zero


@dataclass(frozen=True)
class _Causes:
    """Why coordinates move no inertia, at a configuration; what they have in common is kept.

    accelerated: as in `findings`.
    """

    model: Model
    q: Sequence[float]
    accelerated: Collection[int]

    def of(self, i: int, k: int, pivot: Pivot) -> str:
        """Why coordinate k, of body i, moves no inertia."""
        start = "it moves without moving any inertia"
        body = self.model.bodies[i]
        if self._carries_unphysical[i]:
            return f"{start}: negative masses or moments cancel positive ones"
        if not self._carries_inertia[i]:
            return f"{start}: link {body.name!r} and all it carries have none"
        if self.model.nv > LARGEST_MATRIX:
            return f"{start} while joints further out move against it"
        M = self._mass_matrix
        if not np.isfinite(M).all():
            return start
        if abs(M[k, k]) <= SINGULAR * pivot.held:
            return f"{start}: what link {body.name!r} and all it carries have lies on its axis"
        names = [self.model.bodies[j].joint_name for j in self._cancelling(k)]
        others = [name for name in names if name != body.joint_name]
        if not others:
            return f"{start}: its axes are dependent"
        listed = ", ".join(map(repr, others[:NAMED])) + (", ..." if len(others) > NAMED else "")
        what = "joint" if len(others) == 1 else "joints"
        return f"{start} while {what} {listed} {'moves' if len(others) == 1 else 'move'} against it"

    @cached_property
    def _carries_unphysical(self) -> list[bool]:
        return _anywhere_below(self.model, [not x for x in _physical(self.model.bodies)])

    @cached_property
    def _carries_inertia(self) -> list[bool]:
        return _anywhere_below(self.model, [not _is_massless(body) for body in self.model.bodies])

    @cached_property
    def _mass_matrix(self) -> np.ndarray:
        return np.array(crba(self.model, self.q), dtype=float)

    def _cancelling(self, k: int) -> list[int]:
        """The bodies whose joints move when coordinate k does and those further out are free."""
        model, M = self.model, self._mass_matrix
        held = {j for i in self.accelerated for j in range(*model.v_slices[i].indices(model.nv))}
        order = elimination_order(model)
        later = [j for j in order[order.index(k) + 1 :] if j not in held]
        root = np.sqrt(np.abs(np.diag(M)))
        root[root == 0.0] = 1.0
        scaled = M / root / root[:, None]  # in units in which every coordinate feels the same
        motion = np.zeros(model.nv)
        free = np.linalg.lstsq(scaled[np.ix_(later, later)], -scaled[later, k], rcond=None)[0]
        motion[later] = free
        moving = np.abs(motion) > NOTICEABLE
        return [i for i in model.coordinate_order if moving[model.v_slices[i]].any()]


def _is_massless(body: Body) -> bool:
    inertia = body.inertia
    return not any((inertia.mass, *inertia.moment, *inertia.rotational, body.drive.armature))


def _anywhere_below(model: Model, holds: Sequence[bool]) -> list[bool]:
    """For each body, whether something holds of it or of a body that it carries."""
    below = list(holds)
    for i in reversed(range(len(below))):
        if below[i] and model.bodies[i].parent >= 0:
            below[model.bodies[i].parent] = True
    return below


# which joints to look at


def _carried(model: Model, roots: Collection[int]) -> set[int]:
    """The given bodies and all that they carry."""
    carried = set(roots)
    for i, body in enumerate(model.bodies):
        if body.parent in carried:
            carried.add(i)
    return carried


def _doubtful(model: Model) -> set[int]:
    """The bodies whose joints do not pass by the bounds, and all that these carry."""
    if _is_too_large(model):
        return set()
    if not all(_physical(model.bodies)):
        return set(range(len(model.bodies)))
    least = ILL_CONDITIONED if len(model.bodies) <= MOST_BODIES_WARNED else 10.0 * SINGULAR
    most, latest = inertia_bounds(model), _latest_leaders(model)
    doubtful = [
        i
        for i in model.coordinate_order
        if latest[i] >= i or not _least(model, i) > least * most[i]
    ]
    return _carried(model, doubtful)


def _is_too_large(model: Model) -> bool:
    """Whether pivots come from the mass matrix, as joints share coordinates, and that costs much.

    It costs a step for each pair of a body and itself or one that carries it.
    """
    if all(body.follows is None for body in model.bodies):
        return False
    carriers = [0] * (len(model.bodies) + 1)
    for i, body in enumerate(model.bodies):
        carriers[i] = carriers[body.parent] + 1
    triangle = LARGEST_MATRIX * (LARGEST_MATRIX + 1) // 2
    return model.nv > LARGEST_MATRIX or sum(carriers) > triangle


def _physical(bodies: Sequence[Body]) -> list[bool]:
    """For each body, whether no inertia of it is negative: only then is its own part a bound."""
    problems = lint.inertia_problems([body.inertia for body in bodies])
    return [
        body.drive.armature >= 0.0
        and not any(severity == "error" for severity, _ in found)
        and not (body.inertia.mass == 0.0 and any(body.inertia.moment))
        for body, found in zip(bodies, problems, strict=True)
    ]


def _least(model: Model, i: int) -> float:
    """The least pivot of a joint if its own body were the only one with inertia."""
    body, rotor = model.bodies[i], model.drives[i].armature
    if not body.joint.has_constant_axes:
        return 0.0  # its axes may become dependent
    axes = body.joint.subspace(body.joint.neutral())
    if len(axes) == 1:
        return float(axes[0].dot(body.inertia @ axes[0]) + rotor)
    IA = ArticulatedInertia.of_body(body.inertia)
    return min(float(pivot.free) for pivot in joint_pivots(IA, body.inertia, axes, rotor)[0])


def _latest_leaders(model: Model) -> list[int]:
    """For each body, the last leader that it or one of its ancestors follows, or -1."""
    latest = [-1] * (len(model.bodies) + 1)
    for i, body in enumerate(model.bodies):
        followed = -1 if body.follows is None else body.follows
        latest[i] = max(latest[body.parent], followed)
    return latest[:-1]
