"""The quadratic program of a whole-body controller at one state, over any scalar.

Source: S. Feng, E. Whitman, X. Xinjilefu & C. Atkeson, Optimization-based full body control for the
DARPA robotics challenge (2015), section 4; priorities as in O. Kanoun, F. Lamiraux & P.-B. Wieber,
Kinematic control of redundant manipulators: generalizing the task-priority framework to inequality
tasks (2011).

    symbol    code       meaning
    u         u          joint forces, each over its limit
    w         w          the wrench on each sole in its own axes, or the force on a point in the
                         world's; forces over the weight, moments over the weight times LEVER
    a         a          accelerations
    M, h      M h        the mass matrix, forces at zero acceleration
    J_c       J          rows of the stances

    M a + h = S u + J_c^T w,    J_c a + J_c' v = - K_d J_c v                                    (1)

have one solution for each u, a = F u + a_0 and w = P u + w_0. The reduced program is

    min  sum of weight |J_t (F u + a_0) - wanted|^2 + rho |w|^2 + eps |u|^2                     (2)
    with w = P u + w_0,    -1 <= u <= 1,    C w <= 0                                            (3)

C has the facets of the cone of all wrenches that friction pyramids at the sole's points can exert;
they are constants, computed when the program is traced. Tasks of a lower priority are solved after
the others, whose rows J_t a then are equations.

Only the ground accelerates the centre of mass of a robot with a free base, so its task has the rows
sum of forces / m + gravity = wanted, over w.

A stance that is switched off has no rows in (1), and its C w <= 0 becomes C w <= 1.

Cost: O(n^2 m) for n motors and m velocities, and that of the interior-point method.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kinetree.algorithms import balafoutis_patel, crba, frame_acceleration, frame_pose, jacobian
from kinetree.algorithms.center_of_mass import total_mass
from kinetree.algorithms.constraints.proximal import factored
from kinetree.algorithms.dense import dot
from kinetree.algorithms.ltl import Row, elimination_order, factor
from kinetree.algorithms.quadratic import InteriorPoint, Optimum, pattern_of
from kinetree.control.body_tasks import (
    BodyTask,
    CenterOfMassTask,
    Scalars,
    Stance,
    free_root,
    sparse,
)
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Rotation, Vector3

LEVER = 0.1
"""m: the lever arm by which moments are compared with forces."""
REFINED = 1
"""The number of proximal corrections of the stances' forces."""
Matrix = list[list[Scalar]]


@dataclass(frozen=True)
class Settings:
    """The settings of a whole-body controller.

    motors: the velocities that have motors.
    limits: the effort limit of each of these; infinite for none.
    effort_weight, force_weight: eps and rho.
    """

    tasks: tuple[BodyTask, ...]
    stances: tuple[Stance, ...]
    motors: tuple[int, ...]
    limits: tuple[float, ...]
    effort_weight: float
    force_weight: float
    iterations: int
    tolerance: float

    @property
    def wrench_starts(self) -> list[int]:
        """The index of each stance's first unknown, and the number of unknowns."""
        starts = [len(self.motors)]
        for stance in self.stances:
            starts.append(starts[-1] + stance.rows)
        return starts


class Affine(NamedTuple):
    """An affine function of the unknowns: a row of factors, and its value at zero."""

    row: Row
    constant: Scalar


@dataclass(frozen=True)
class Solved:
    """Joint forces, accelerations, wrenches in the world's axes, and the residual.

    violations: the excess of each cone facet and each joint force over its bound.
    """

    tau: list[Scalar]
    a: list[Scalar]
    wrenches: Matrix
    residual: Scalar
    violations: list[Scalar]


def solved(
    model: Model, settings: Settings, q: Scalars, v: Scalars, given: Mapping[str, Scalars]
) -> Solved:
    """The solution, priority by priority."""
    state = State(model, settings, q, v, given)
    wrenches, accelerations = state.responses()
    equations = [
        (Row({at: 1.0}) | {k: -x for k, x in w.row.items()}, w.constant)
        for at, w in zip(range(len(settings.motors), state.unknowns), wrenches, strict=True)
    ]
    bounds = state.bounds()
    locked: list[tuple[Row, Scalar]] = []
    found: Optimum | None = None
    for level in sorted({task.priority for task in settings.tasks}):
        rows = [
            (task.weight, row)
            for task in settings.tasks
            if task.priority == level
            for row in state.task_rows(task, accelerations)
        ]
        found = _optimum(state, rows, [*equations, *locked], bounds)
        locked += [(row.row, _value(row.row, found.x)) for _, row in rows]
    assert found is not None
    x = found.x
    tau: list[Scalar] = [0.0] * model.nv
    for i, (k, scale) in enumerate(zip(settings.motors, state.scales, strict=True)):
        tau[k] = x[i] * scale
    a = [_value(one.row, x) + one.constant for one in accelerations]
    return Solved(tau, a, state.world_wrenches(x), found.residual, found.bounds)


