"""Kernels of ground forces: the wrench at a free root, and the joint forces of a frame's wrench.

symbol   code     meaning
w        wrench   the wrench on the root about a point, in the world's axes, from q and tau
g        Reaction joint forces that a wrench at a frame (about the world's origin) balances: J^T f
K        by_q     derivative of g by q
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinetree._lazy import cached_property
from kinetree.algorithms.jacobian import jacobian
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.errors import KinetreeError
from kinetree.model import Model
from kinetree.motion.arrays import Array
from kinetree.scalar import Scalar
from kinetree.spatial import Rotation, Vector3
from kinetree.spatial.exponential import half_turn_quat, translation_to_screw

if TYPE_CHECKING:
    from kinetree.robot import Robot


class Wrenches(NamedTuple):
    """The wrench on a free root with derivatives by its (q, tau), 12 numbers.

    value, first: (..., 6), (..., 6, 12).
    """

    value: Array
    first: Array


class RootWrench:
    """The wrench on a free root about a point, from its coordinates and its forces.

    Arguments:
        robot: in the chart of rotation vectors.
        root: the velocities of its root.
    """

    def __init__(self, robot: Robot, root: slice) -> None:
        body = robot.model.bodies[_root_body(robot, root)]
        turn = np.array([[float(x) for x in row] for row in body.placement.rotation.rows])
        self._root, self._turn = root, turn
        self._place = np.array([float(x) for x in body.placement.translation])
        self._kernel = robot.custom_kernel(
            self._wrench, {"q": 6, "tau": 6, "p": 3}, "wrench on the root"
        )
        self._check_chart(robot, body.name, body.joint_name)

    def _check_chart(self, robot: Robot, body: str, joint: str) -> None:
        """Raise an error unless wrench and joint forces have the same power in this chart."""
        rng = np.random.default_rng(0)
        q, tau = robot.random(rng), rng.standard_normal(robot.nv)
        w = self.value(q, tau, np.zeros(3))
        J = robot.jacobian(q, body, axes="world")[:, self._root]
        if not np.allclose(w @ J, tau[self._root], atol=1e-9):
            raise KinetreeError(
                f"supports need a floating base whose orientation is a quaternion or a rotation "
                f"vector; the root joint {joint!r} of robot {robot.name!r} has another chart"
            )

    def _wrench(
        self, model: Model, q: Sequence[Scalar], tau: Sequence[Scalar], p: Sequence[Scalar]
    ) -> list[Scalar]:
        mount = Rotation(*(Vector3(*row) for row in self._turn.tolist()))
        r = Vector3(*q[3:])
        body = translation_to_screw(Vector3(*tau[3:]), r)
        f = mount @ Vector3(*tau[:3])
        n = mount @ (Rotation.quat_xyzw(*half_turn_quat(r)) @ body)
        at = mount @ Vector3(*q[:3]) + Vector3(*self._place.tolist()) - Vector3(*p)
        return [*f, *(n + at.cross(f))]

    def _arguments(self, q: Array, tau: Array, about: Array) -> tuple[Array, Array, Array]:
        return q[..., self._root], tau[..., self._root], about

    def value(self, q: Array, tau: Array, about: Array) -> Array:
        """The wrench, (..., 6), about a point (3,)."""
        return self._kernel(*self._arguments(q, tau, about))

    def expand(self, q: Array, tau: Array, about: Array) -> Wrenches:
        """The wrench with its first derivatives."""
        arguments = self._arguments(q, tau, about)
        by = self._kernel.jacobian(("q", "tau"))(*arguments)
        return Wrenches(self._kernel(*arguments), np.concatenate(by, axis=-1))

    def second(self, q: Array, tau: Array, about: Array, y: Array) -> Array:
        """The second derivatives of y . w, (..., 12, 12)."""
        arguments = (*self._arguments(q, tau, about), y)
        swept = self._kernel.vjp(("q", "tau"))
        qq, qt, tq, tt = swept.jacobian(("q", "tau"))(*arguments)
        return np.concatenate(
            [np.concatenate([qq, qt], axis=-1), np.concatenate([tq, tt], axis=-1)], axis=-2
        )


def _root_body(robot: Robot, root: slice) -> int:
    slices = list(robot.model.v_slices)
    return slices.index(root)


class Reaction:
    """The joint forces that balance a wrench at a frame, over the joints that move it.

    Arguments:
        robot: in flat charts.
        frame: the name of the frame.
    """

    def __init__(self, robot: Robot, frame: str) -> None:
        q = robot.random(np.random.default_rng(0))
        moves = np.abs(robot.jacobian(q, frame, axes="world")).max(axis=0) > 0.0
        self.joints = np.flatnonzero(moves)
        n, fixed = robot.nq, robot.neutral()
        places = {int(j): i for i, j in enumerate(self.joints)}

        def forces(model: Model, q: Sequence[Scalar], p: Sequence[Scalar]) -> list[Scalar]:
            whole = [q[places[j]] if j in places else float(fixed[j]) for j in range(n)]
            J = jacobian(model, whole, frame, "world")
            return [sum((J[k][j] * p[k] for k in range(6)), start=0.0) for j in places]

        lengths = {"q": len(self.joints), "p": 6}
        self._kernel = robot.custom_kernel(forces, lengths, f"reaction of {frame}")
        self._robot, self._frame = robot, frame

    def jacobian(self, q: Array) -> Array:
        """J of the joints that move the frame, (..., 6, joints)."""
        return self._jacobian(q[..., self.joints])

    @cached_property
    def _jacobian(self) -> Kernel:
        places = {int(j): i for i, j in enumerate(self.joints)}
        fixed = self._robot.neutral()

        def rows(model: Model, q: Sequence[Scalar]) -> list[list[Scalar]]:
            whole = [q[places[j]] if j in places else float(x) for j, x in enumerate(fixed)]
            J = jacobian(model, whole, self._frame, "world")
            return [[row[j] for j in places] for row in J]

        return self._robot.custom_kernel(
            rows, {"q": len(self.joints)}, f"jacobian of {self._frame}"
        )

    def by_q(self, q: Array, f: Array) -> Array:
        """K: the derivative of g by q, (..., joints, joints)."""
        return self._kernel.jacobian("q")(q[..., self.joints], f)

    def second(self, q: Array, f: Array, y: Array) -> tuple[Array, Array]:
        """Second derivatives of y . g: by q twice, and by q and f.

        Arguments:
            q, f: the configuration and the wrench, (..., nq) and (..., 6).
            y: (..., joints).

        Returns:
            (..., joints, joints) and (..., joints, 6).
        """
        return self._kernel.vjp("q").jacobian(("q", "p"))(q[..., self.joints], f, y)
