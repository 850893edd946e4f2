"""Robot: where the physics half and the compiler half meet.

A robot is a model and the kernels made from it. What can be computed is the table in
`kinetree.quantities`; a kernel is traced and compiled when it is first called, or taken from the
cache.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from functools import cached_property, update_wrapper
from typing import Any, Concatenate, NamedTuple, ParamSpec

import numpy as np

from kinetree import algorithms
from kinetree.errors import (
    KinetreeError,
    ShapeError,
    SingularChartError,
    SingularModelError,
    unknown,
)
from kinetree.graph import Program, trace
from kinetree.model import Model, edit
from kinetree.model.joints import Joint
from kinetree.model.regroup import regroup
from kinetree.model.snap import snap
from kinetree.quantities import QUANTITIES
from kinetree.runtime.kernel import Kernel
from kinetree.spatial import Force, Vector3

SINGULAR = 1e-13  # of chart_volumes: within about 1e-6 of a singularity
Array = Any
"""A NumPy array, or what NumPy makes one of."""


class JointLimits(NamedTuple):
    """Limits as arrays: positions of length nq, velocities and efforts of length nv."""

    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray


P = ParamSpec("P")


def _edit(change: Callable[Concatenate[Model, P], Model]) -> Callable[Concatenate[Robot, P], Robot]:
    """A method of Robot from an edit of its model."""

    def method(self: Robot, /, *args: P.args, **options: P.kwargs) -> Robot:
        return Robot(change(self.model, *args, **options))

    return update_wrapper(method, change)


class Robot:
    """A robot's dynamics, compiled.

    Every method takes one state or any batch of them: the last axis is nq or nv long, the axes
    before it broadcast. `out=` takes an array to write into.

    Arguments:
        model: the frozen model; see `kinetree.load`.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.name = model.name
        self.nq, self.nv = model.nq, model.nv
        self._kernels = _Kernels(self)
        self._charts = algorithms.charts(model)

    def __repr__(self) -> str:
        return f"<Robot {self.name!r}: {len(self.bodies)} bodies, nq={self.nq}, nv={self.nv}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Robot, (self.model,))

    # the model

    @cached_property
    def bodies(self) -> tuple[str, ...]:
        """The names of the bodies, in the order of `poses`."""
        return tuple(b.name for b in self.model.bodies)

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """The names of the moving joints, in the order of their coordinates."""
        return tuple(self.model.bodies[i].joint_name for i in self.model.coordinate_order)

    @cached_property
    def frames(self) -> tuple[str, ...]:
        """The names of all frames: every link of the file, moving or not."""
        return tuple(f.name for f in self.model.frames)

    @cached_property
    def limits(self) -> JointLimits:
        """The limits of every coordinate; infinite where there is none."""
        m = self.model
        bodies = [m.bodies[i] for i in m.coordinate_order]

        def spread(name: str, count: str) -> np.ndarray:
            parts = [[getattr(b.limits, name)] * getattr(b.joint, count) for b in bodies]
            return np.array([x for part in parts for x in part])

        return JointLimits(
            spread("lower", "nq"),
            spread("upper", "nq"),
            spread("velocity", "nv"),
            spread("effort", "nv"),
        )

    @property
    def follower(self) -> str | None:
        """The name of the first joint that mimics another, if any."""
        return next((b.joint_name for b in self.model.bodies if b.follows is not None), None)

    # other robots from this one

    without = _edit(edit.without)
    reorder = _edit(Model.reordered)
    lock = _edit(edit.lock)
    subtree = _edit(edit.subtree)
    attach_payload = _edit(edit.attach_payload)
    replace_inertia = _edit(edit.replace_inertia)
    add_frame = _edit(edit.add_frame)
    reroot = _edit(edit.reroot)
    rechart = _edit(edit.rechart)

    def attach(
        self,
        other: Robot | Model,
        frame: str,
        at: Any = (0.0, 0.0, 0.0),
        prefix: str = "",
        joint: Joint | None = None,
    ) -> Robot:
        """Mount another robot on a frame of this one; see `kinetree.model.edit.attach`."""
        model = other.model if isinstance(other, Robot) else other
        return Robot(edit.attach(self.model, model, frame, at, prefix, joint))

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the robot to a file: URDF if its name ends in .urdf, MJCF if in .xml or .mjcf."""
        from kinetree.model.save import save_model  # rarely needed, and importing takes time

        save_model(self.model, file)

    # configurations

    def neutral(self) -> np.ndarray:
        """The configuration in which every joint's transform is the identity, of length nq."""
        q = np.empty(self.nq)
        for i in self.model.coordinate_order:
            q[self.model.q_slices[i]] = self.model.bodies[i].joint.neutral()
        return q

    def random(
        self, rng: np.random.Generator | int | None = None, batch: int | tuple[int, ...] = ()
    ) -> np.ndarray:
        """Random configurations within the limits.

        Arguments:
            rng: a generator, a seed, or None for a fresh one.
            batch: the shape of the batch.

        Returns:
            (*batch, nq). Angles without limits are uniform in [-pi, pi], lengths in [-1, 1] m,
            free orientations uniform over the rotations.
        """
        generator = np.random.default_rng(rng)
        shape = (batch,) if isinstance(batch, int) else tuple(batch)
        q = np.empty((*shape, self.nq))
        for i in self.model.coordinate_order:
            body, at = self.model.bodies[i], self.model.q_slices[i]
            reach = _reach(body.joint)
            lower = np.maximum(body.limits.lower, -reach)
            upper = np.minimum(body.limits.upper, reach)
            if math.isfinite(body.limits.lower + body.limits.upper):
                lower = np.full(body.joint.nq, body.limits.lower)
                upper = np.full(body.joint.nq, body.limits.upper)
            q[..., at] = body.joint.sample(generator, shape, lower, upper)
        return q

    def integrate(self, q: Array, dv: Array, out: Array = None) -> Array:
        """Where a constant velocity leads in one unit of time: q (+) dv, (..., nq)."""
        return self._kernels["integrate"](q, dv, out=out)

    def difference(self, q0: Array, q1: Array, out: Array = None) -> Array:
        """The constant velocity from q0 to q1 in one unit of time: q1 (-) q0, (..., nv)."""
        return self._kernels["difference"](q0, q1, out=out)

    # kinematics

    def poses(self, q: Array, out: Array = None) -> Array:
        """The pose of every body in the world: (..., nbodies, 4, 4), homogeneous matrices."""
        return self._kernels["poses"](q, out=out)

    def pose(self, q: Array, frame: str, out: Array = None) -> Array:
        """The pose of a frame in the world: (..., 4, 4)."""
        return self._kernels["pose", "", (frame,)](q, out=out)

    # dynamics

    def inverse_dynamics(
        self,
        q: Array,
        v: Array,
        a: Array,
        external: Mapping[str, Array] | None = None,
        method: str = "rnea",
        out: Array = None,
    ) -> Array:
        """The joint forces that give an acceleration.

        Arguments:
            q: configuration, (..., nq).
            v: velocity, (..., nv).
            a: acceleration, (..., nv).
            external: frame name -> the wrench (force, moment) that acts on it, (..., 6), at the
                frame's origin and in the frame's own axes.
            method: "rnea".

        Returns:
            tau: joint forces, (..., nv), N or N m.
        """
        if external is None and method == "rnea":
            return self._kernels["inverse_dynamics"](q, v, a, out=out)
        return self._with_external("inverse_dynamics", method, (q, v, a), external, out)

    def forward_dynamics(
        self,
        q: Array,
        v: Array,
        tau: Array,
        external: Mapping[str, Array] | None = None,
        method: str = "",
        out: Array = None,
    ) -> Array:
        """The acceleration that joint forces give, (..., nv).

        Arguments:
            q, v, tau: configuration, velocity, joint forces.
            external: as in `inverse_dynamics`.
            method: "aba", or "crba", which factors the mass matrix; by default the first, unless
                joints mimic others.

        Raises:
            SingularChartError: where the coordinates of a joint are singular.
        """
        if self._charts:
            self._check_charts(q)
        if external is None and not method:
            return self._kernels["forward_dynamics"](q, v, tau, out=out)
        return self._with_external("forward_dynamics", method, (q, v, tau), external, out)

    def mass_matrix(self, q: Array, out: Array = None) -> Array:
        """The mass matrix M(q), (..., nv, nv), both triangles."""
        return self._kernels["mass_matrix"](q, out=out)

    def gravity_forces(self, q: Array, out: Array = None) -> Array:
        """The joint forces that hold the robot against gravity, (..., nv)."""
        return self._kernels["gravity_forces"](q, out=out)

    def bias_forces(
        self,
        q: Array,
        v: Array,
        external: Mapping[str, Array] | None = None,
        out: Array = None,
    ) -> Array:
        """The joint forces at zero acceleration: Coriolis, centrifugal, gravity; (..., nv)."""
        if external is None:
            return self._kernels["bias_forces"](q, v, out=out)
        return self._with_external("bias_forces", "", (q, v), external, out)

    # kernels

    def kernel(
        self, quantity: str, method: str = "", *, frame: str | None = None, external: Any = ()
    ) -> Kernel:
        """The compiled kernel behind a method, with its gufunc, program and operation counts.

        Arguments:
            quantity: the method's name, such as "inverse_dynamics".
            method: which algorithm; the default if empty.
            frame: of `pose`.
            external: the names of the frames on which wrenches act, each then an argument.
        """
        frames = tuple(external) if frame is None else (frame,)
        return self._kernels[quantity, method, frames]

    def _with_external(
        self,
        quantity: str,
        method: str,
        arrays: tuple[Array, ...],
        external: Mapping[str, Array] | None,
        out: Array,
    ) -> Array:
        wrenches = {} if external is None else dict(external)
        kernel = self._kernels[quantity, method, tuple(wrenches)]
        return kernel(*arrays, *wrenches.values(), out=out)

    def _program(self, quantity: str, method: str, frames: tuple[str, ...]) -> Program:
        """Trace a quantity."""
        row = QUANTITIES[quantity]
        algorithm = row.methods[method]
        model = snap(regroup(self.model) if row.regrouped else self.model)
        shapes = {name: (model.nq if name.startswith("q") else model.nv,) for name in row.arguments}
        count = len(shapes)
        if row.external:
            shapes.update({f"external[{frame!r}]": (6,) for frame in frames})

        def function(*arguments: Any) -> dict[str, Any]:
            own, wrenches = arguments[:count], arguments[count:]
            if row.external:
                forces = [Force(Vector3(*w[:3]), Vector3(*w[3:])) for w in wrenches]
                return {row.result: algorithm(model, *own, dict(zip(frames, forces, strict=True)))}
            return {row.result: algorithm(model, *own, *frames)}

        try:
            return trace(quantity, function, shapes)
        except ZeroDivisionError:
            raise self._singular(quantity) from None

    def _check_charts(self, q: Array) -> None:
        """Refuse states in which the axes of a joint are dependent, or nearly so."""
        volumes = self._kernels["chart_volumes"](q)
        if (volumes < SINGULAR).any():
            *state, k = (int(i) for i in np.argwhere(volumes < SINGULAR)[0])
            body = self.model.bodies[self._charts[k]]
            where = f"state {state[0] if len(state) == 1 else tuple(state)}: " if state else ""
            raise SingularChartError(
                f"{where}the coordinates of joint {body.joint_name!r} are singular there, so its "
                "acceleration has no answer: choose another chart, robot.rechart('quaternion') "
                "has no singular state"
            )

    def _singular(self, quantity: str) -> SingularModelError:
        """Name the joints that can move without moving any inertia."""
        M: np.ndarray = np.array(algorithms.crba(self.model, self.neutral().tolist()))
        values, motions = np.linalg.eigh(M)
        free = motions[:, values <= max(values[0], 1e-12 * values[-1])]  # motions without inertia
        idle = np.abs(free).max(axis=1) > 1e-6
        joints = [
            repr(body.joint_name)
            for body, at in zip(self.model.bodies, self.model.v_slices, strict=True)
            if idle[at].any()
        ]
        who = f"joint {joints[0]} moves" if len(joints) == 1 else f"{', '.join(joints)} move"
        return SingularModelError(
            f"robot {self.name!r}: {who} without moving any inertia, so the mass matrix is "
            f"singular and {quantity} has no answer: give the links behind an inertia, or lock "
            "the joint"
        )


