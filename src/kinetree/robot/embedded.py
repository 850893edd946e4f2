"""The result of embedding: a robot in independent coordinates, and the way to all coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kinetree._lazy import cached_property
from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.errors import ModelError, among, unknown
from kinetree.kinds import texts
from kinetree.model import Model
from kinetree.robot import checks
from kinetree.robot.core import Core, Door
from kinetree.scalar import Scalar
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot

CLOSED = 1e-10
"""The largest error of a loop, m or rad."""
CHECKED = 200
"""Random configurations at which the loops are checked."""


@dataclass(frozen=True, eq=False)
class Embedding:
    """A robot whose loops are embedded: some joints are independent, the others follow them.

    Attributes:
        robot: has the coordinates y of the independent joints, and none of the embedded
            constraints.
        original: the robot with all coordinates q.
    """

    robot: Robot
    original: Robot

    @property
    def independent(self) -> tuple[str, ...]:
        """The joints with coordinates of their own, in the order of y."""
        return self.robot.joints

    @cached_property
    def dependent(self) -> tuple[str, ...]:
        """The joints that had coordinates of their own and now follow."""
        return tuple(name for name in self.original.joints if name not in self.independent)

    @cached_property
    def _full(self) -> Any:
        function = partial(_full, names=self.original.joints)
        return self.robot.custom_kernel(function, {"y": self.robot.nq}, "full")

    @cached_property
    def _full_velocity(self) -> Any:
        function = partial(_full_velocity, names=self.original.joints)
        lengths = {"y": self.robot.nq, "yd": self.robot.nv}
        return self.robot.custom_kernel(function, lengths, "full_velocity")

    def full(self, y: ArrayLike) -> Array:
        """The coordinates of all joints.

        Arguments:
            y: of the independent joints, (..., robot.nq).

        Returns:
            (..., original.nq), where the loops are closed.
        """
        return cast(Array, self._full(y))

    def full_velocity(self, y: ArrayLike, yd: ArrayLike) -> Array:
        """The velocities of all joints.

        Arguments:
            y, yd: coordinates (..., robot.nq) and velocities (..., robot.nv) of the independent
                joints.

        Returns:
            (..., original.nv), which the constraints allow.
        """
        return cast(Array, self._full_velocity(y, yd))

    @through_numpy
    def reduced(self, q: ArrayLike) -> Array:
        """The coordinates of the independent joints.

        Arguments:
            q: of all joints, (..., original.nq).

        Returns:
            (..., robot.nq).
        """
        return self._picked("q", q, self.original.model.q_slices)

    @through_numpy
    def reduced_velocity(self, v: ArrayLike) -> Array:
        """The velocities of the independent joints.

        Arguments:
            v: of all joints, (..., original.nv).

        Returns:
            (..., robot.nv).
        """
        return self._picked("v", v, self.original.model.v_slices)

    def _picked(self, name: str, values: ArrayLike, slices: Sequence[slice]) -> Array:
        model = self.original.model
        number = {body.joint_name: i for i, body in enumerate(model.bodies)}
        width = self.original.nq if name == "q" else self.original.nv
        given = checks.finite_array(name, values, width)
        return np.concatenate([given[..., slices[number[x]]] for x in self.independent], axis=-1)


class Embeddable(Door):
    """Embedding, of `robot.constraints`."""

    @through_numpy
    def embed(
        self,
        independent: Sequence[str] | None = None,
        *,
        at: ArrayLike | None = None,
        constraints: str | Sequence[str] = (),
    ) -> Embedding:
        """A robot in which some joints are independent and the others follow, as the loops demand.

        It has no constraint left of those that are embedded, and every quantity of a tree.

        Arguments:
            independent: the names of the independent joints, of those that the constraints move;
                others are independent anyway. By default motors and joints near the base are
                preferred.
            at: a configuration near which the loops are closed, (nq,); of the ways in which a
                mechanism can be assembled, it takes the one there. By default the neutral one.
            constraints: the names of the constraints to embed; the others remain constraints.

        Returns:
            The robot, and the way between its coordinates and those of all joints. The limits of
            its joints are the range in which the loops close.

        Raises:
            AssemblyError: where a loop cannot be closed near `at`.
            ModelError: where the joints do not follow from the independent ones.
        """
        return embed(self._robot, independent, at, constraints)


def embed(
    robot: Core,
    independent: Sequence[str] | None,
    at: ArrayLike | None,
    constraints: str | Sequence[str],
) -> Embedding:
    """See `Embeddable.embed`."""
    from kinetree.robot.embedding import embedded_model  # rarely needed, and importing takes time
    from kinetree.robot.embedding_plan import Plan

    model = robot.model
    names = tuple(c.name for c in model.constraints)
    chosen = texts("constraints", [constraints] if isinstance(constraints, str) else constraints)
    for name in chosen:
        if not among(name, names):
            raise unknown("constraint", name, names, f"robot {robot.name!r}")
    if not names:
        raise ModelError(f"robot {robot.name!r} has no constraints to embed")
    embedded = tuple(c for c in model.constraints if not chosen or c.name in chosen)
    kept = tuple(c for c in model.constraints if c not in embedded)
    make = cast("type[Robot]", type(robot))
    closed = make(replace(model, constraints=embedded))
    q = closed.constraints.assemble(closed.neutral() if at is None else at)
    if q.ndim != 1:
        raise ModelError(f"at has shape {q.shape}: one configuration is expected, ({robot.nq},)")
    plan = Plan(closed.model, np.asarray(closed.constraints.jacobian(q)), independent)
    reduced = embedded_model(closed, replace(model, constraints=()), plan, q)
    result = Embedding(make(replace(reduced, constraints=kept)), cast("Robot", robot))
    _check_closed(result, closed)
    return result


def _check_closed(result: Embedding, closed: Robot) -> None:
    """Refuse an embedding that leaves a loop open somewhere in its range."""
    y = result.robot.random(0, CHECKED)
    errors = np.abs(closed.constraints.errors(result.full(y)))
    if not (errors <= CLOSED).all():  # also if it is not a number
        worst = np.nan_to_num(errors, nan=np.inf).max(axis=0)
        label = closed.model.constraint_labels[int(np.argmax(worst))]
        raise ModelError(
            f"robot {closed.name!r}: {label.name} is open by {worst.max():.3g} {label.unit} within "
            "the limits of the independent joints: give them closer limits, or pass another "
            "configuration as at="
        )


def _full(model: Model, y: Sequence[Scalar], *, names: Sequence[str]) -> list[Scalar]:
    """The coordinates of joints, by name."""
    q: list[Scalar] = []
    for i in _numbers(model, names):
        joint, own = model.bodies[i].joint, y[model.q_slices[i]]
        q += joint.inner_coordinates(own)
    return q


def _full_velocity(
    model: Model, y: Sequence[Scalar], yd: Sequence[Scalar], *, names: Sequence[str]
) -> list[Scalar]:
    """The velocities of joints, by name."""
    v: list[Scalar] = []
    for i in _numbers(model, names):
        joint = model.bodies[i].joint
        v += joint.inner_velocity(y[model.q_slices[i]], yd[model.v_slices[i]])
    return v


def _numbers(model: Model, names: Sequence[str]) -> list[int]:
    number = {body.joint_name: i for i, body in enumerate(model.bodies)}
    return [number[name] for name in names]
