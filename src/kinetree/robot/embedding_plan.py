"""Which joints of closed loops are independent, and in which order the others are solved.

Source: M. Chignoli, N. Adrian, S. Kim & P. M. Wensing, Recursive rigid-body dynamics algorithms for
systems with kinematic loops (2023): loops that share joints form a cluster, which has independent
coordinates of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinetree._lazy import cached_property
from kinetree.algorithms.tree import ancestors
from kinetree.errors import ModelError, among, unknown
from kinetree.kinds import texts
from kinetree.model import Model
from kinetree.model.constraints import (
    Constraint,
    FrameConstraint,
)
from kinetree.typing import Array

ZERO = 1e-9
"""Entries and singular values below, relative to the largest, are zero."""
WEAK = 1e-3
"""Joints depend on others too weakly if the ratio of singular values is below."""


@dataclass(frozen=True)
class StagePlan:
    """Constraints that are solved together, for joints: numbers of constraints and of bodies."""

    constraints: tuple[int, ...]
    unknowns: tuple[int, ...]


@dataclass(frozen=True)
class Cluster:
    """Loops that share independent joints.

    leaders: the bodies of the independent joints, in the order of q.
    stages: in the order in which they are solved.
    """

    leaders: tuple[int, ...]
    stages: tuple[StagePlan, ...]

    @property
    def unknowns(self) -> tuple[int, ...]:
        """The bodies of its dependent joints, in the order in which they are solved."""
        return tuple(i for stage in self.stages for i in stage.unknowns)


class Plan:
    """The independent and dependent joints of a robot whose constraints are to be embedded.

    Arguments:
        model: with these constraints only.
        J: their Jacobian where the loops are closed.
        independent: names of joints; None to choose them.
    """

    def __init__(self, model: Model, J: Array, independent: Sequence[str] | None) -> None:
        self.model, self.J = model, J
        refuse_velocity_constraints(model)
        largest = np.linalg.norm(J, 2) if J.size else 0.0
        self._zero = ZERO * max(largest, 1e-300)
        self._touches = [owners(model, c) for c in model.constraints]
        moved = set().union(*self._touches)
        self.moved = tuple(i for i in model.coordinate_order if i in moved)
        self.rank = self._rank(range(len(J)), self.moved)
        chosen = self._chosen() if independent is None else self._given(independent)
        self.independent = tuple(i for i in self.moved if i in chosen)
        self.dependent = tuple(i for i in self.moved if i not in chosen)

    def dependent_columns(self, J: Array) -> Array:
        """The columns of Jacobians that belong to dependent joints.

        Arguments:
            J: (..., rows, nv).

        Returns:
            (..., rows, dependent velocities).
        """
        return J[..., self._columns(self.dependent)]

    @cached_property
    def clusters(self) -> tuple[Cluster, ...]:
        """Stages by the independent joints that they share."""
        groups: list[tuple[set[int], list[StagePlan]]] = []
        leads: dict[int, set[int]] = {i: {i} for i in self.independent}
        for stage in self._stages():
            touched = self._touched(stage.constraints)
            leaders = set().union(*(leads.get(i, set()) for i in touched - set(stage.unknowns)))
            if not leaders:
                names = _list(self.model.bodies[i].joint_name for i in stage.unknowns)
                raise ModelError(
                    f"{self._where(stage)} leaves {names} no motion: lock the joints with "
                    "robot.edit.lock(...) and remove the constraint"
                )
            leads |= dict.fromkeys(stage.unknowns, leaders)
            shared = [g for g in groups if g[0] & leaders]
            groups = [g for g in groups if not g[0] & leaders]
            merged = sorted((s for g in shared for s in g[1]), key=self._number)
            groups.append((leaders.union(*(g[0] for g in shared)), [*merged, stage]))
        order = {i: k for k, i in enumerate(self.model.coordinate_order)}
        return tuple(
            Cluster(tuple(sorted(leaders, key=order.__getitem__)), tuple(stages))
            for leaders, stages in groups
        )

    def _number(self, stage: StagePlan) -> int:
        return self._solved.index(stage)

    def _stages(self) -> list[StagePlan]:
        """Small sets of constraints, each of which determines its unknowns from earlier ones."""
        left = list(range(len(self.model.constraints)))
        unsolved = set(self.dependent)
        self._solved: list[StagePlan] = []
        while unsolved:
            stage = next(filter(None, (self._stage([c], unsolved) for c in left)), None)
            stage = stage or self._stage(self._connected(left, unsolved), unsolved)
            if stage is None:
                names = _list(self.model.bodies[i].joint_name for i in sorted(unsolved))
                raise ModelError(f"robot {self.model.name!r}: no constraint determines {names}")
            self._solved.append(stage)
            left = [c for c in left if c not in stage.constraints]
            unsolved -= set(stage.unknowns)
        return self._solved

    def _stage(self, constraints: Sequence[int], unsolved: set[int]) -> StagePlan | None:
        """The constraints as a stage, if they determine all unknowns that they touch."""
        rows = [r for c in constraints for r in self._rows(c)]
        unknowns = tuple(i for i in self.dependent if i in unsolved & self._touched(constraints))
        if not unknowns or self._rank(rows, unknowns) < len(self._columns(unknowns)):
            return None
        return StagePlan(tuple(constraints), unknowns)

    def _connected(self, constraints: Sequence[int], unsolved: set[int]) -> list[int]:
        """The constraints that share unknowns with the first that has any, through others."""
        touched = {c: self._touches[c] & unsolved for c in constraints}
        first = next(c for c in constraints if touched[c])
        found, joints, size = {first}, set(touched[first]), 0
        while len(found) > size:
            size = len(found)
            found |= {c for c in constraints if touched[c] & joints}
            joints = joints.union(*(touched[c] for c in found))
        return sorted(found)

    def _chosen(self) -> set[int]:
        """Independent joints: motors and joints near the base are preferred."""
        bodies = self.model.bodies

        def passive_first(i: int) -> tuple[bool, int]:
            body = bodies[i]
            return np.isfinite(body.limits.effort) or body.drive.armature > 0.0, -i

        dependent: list[int] = []
        for i in sorted(self.moved, key=passive_first):
            tried = [*dependent, i]
            if self._is_strong(tried):
                dependent = tried
        if len(self._columns(dependent)) < self.rank:
            joints = _list(bodies[i].joint_name for i in self.moved)
            raise ModelError(
                f"robot {self.model.name!r}: no choice of whole joints among {joints} follows from "
                "the others at this configuration: pass another as at="
            )
        return set(self.moved) - set(dependent)

    def _given(self, independent: Sequence[str]) -> set[int]:
        """The joints that a user named, if the others follow from them.

        Joints that no constraint moves may be among them: they are independent anyway.
        """
        joints = {self.model.bodies[i].joint_name: i for i in self.model.coordinate_order}
        by_name = {name: i for name, i in joints.items() if i in self.moved}
        names = texts("independent", independent)
        for name in names:
            if not among(name, joints):
                raise unknown("moving joint", name, joints, f"robot {self.model.name!r}")
        chosen = {by_name[name] for name in names if name in by_name}
        count, free = len(self._columns(sorted(chosen))), len(self._columns(self.moved)) - self.rank
        what = f"robot {self.model.name!r}: independent={list(names)}"
        if count != free:
            raise ModelError(
                f"{what} has {count} velocities; the constraints leave {free} of "
                f"{_list(by_name)} independent"
            )
        dependent = [i for i in self.moved if i not in chosen]
        if not self._is_strong(dependent):
            others = _list(self.model.bodies[i].joint_name for i in dependent)
            raise ModelError(
                f"{what}: {others} do not follow from there at this configuration; choose other "
                "joints, or pass another configuration as at="
            )
        return chosen

    def _is_strong(self, bodies: Sequence[int]) -> bool:
        """Whether the constraints determine the joints of these bodies from the others."""
        columns = self.J[:, self._columns(bodies)]
        if not bodies or columns.shape[1] > len(self.J):
            return not bodies
        values = np.linalg.svd(columns, compute_uv=False)
        return bool(values[-1] > WEAK * values[0])

    def _where(self, stage: StagePlan) -> str:
        names = [repr(self.model.constraints[c].name) for c in stage.constraints]
        return f"robot {self.model.name!r}: constraint {' with '.join(names)}"

    def _rows(self, constraint: int) -> range:
        before = sum(c.row_count for c in self.model.constraints[:constraint])
        return range(before, before + self.model.constraints[constraint].row_count)

    def _columns(self, bodies: Sequence[int]) -> list[int]:
        slices = (self.model.v_slices[i] for i in bodies)
        return [k for at in slices for k in range(at.start, at.stop)]

    def _touched(self, constraints: Sequence[int]) -> set[int]:
        return set().union(*(self._touches[c] for c in constraints))

    def _rank(self, rows: Sequence[int], bodies: Sequence[int]) -> int:
        part = self.J[np.ix_(list(rows), self._columns(bodies))]
        if not part.size:
            return 0
        return int((np.linalg.svd(part, compute_uv=False) > 10 * self._zero).sum())


def between(model: Model, constraint: FrameConstraint) -> tuple[list[int], list[int]]:
    """The bodies from the last one that carries both frames, without it, to the frame and its base.

    Arguments:
        model: the model.
        constraint: one of its constraints.

    Returns:
        Two lists of numbers, from the base of the tree on.
    """
    ends = (constraint.frame, constraint.base)
    chains = [[] if end is None else list(ancestors(model, model.frame(end).body)) for end in ends]
    both = set(chains[0]) & set(chains[1])
    to_frame, to_base = ([i for i in reversed(chain) if i not in both] for chain in chains)
    return to_frame, to_base


def owners(model: Model, constraint: Constraint) -> set[int]:
    """The bodies whose joints' coordinates a constraint depends on.

    Arguments:
        model: the model.
        constraint: one of its constraints.

    Returns:
        Their numbers.
    """
    if isinstance(constraint, FrameConstraint):
        to_frame, to_base = between(model, constraint)
        bodies = {*to_frame, *to_base}
    else:
        bodies = {i for i, b in enumerate(model.bodies) if b.joint_name in constraint.joints}
    followed = ((i, model.bodies[i].follows) for i in bodies)
    return {i if leader is None else leader for i, leader in followed}


def refuse_velocity_constraints(model: Model) -> None:
    """Raise an error if a constraint is on velocities only: it leaves every position possible.

    Arguments:
        model: with the constraints that are to be embedded.
    """
    for c in model.constraints:
        if not c.holonomic:
            raise ModelError(
                f"robot {model.name!r}: constraint {c.name!r} forbids velocities, not positions: "
                "no coordinate depends on others by it, so it cannot be embedded"
            )


def _list(names: object) -> str:
    return ", ".join(repr(name) for name in names)  # type: ignore[attr-defined]
