"""Embedding: a robot whose loops are gone, because dependent joints follow independent ones.

Source: A. Jain, Multibody graph transformations and analysis: part II (2012); M. Chignoli,
N. Adrian, S. Kim & P. M. Wensing, Recursive rigid-body dynamics algorithms for systems with
kinematic loops (2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kinetree.errors import ModelError
from kinetree.model import Model
from kinetree.model.constraints import Coupling, FrameConstraint
from kinetree.model.embedding import (
    Closure,
    Coupled,
    CoupledSum,
    FrameLoop,
    Link,
    LoopMap,
    Newton,
    Path,
    Stage,
)
from kinetree.model.embedding.start import Fit, fitted
from kinetree.model.joints import Composite, Dependent, Revolute
from kinetree.model.model import WORLD, Body, Limits
from kinetree.robot.embedding_formulas import formulas
from kinetree.robot.embedding_plan import Cluster, Plan, StagePlan, between
from kinetree.robot.embedding_range import Explorer, Range
from kinetree.spatial import Inertia, Symmetric3, Transform, Vector3
from kinetree.typing import Array

if TYPE_CHECKING:
    from kinetree.robot.core import Core

DEGREES = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24)
LARGEST_FIT = 400
"""Products of a fit, at most."""
NEAR = 0.02
"""A fit is good enough to start from if its error is at most this part of what it varies by."""
SAME_TURN = 1.0
"""An angle this near tells turns apart, rad."""
MOST_STEPS = 8
CLOSE = 1e-7
"""From an error below, the next step of Newton's method gets to rounding."""


