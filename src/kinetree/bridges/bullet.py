"""A robot in Bullet, in maximal coordinates: every link a free body, every joint a constraint.

This is the use case of Liu & Jain's section 6: control is designed in generalised coordinates,
while the simulator knows only bodies. Joint forces become forces and torques on bodies by eq. 71
and 68; the bodies' states become q and v by eq. 61, with a residual that measures the drift of the
simulator's constraints.

Needs the extra `bullet` (PyPI's pybullet).
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy as np

from kinetree._lazy import listing
from kinetree._optional import optional
from kinetree.algorithms.link_dynamics import center
from kinetree.errors import KinetreeError
from kinetree.model.joints import Joint
from kinetree.model.model import Body
from kinetree.robot import Robot
from kinetree.robot.cartesian import GeneralizedState, LinkStates
from kinetree.spatial import Rotation, Vector3
from kinetree.spatial.angles import quat_of
from kinetree.typing import Array, ArrayLike

__all__ = ["MaximalBodies"]
__dir__ = listing(__all__)

HALF_AXLE = 0.1
"""m: a hinge is two point constraints on its axis, at this distance from the middle."""
STRONG = 1e9
"""N: the largest force of a constraint."""
ROUNDING = 1e-9


class _Link(NamedTuple):
    """A body of the simulation: its number there, the link's centre, and its principal axes."""

    number: int
    center: Array
    principal: Array


class _End(NamedTuple):
    """One side of a constraint: a body's number, the joint's axes and a point in its frame."""

    number: int
    axes: Array
    point: Array


class _Slider(NamedTuple):
    """A slider: its body, its constraint's number, and the second side of that.

    Bullet applies equal and opposite forces across the axis, each at its own pivot. If the pivots
    are apart along the axis, these forces have a net moment, and the bodies gain energy. So in
    every step the second pivot is moved to the first one.
    """

    body: int
    number: int
    second: _End