def _reach(joint: Joint) -> np.ndarray:
    """How far each coordinate of a joint goes without limits: pi for angles, one for lengths."""
    if joint.nq != joint.nv:
        return np.ones(joint.nq)
    axes = joint.subspace(joint.neutral())
    return np.array([math.pi if any(axis.angular) else 1.0 for axis in axes])


class _Kernels(dict[Any, Kernel]):
    """The kernels of a robot by (quantity, method, frames), or by quantity; made on demand."""

    def __init__(self, robot: Robot) -> None:
        super().__init__()
        self._robot = robot

    def __missing__(self, key: str | tuple[str, str, tuple[str, ...]]) -> Kernel:
        quantity, method, frames = (key, "", ()) if isinstance(key, str) else key
        row = QUANTITIES.get(quantity)
        if row is None:
            raise unknown("quantity", quantity, QUANTITIES, "kinetree")
        follower = self._robot.follower
        if not method:
            method = next(iter(row.methods))
            if method == "aba" and follower is not None:
                method = "crba"
        elif method not in row.methods:
            raise unknown("method", method, row.methods, quantity)
        if method == "aba" and follower is not None:
            raise KinetreeError(
                f"joint {follower!r} mimics another, and the articulated-body algorithm takes "
                "every joint as free: use method='crba'"
            )
        model = self._robot.model
        for frame in frames:
            model.frame(frame)
        if frames and not row.external and quantity != "pose":
            raise KinetreeError(f"{quantity} takes no external wrenches")
        if quantity == "pose" and len(frames) != 1:
            raise KinetreeError("pose needs the name of one frame")
        if model.nv == 0:
            raise ShapeError(
                f"robot {model.name!r} has no moving joint: nothing to compute {quantity} of"
            )
        full = (quantity, method, frames)
        if full in self:
            made = self[full]
        else:
            request = "|".join((model.digest, quantity, method, *frames))
            made = Kernel(request, lambda: self._robot._program(quantity, method, frames))
            self[full] = made
        self[key] = made
        return made