class Maps:
    """The maps of a cluster: from its independent coordinates to those of its dependent joints.

    Arguments:
        robot: with the constraints that are embedded.
        plan: its independent joints.
        cluster: the loops.
        q: an assembled configuration.
    """

    def __init__(self, robot: Core, plan: Plan, cluster: Cluster, q: Array) -> None:
        self.model, self.plan, self.cluster = robot.model, plan, cluster
        self.leaders = [self.model.bodies[i] for i in cluster.leaders]
        self.places: dict[int, int] = {}  # where a body's coordinates are among the known ones
        self.count = 0
        for i in cluster.leaders:
            self._place(i)
        self.robot, self.q = robot, q
        self.range: Range | None = None
        self.stages: list[Stage] = []
        for stage in cluster.stages:
            self.stages.append(self._stage(stage))
            for i in stage.unknowns:
                self._place(i)

    def _place(self, i: int) -> None:
        self.places[i] = self.count
        self.count += self.model.bodies[i].joint.nq

    def joint(self, i: int) -> Dependent:
        """The joint of body i, as it follows the independent coordinates."""
        body = self.model.bodies[i]
        joints = tuple(leader.joint for leader in self.leaders)
        leader = joints[0] if len(joints) == 1 else Composite(joints)
        stages, start = tuple(self.stages), self.places[i if body.follows is None else body.follows]
        inner = body.joint
        if body.follows is not None:  # a mimic of a dependent joint
            inner, ratio, offset = body.joint.transmission
            stages = (*stages, Coupled(-1.0, ((start, (offset, ratio)),), 0.0))
            start = self.count
        else:
            needed = self._needed(i)
            stages = stages[:needed]
        return Dependent(leader, inner, LoopMap(stages, start, start + inner.nq))

    def _needed(self, i: int) -> int:
        """How many stages are solved until the joint of body i is known."""
        return next(k for k, s in enumerate(self.cluster.stages, 1) if i in s.unknowns)

    def limits(self, i: int) -> Limits:
        """The limits of an independent joint, within the range in which its loops close."""
        body = self.model.bodies[i]
        if self.range is None:
            return body.limits
        start = self.places[i]
        axes = self.range.axes[start : start + body.joint.nq]
        if any(axis.turns for axis in axes):
            return body.limits
        return replace(
            body.limits,
            lower=max(body.limits.lower, *(axis.lower for axis in axes)),
            upper=min(body.limits.upper, *(axis.upper for axis in axes)),
        )

    def _stage(self, plan: StagePlan) -> Stage:
        return self._coupled(plan) or self._loops(plan)

    def _coupled(self, plan: StagePlan) -> Stage | None:
        """A coupling that is linear in its only unknown."""
        (first, *more) = (self.model.constraints[c] for c in plan.constraints)
        if more or not isinstance(first, Coupling):
            return None
        (unknown,) = plan.unknowns
        numbers = {body.joint_name: i for i, body in enumerate(self.model.bodies)}
        by_body = {numbers[joint]: f for joint, f in first.polynomials}
        own = by_body.pop(unknown)
        if any(own[2:]):
            return None
        others = tuple((self.places[i], f) for i, f in by_body.items())
        return Coupled(own[1], others, own[0])

    def _loops(self, plan: StagePlan) -> Stage:
        """A formula that gives the samples, otherwise Newton's method from a fit to them."""
        if self.range is None:
            self.range = Explorer(self.robot, self.plan, self.cluster, self.q).explore()
        found = self.range
        places = dict(self.places)
        count = self.count
        for i in plan.unknowns:
            places[i] = count
            count += self.model.bodies[i].joint.nq
        closures = self._closures(plan, places, found)
        joints = tuple(self.model.bodies[i].joint for i in plan.unknowns)
        numbers = [k for i in plan.unknowns for k in _range(self.model.q_slices[i])]
        known = self._known(found)
        loop, *more = closures
        if not more and isinstance(loop, FrameLoop):
            rough = self._fit(found, numbers, SAME_TURN)
            for formula in formulas(loop, joints, rough, self.count):
                if _error(formula, known, found.q[:, numbers]) < CLOSE:
                    return formula
        varies = float(np.ptp(found.q[:, numbers] - found.y @ found.windings[numbers].T, 0).max())
        fit = self._fit(found, numbers, NEAR * max(varies, 1e-9))
        for steps in range(1, MOST_STEPS + 1):
            newton = Newton(closures, joints, fit, steps)
            if _error(newton, known, found.q[:, numbers]) < CLOSE:
                # two more: one to the solution, one that begins there, whose derivatives are exact
                return replace(newton, steps=steps + 2)
        names = ", ".join(repr(self.model.constraints[c].name) for c in plan.constraints)
        raise ModelError(
            f"robot {self.model.name!r}: loop {names} is not solved by {MOST_STEPS} steps of "
            "Newton's method over the range of its independent joints: give these closer limits"
        )

    def _known(self, found: Range) -> list[Array]:
        """The coordinates that are known before a stage, at the samples."""
        bodies = list(self.places)
        return [found.q[:, k] for i in bodies for k in _range(self.model.q_slices[i])]

    def _fit(self, found: Range, numbers: Sequence[int], allowed: float) -> Fit:
        """The fit of the lowest degree whose error is allowed."""
        results, windings = found.q[:, numbers], found.windings[numbers]
        best: Fit | None = None
        for degree in DEGREES:
            fit = fitted(found.axes, degree, found.y, results, windings)
            if best is not None and len(fit.terms) > min(LARGEST_FIT, len(found.y) // 2):
                break
            best = fit
            given = np.stack(
                [np.broadcast_to(x, len(found.y)) for x in fit.values(list(found.y.T))], 1
            )
            if np.abs(given - results).max() <= allowed:
                break
        assert best is not None
        return best

    def _closures(
        self, plan: StagePlan, places: dict[int, int], found: Range
    ) -> tuple[Closure, ...]:
        """The rows of constraints; those that vanish everywhere are left out."""
        J = np.asarray(self.robot.kernel("constraint_jacobian")(found.q))
        used = np.abs(J).max(axis=(0, 2)) > 1e-9 * np.abs(J).max()
        closures: list[Closure] = []
        for c in plan.constraints:
            constraint = self.model.constraints[c]
            before = sum(x.row_count for x in self.model.constraints[:c])
            rows = tuple(k for k in range(constraint.row_count) if used[before + k])
            if isinstance(constraint, FrameConstraint):
                closures.append(self._loop(constraint, places, rows))
            else:
                assert isinstance(constraint, Coupling)
                numbers = {body.joint_name: i for i, body in enumerate(self.model.bodies)}
                pairs = tuple((places[numbers[joint]], f) for joint, f in constraint.polynomials)
                closures.append(CoupledSum(rows, pairs))
        return tuple(closures)

    def _loop(
        self, constraint: FrameConstraint, places: dict[int, int], rows: tuple[int, ...]
    ) -> FrameLoop:
        to_frame, to_base = between(self.model, constraint)
        return FrameLoop(
            rows,
            constraint,
            self._path(to_frame, constraint.frame, constraint.at_frame, places),
            self._path(to_base, constraint.base, constraint.at_base, places),
        )

    def _path(
        self, bodies: Sequence[int], end: str | None, at: Transform, places: dict[int, int]
    ) -> Path:
        links = []
        for i in bodies:
            body = self.model.bodies[i]
            owner = i if body.follows is None else body.follows
            links.append(Link(body.placement, body.joint, places[owner]))
        return Path(tuple(links), at if end is None else self.model.frame(end).placement @ at)


def _error(stage: Stage, known: list[Array], wanted: Array) -> float:
    """How far the results of a stage are from samples; infinite where there are none."""
    with np.errstate(all="ignore"):
        error = np.abs(np.stack(stage.solve(known), axis=-1) - wanted).max()
    return float(error) if np.isfinite(error) else np.inf


def embedded_model(robot: Core, kept: Model, plan: Plan, q: Array) -> Model:
    """The model without the constraints that are embedded.

    Arguments:
        robot: with the constraints that are embedded only.
        kept: the model with the others only.
        plan: the independent joints.
        q: an assembled configuration.

    Returns:
        A model.
    """
    bodies = list(kept.bodies)
    rotors: list[Body] = []
    order = list(kept.coordinate_order)
    for cluster in plan.clusters:
        maps = Maps(robot, plan, cluster, q)
        for i in cluster.leaders:
            bodies[i] = replace(bodies[i], limits=maps.limits(i))
        for i, body in enumerate(kept.bodies):
            if i in cluster.unknowns or body.follows in cluster.unknowns:
                joint = maps.joint(i)
                bodies[i] = replace(
                    body,
                    joint=joint,
                    follows=cluster.leaders[0],
                    drive=replace(body.drive, armature=0.0),
                )
                rotors += _rotors(body, joint, cluster.leaders[0])
        order = _adjacent([i for i in order if i not in cluster.unknowns], cluster.leaders)
    return replace(kept, bodies=(*bodies, *rotors), coordinate_order=tuple(order))


def _adjacent(order: list[int], leaders: Sequence[int]) -> list[int]:
    """The order of coordinates with some of them together, where the first of them is."""
    first = order.index(leaders[0])
    rest = [i for i in order if i not in leaders]
    return [*rest[:first], *leaders, *rest[first:]]


def _rotors(body: Body, joint: Dependent, leader: int) -> list[Body]:
    """Bodies that have the energy of a dependent joint's armature: each turns with a coordinate.

    A body without mass about an axis of the world has the kinetic energy a s'^2 / 2 and no weight.
    """
    a, inner = body.drive.armature, joint.inner
    if not a:
        return []
    if inner.nq != inner.nv:
        raise ModelError(
            f"joint {body.joint_name!r} has an armature and depends on others: it is embedded only "
            "for joints whose velocities are the rates of their coordinates"
        )
    inertia = Inertia(0.0, Vector3.zero(), Symmetric3(a, a, a, 0.0, 0.0, 0.0))
    rotors = []
    for k in range(inner.nq):
        assert isinstance(joint.map, LoopMap)
        start = joint.map.start + k
        moved = replace(
            joint, inner=Revolute("z"), map=replace(joint.map, start=start, stop=start + 1)
        )
        name = f"{body.joint_name}_rotor" + (f"_{k + 1}" if inner.nq > 1 else "")
        rotors.append(Body(name, name, WORLD, Transform.identity(), moved, inertia, follows=leader))
    return rotors


def _range(at: slice) -> range:
    return range(at.start, at.stop)