def _value(row: Row, x: Scalars) -> Scalar:
    return sum((c * x[j] for j, c in row.items()), start=0.0)


def _optimum(
    state: State,
    tasks: Sequence[tuple[float, Affine]],
    equations: Sequence[tuple[Row, Scalar]],
    bounds: Sequence[tuple[Row, Scalar | None, Scalar | None]],
) -> Optimum:
    """The program of one priority (2, 3)."""
    settings, n = state.settings, len(state.settings.motors)
    H: list[Row] = [
        {k: settings.effort_weight if k < n else settings.force_weight}
        for k in range(state.unknowns)
    ]
    g: list[Scalar] = [0.0] * state.unknowns
    for weight, (row, constant) in tasks:
        for i, x in row.items():
            scaled = x * weight
            g[i] = g[i] + scaled * constant
            for j, y in row.items():
                if j <= i:
                    H[i][j] = H[i].get(j, 0.0) + scaled * y
    rows, values = [row for row, _ in equations], [value for _, value in equations]
    pattern, numbers = pattern_of(H, g, rows, values, bounds)
    return InteriorPoint(pattern, settings.iterations, settings.tolerance)(numbers)


class State:
    """A robot at a state, with the affine maps and rows of its program.

    scales: the unit of each joint force.
    """

    def __init__(
        self,
        model: Model,
        settings: Settings,
        q: Scalars,
        v: Scalars,
        given: Mapping[str, Scalars],
    ) -> None:
        self.model, self.settings, self.q, self.v, self.given = model, settings, q, v, given
        gravity = math.hypot(*(float(x) for x in model.gravity)) or 9.81
        self.weight = total_mass(model) * gravity
        self.scales = [x if math.isfinite(x) else self.weight for x in settings.limits]
        self.starts = settings.wrench_starts
        self.unknowns = self.starts[-1]

    def responses(self) -> tuple[list[Affine], list[Affine]]:
        """w = P u + w_0 and a = F u + a_0 (1)."""
        model, still = self.model, [0.0] * self.model.nv
        J, wanted, idle = self._stance_rows()
        parts = factored(factor(crba(model, self.q), elimination_order(model)), J, idle)
        h = balafoutis_patel(model, self.q, self.v, still)
        loads = [{k: scale} for k, scale in zip(self.settings.motors, self.scales, strict=True)]
        constant: Row = {k: -x for k, x in enumerate(h)}
        w_columns, a_columns = [], []
        for load, goal in ((constant, wanted), *((load, None) for load in loads)):
            y = parts.M.half(load)
            along = parts.accelerations_along(y)
            short = [-x for x in along] if goal is None else _less(goal, along)
            w = parts.forces(short, REFINED)[0] if J else []
            w_columns.append(w)
            a_columns.append(parts.solve(y, w))
        units = self._units()
        rows_w = [_affine([c[i] / unit for c in w_columns]) for i, unit in enumerate(units)]
        return rows_w, [_affine([c[k] for c in a_columns]) for k in range(model.nv)]

    def _units(self) -> list[Scalar]:
        """The unit that scales each entry of w."""
        lever = self.weight * LEVER
        whole = [self.weight] * 3 + [lever] * 3
        return [x for stance in self.settings.stances for x in whole[: stance.rows]]

    def _stance_rows(self) -> tuple[list[Row], list[Scalar], list[Scalar]]:
        """J_c, - J_c' v - K_d J_c v, and 1 for each row that is left out."""
        rows: list[Row] = []
        values: list[Scalar] = []
        idle: list[Scalar] = []
        for k, stance in enumerate(self.settings.stances):
            on = self.given["standing"][k]
            J, drift = self._stance(stance)
            for row, d in zip(J, drift, strict=True):
                rows.append({j: x * on for j, x in row.items()})
                values.append((-d - stance.kd * _value(row, self.v)) * on)
                idle.append(1.0 - on)
        return rows, values, idle

    def _stance(self, stance: Stance) -> tuple[list[Row], list[Scalar]]:
        """The Jacobian of a stance and J' v: of a sole in its axes, of a point in the world's."""
        model, q, v, name = self.model, self.q, self.v, stance.frame
        still = [0.0] * model.nv
        if stance.rows == 6:
            A = frame_acceleration(model, q, v, still, name, "body", "spatial")
            return sparse(jacobian(model, q, name, "body")), list(A)
        r = frame_pose(model, q, name).rotation @ Vector3(*map(float, stance.points[0]))
        J = jacobian(model, q, name, "origin")
        columns = [
            Vector3(*(J[i][k] for i in range(3)))
            + Vector3(*(J[i + 3][k] for i in range(3))).cross(r)
            for k in range(model.nv)
        ]
        w = Vector3(*(dot(row, v) for row in J[3:]))
        A = frame_acceleration(model, q, v, still, name, "origin", "classical")
        drift = A.linear + A.angular.cross(r) + w.cross(w.cross(r))
        return sparse([list(row) for row in zip(*columns, strict=True)]), list(drift)

    def bounds(self) -> list[tuple[Row, Scalar | None, Scalar | None]]:
        """The cones, then the limits of joint forces (3)."""
        found: list[tuple[Row, Scalar | None, Scalar | None]] = []
        for k, stance in enumerate(self.settings.stances):
            at, off = self.starts[k], 1.0 - self.given["standing"][k]
            for facet in stance.facets(LEVER):
                row: Row = {at + i: float(x) for i, x in enumerate(facet) if abs(x) > 1e-9}
                found.append((row, None, off))
        for i, most in enumerate(self.settings.limits):
            if math.isfinite(most):
                found.append(({i: 1.0}, -1.0, 1.0))
        return found

    def task_rows(self, task: BodyTask, accelerations: Sequence[Affine]) -> list[Affine]:
        """J_t a - wanted over the unknowns."""
        model = self.model
        if isinstance(task, CenterOfMassTask) and free_root(model) and self.settings.stances:
            wanted = task.wanted(model, self.q, self.v, self.given)
            return [
                Affine(row, g - w)
                for row, g, w in zip(self._center_rows(), model.gravity, wanted, strict=True)
            ]
        found = []
        rows = task.rows(model, self.q, self.v, self.given)
        for J, value in zip(rows.J, rows.value, strict=True):
            total: Row = {}
            constant: Scalar = -value
            for k, x in J.items():
                constant = constant + x * accelerations[k].constant
                for j, c in accelerations[k].row.items():
                    total[j] = total[j] + x * c if j in total else x * c
            found.append(Affine(total, constant))
        return found

    def _center_rows(self) -> list[Row]:
        """The sum of all forces over the mass, in the world's axes."""
        rows: list[Row] = [{}, {}, {}]
        share = self.weight / total_mass(self.model)
        for k, stance in enumerate(self.settings.stances):
            on = self.given["standing"][k] * share
            for i, axis in enumerate(self._axes(stance).rows):
                for j, x in enumerate(axis):
                    rows[i][self.starts[k] + j] = x * on
        return rows

    def _axes(self, stance: Stance) -> Rotation:
        """The axes of a stance's wrench in the world."""
        if stance.rows == 3:
            return Rotation.identity()
        return frame_pose(self.model, self.q, stance.frame).rotation

    def world_wrenches(self, x: Scalars) -> Matrix:
        """The wrench of each stance at its frame's origin, in the world's axes."""
        found = []
        for k, stance in enumerate(self.settings.stances):
            at, on = self.starts[k], self.given["standing"][k] * self.weight
            R = self._axes(stance)
            force = R @ Vector3(*x[at : at + 3]) * on
            if stance.rows == 3:
                X = frame_pose(self.model, self.q, stance.frame)
                moment = (X.rotation @ Vector3(*map(float, stance.points[0]))).cross(force)
            else:
                moment = R @ Vector3(*x[at + 3 : at + 6]) * (on * LEVER)
            found.append([*force, *moment])
        return found


def _less(a: Scalars, b: Scalars) -> list[Scalar]:
    return [x - y for x, y in zip(a, b, strict=True)]


def _affine(entries: Scalars) -> Affine:
    """A row whose first entry is its constant."""
    return Affine(dict(enumerate(entries[1:])), entries[0])