class MaximalBodies:
    """A robot's links as free bodies in a simulation of Bullet's.

    Joints may turn about one axis or freely, slide along one axis, or be free. Collisions are not
    simulated. Close it when done, or use it in a `with` statement.

    Arguments:
        robot: the robot.
        q, v: the state to start from, (nq,) and (nv,); at rest if v is None.
        dt: the time step, s.
        iterations: of Bullet's constraint solver in each step.
    """

    def __init__(
        self,
        robot: Robot,
        q: ArrayLike,
        v: ArrayLike | None = None,
        dt: float = 1e-3,
        iterations: int = 200,
    ) -> None:
        self._bullet = optional("pybullet", "a robot in maximal coordinates")
        self.robot, self.dt = robot, float(dt)
        self._constraints = [_kind(body) for body in robot.model.bodies]  # may refuse
        self._client = self._bullet.connect(self._bullet.DIRECT)
        self._call("setGravity", *robot.gravity)
        self._call("setTimeStep", self.dt)
        # with Bullet's default threshold, iterations end before joints are closed
        solver = {"numSolverIterations": iterations, "solverResidualThreshold": 0.0}
        self._call("setPhysicsEngineParameter", **solver)
        self._links = [self._created(body) for body in robot.model.bodies]
        self._sliders: list[_Slider] = []
        self.reset(q, v)
        for k, body in enumerate(robot.model.bodies):
            self._connect(k, body)

    def __enter__(self) -> MaximalBodies:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the simulation."""
        if self._client >= 0:
            self._call("disconnect")
            self._client = -1

    def reset(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Put all bodies where a state of the robot has them.

        Arguments:
            q: configuration, (nq,).
            v: velocity, (nv,); at rest if None.
        """
        x, R, linear, angular = self.robot.cartesian.state(q, v)
        self._q = np.array(q, float)
        for k, link in enumerate(self._links):
            turned = _quaternion(R[k] @ link.principal)
            self._call("resetBasePositionAndOrientation", link.number, x[k].tolist(), turned)
            self._call("resetBaseVelocity", link.number, linear[k].tolist(), angular[k].tolist())

    def state(self) -> LinkStates:
        """The states of all links in Bullet, in the world's axes.

        Returns:
            Poses and velocities of the links' centres of mass.
        """
        rows = []
        for link in self._links:
            x, quat = self._call("getBasePositionAndOrientation", link.number)
            turned = np.array(self._call("getMatrixFromQuaternion", quat)).reshape(3, 3)
            rows.append((x, turned @ link.principal.T, *self._call("getBaseVelocity", link.number)))
        return LinkStates(*(np.array(part) for part in zip(*rows, strict=True)))

    def generalized(self) -> GeneralizedState:
        """The robot's state, and the violation of the joints by Bullet's bodies.

        Angles continue past half a turn: q is near that of the last call, or of `reset`.

        Returns:
            q (nq,), v (nv,) and the residuals of poses and velocities.
        """
        x, R, linear, angular = self.state()
        poses, velocities = self.robot.cartesian.configuration, self.robot.cartesian.velocity
        q, pose_residual = poses(x, R)
        self._q = self.robot.charts.continuous([self._q, q])[-1]
        v, velocity_residual = velocities(self._q, linear, angular)
        return GeneralizedState(self._q.copy(), v, pose_residual, velocity_residual)

    def step(self, tau: ArrayLike, q: ArrayLike | None = None) -> None:
        """Let joint forces act for one time step.

        Arguments:
            tau: joint forces, (nv,).
            q: the configuration, if it is known from `generalized` already.
        """
        where = self.generalized().q if q is None else np.asarray(q, float)
        hat = self.robot.cartesian.joint_torques(where, tau)
        f, torque = self.robot.cartesian.body_wrenches(where, hat.torque, hat.f)
        for link, pull, turn in zip(self._links, f, torque, strict=True):
            x, _ = self._call("getBasePositionAndOrientation", link.number)
            world = self._bullet.WORLD_FRAME
            self._call("applyExternalForce", link.number, -1, pull.tolist(), x, world)
            self._call("applyExternalTorque", link.number, -1, turn.tolist(), world)
        for slider in self._sliders:
            self._recenter(slider, where)
        self._call("stepSimulation")

    def _call(self, name: str, *arguments: Any, **named: Any) -> Any:
        function = getattr(self._bullet, name)
        if name == "getMatrixFromQuaternion":  # needs no simulation
            return function(*arguments)
        return function(*arguments, **named, physicsClientId=self._client)

    def _created(self, body: Body) -> _Link:
        """A free body with the mass and the principal moments of inertia of a link."""
        _, about = body.inertia.center_and_rotational()
        matrix = np.array([[float(x) for x in row] for row in about.rows])
        moments, axes = np.linalg.eigh(matrix)
        if np.linalg.det(axes) < 0.0:
            axes[:, 0] *= -1.0
        mass = float(body.inertia.mass)
        if not (mass > 0.0 and moments[0] > 0.0):
            raise KinetreeError(
                f"link {body.name!r} has no mass or no inertia: a free body must have both"
            )
        number = self._call("createMultiBody", baseMass=mass)
        self._call(
            "changeDynamics",
            number,
            -1,
            localInertiaDiagonal=moments.tolist(),
            linearDamping=0.0,
            angularDamping=0.0,
        )
        return _Link(number, np.array([float(x) for x in center(body)]), axes)

    def _connect(self, k: int, body: Body) -> None:
        """The constraints of a joint: points, or for a slider an axis, that both bodies share."""
        kind, axis = self._constraints[k]
        if kind == "slide":
            made = self._hold(k, body, np.zeros(3), self._bullet.JOINT_PRISMATIC, axis)
            self._sliders.append(_Slider(k, *made))
        ends = {"hinge": (-HALF_AXLE, HALF_AXLE), "ball": (0.0,)}.get(kind, ())
        for end in ends:
            self._hold(k, body, axis * end, self._bullet.JOINT_POINT2POINT, np.zeros(3))

    def _recenter(self, slider: _Slider, q: Array) -> None:
        """Put the second pivot of a slider where the first one is."""
        model = self.robot.model
        body, at = model.bodies[slider.body], model.q_slices[slider.body]
        moved = np.array([float(x) for x in body.joint.transform(q[at].tolist()).translation])
        way = moved if body.parent < 0 else -moved  # the first side is the link, or its parent
        pivot = slider.second.point + slider.second.axes @ way
        # Bullet resets the largest force unless it is given again
        settings = {"jointChildPivot": pivot.tolist(), "maxForce": STRONG}
        self._call("changeConstraint", slider.number, **settings)

    def _hold(self, k: int, body: Body, point: Array, kind: int, axis: Array) -> tuple[int, _End]:
        """A constraint at a point, given in the joint's frame and so in the link's, too.

        Returns its number, and the second of its two sides.
        """
        link = self._links[k]
        at = np.array([[float(x) for x in row] for row in body.placement.matrix()])
        inner = _End(link.number, link.principal.T, link.principal.T @ (point - link.center))
        above = at[:3, :3] @ point + at[:3, 3]
        if body.parent >= 0:
            parent = self._links[body.parent]
            back = parent.principal.T
            outer = _End(parent.number, back @ at[:3, :3], back @ (above - parent.center))
        else:
            outer = _End(-1, at[:3, :3], above)
        # Bullet's world can only be the second of the two
        first, second = (outer, inner) if body.parent >= 0 else (inner, outer)
        number = self._call(
            "createConstraint",
            *(first.number, -1, second.number, -1),
            kind,
            (first.axes @ axis).tolist(),
            first.point.tolist(),
            second.point.tolist(),
            _quaternion(first.axes),
            _quaternion(second.axes),
        )
        self._call("changeConstraint", number, maxForce=STRONG)
        return number, second


def _kind(body: Body) -> tuple[str, Array]:
    """The constraint of a joint: "hinge", "ball", "slide" or "free", and its axis."""
    joint = body.joint
    somewhere = random.Random(1)
    if body.follows is None:
        Phi, elsewhere = (_axes(joint, somewhere) for _ in range(2))
        linear = [axis[:3] for axis in Phi if np.abs(axis[:3]).max() > ROUNDING]
        angular = [axis[3:] for axis in Phi if np.abs(axis[3:]).max() > ROUNDING]
        counts = (len(linear), len(angular))
        kinds = {(0, 1): "hinge", (0, 3): "ball", (1, 0): "slide"}
        bent = len(Phi) == 1 and np.abs(Phi[0] - elsewhere[0]).max() > ROUNDING
        if counts in kinds and len(Phi) == sum(counts) and not bent:
            return kinds[counts], (angular or linear)[0]
        if len(Phi) == 6:
            return "free", np.zeros(3)
    raise KinetreeError(
        f"joint {body.joint_name!r} cannot be a constraint in Bullet; supported are revolute, "
        "prismatic, ball and free joints with coordinates of their own"
    )


def _axes(joint: Joint, somewhere: random.Random) -> list[Array]:
    """The axes of a joint at a random configuration: linear, then angular."""
    q = joint.normalized([somewhere.uniform(-0.5, 0.5) for _ in range(joint.nq)])
    return [np.array([float(x) for x in axis]) for axis in joint.subspace(q)]


def _quaternion(R: Array) -> list[float]:
    """(x, y, z, w) of a rotation matrix."""
    return [float(x) for x in quat_of(Rotation(*(Vector3(*row) for row in R)))]
