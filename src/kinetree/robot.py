"""Robot: where the physics half and the compiler half meet.

A robot is a model and the kernels made from it. What can be computed is the table in
`kinetree.quantities`; a kernel is traced and compiled when it is first called, or taken from the
cache.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, update_wrapper
from typing import Any, Concatenate, NamedTuple, ParamSpec

import numpy as np

from kinetree import algorithms
from kinetree.algorithms.coriolis import Factor
from kinetree.citations import citation
from kinetree.coordinates import InCoordinates
from kinetree.errors import KinetreeError, SingularChartError, unknown
from kinetree.kernels import Kernels, Point, Request
from kinetree.model import Model, edit
from kinetree.model.joints import Joint
from kinetree.quantities import ANY_FRAME, QUANTITIES, SOME_JOINTS, christoffel_pattern
from kinetree.runtime.kernel import Kernel

SINGULAR = 1e-13
"""Of chart_volumes: Euler angles within 2e-6 rad of a singularity, rotation vectors within 4e-3."""
Array = Any
"""A NumPy array, or what NumPy makes one of."""
External = Mapping[str | Point, Array]
"""What acts on a robot; see `Robot.inverse_dynamics`."""


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
        self._kernels = Kernels(model)
        self._charts = algorithms.charts(model)
        self._own: dict[Any, Kernel] = {}

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

    def coordinate_rates(self, q: Array, v: Array, out: Array = None) -> Array:
        """The rate of q at the velocity v, (..., nq): v itself, but for quaternions."""
        return self._kernels["coordinate_rates"](q, v, out=out)

    # kinematics
    #
    # axes: "world" (the world's axes, at its origin), "body" (the frame's own axes, at its own
    # origin), "origin" (the world's axes, at the frame's origin)

    def poses(self, q: Array, out: Array = None) -> Array:
        """The pose of every body in the world: (..., nbodies, 4, 4), homogeneous matrices."""
        return self._kernels["poses"](q, out=out)

    def pose(self, q: Array, frame: str, out: Array = None) -> Array:
        """The pose of a frame in the world: (..., 4, 4)."""
        return self._kernels["pose", "", (), (frame,)](q, out=out)

    def velocities(self, q: Array, v: Array, axes: str = "origin", out: Array = None) -> Array:
        """The velocity of every body: (..., nbodies, 6), linear first."""
        return self._kernels["velocities", "", (), (axes,)](q, v, out=out)

    def velocity(
        self, q: Array, v: Array, frame: str, axes: str = "origin", out: Array = None
    ) -> Array:
        """The velocity of a frame: (..., 6), linear first.

        Arguments:
            axes: "origin" (the world's axes, at the frame's origin), "body" (the frame's own),
                or "world" (the world's axes, at the world's origin).
        """
        return self._kernels["velocity", "", (), (frame, axes)](q, v, out=out)

    def acceleration(
        self,
        q: Array,
        v: Array,
        a: Array,
        frame: str,
        axes: str = "origin",
        kind: str = "classical",
        out: Array = None,
    ) -> Array:
        """The acceleration of a frame: (..., 6), linear first, gravity not counted.

        Arguments:
            axes: as in `velocity`.
            kind: "classical", the second derivative of the position of the point at the origin
                of the axes; or "spatial", the rate of the spatial velocity.
        """
        return self._kernels["acceleration", "", (), (frame, axes, kind)](q, v, a, out=out)

    def jacobian(self, q: Array, frame: str, axes: str = "origin", out: Array = None) -> Array:
        """The Jacobian of a frame: (..., 6, nv), linear first; times v it is `velocity`."""
        return self._kernels["jacobian", "", (), (frame, axes)](q, out=out)

    def jacobian_rate(
        self, q: Array, v: Array, frame: str, axes: str = "origin", out: Array = None
    ) -> Array:
        """The time derivative of `jacobian`: (..., 6, nv)."""
        return self._kernels["jacobian_rate", "", (), (frame, axes)](q, v, out=out)

    def jacobians(self, q: Array, axes: str = "origin", out: Array = None) -> Array:
        """The Jacobians of all bodies: (..., nbodies, 6, nv)."""
        return self._kernels["jacobians", "", (), (axes,)](q, out=out)

    @cached_property
    def total_mass(self) -> float:
        """The mass of all that moves, kg."""
        return float(algorithms.total_mass(self.model))

    def center_of_mass(self, q: Array, out: Array = None) -> Array:
        """The centre of mass of all that moves, in the world: (..., 3)."""
        return self._kernels["center_of_mass"](q, out=out)

    def center_of_mass_velocity(self, q: Array, v: Array, out: Array = None) -> Array:
        """The velocity of the centre of mass: (..., 3)."""
        return self._kernels["center_of_mass_velocity"](q, v, out=out)

    def center_of_mass_acceleration(self, q: Array, v: Array, a: Array, out: Array = None) -> Array:
        """The acceleration of the centre of mass: (..., 3)."""
        return self._kernels["center_of_mass_acceleration"](q, v, a, out=out)

    def center_of_mass_jacobian(self, q: Array, out: Array = None) -> Array:
        """The Jacobian of the centre of mass: (..., 3, nv)."""
        return self._kernels["center_of_mass_jacobian"](q, out=out)

    def center_of_mass_jacobian_rate(self, q: Array, v: Array, out: Array = None) -> Array:
        """The time derivative of `center_of_mass_jacobian`: (..., 3, nv)."""
        return self._kernels["center_of_mass_jacobian_rate"](q, v, out=out)

    # inverse dynamics

    def inverse_dynamics(
        self,
        q: Array,
        v: Array,
        a: Array,
        external: External | None = None,
        method: str = "",
        out: Array = None,
    ) -> Array:
        """The joint forces that give an acceleration.

        Arguments:
            q: configuration, (..., nq).
            v: velocity, (..., nv).
            a: acceleration, (..., nv).
            external: what acts on the robot. A frame's name -> the wrench (force, moment) at its
                origin and in its own axes, (..., 6); or Point(frame) -> a force in the world's
                axes and the point of the frame's body where it acts, in the frame's coordinates,
                (..., 6).
            method: "balafoutis-patel" (the default, with the least arithmetic), "rnea" or
                "liu-jain"; they differ by rounding.

        Returns:
            tau: joint forces, (..., nv), N or N m.
        """
        if external is None and not method:
            return self._kernels["inverse_dynamics"](q, v, a, out=out)
        return self._loaded("inverse_dynamics", method, external)(q, v, a, out=out)

    def joint_wrenches(
        self, q: Array, v: Array, a: Array, external: External | None = None, out: Array = None
    ) -> Array:
        """All that each joint transmits onto its body: (..., nbodies, 6).

        A wrench (force, moment) at the body's origin and in its axes: along the joint's axes what
        its drive gives, across them what its bearings carry.
        """
        return self._loaded("joint_wrenches", "", external)(q, v, a, out=out)

    def gravity_forces(self, q: Array, method: str = "", out: Array = None) -> Array:
        """The joint forces that hold the robot against gravity, (..., nv)."""
        return self._kernels[("gravity_forces", method) if method else "gravity_forces"](q, out=out)

    def coriolis_forces(self, q: Array, v: Array, method: str = "", out: Array = None) -> Array:
        """Coriolis and centrifugal forces, (..., nv): C(q, v) v, without gravity and friction.

        Arguments:
            method: a way of inverse dynamics, or "lagrange".
        """
        key = ("coriolis_forces", method) if method else "coriolis_forces"
        return self._kernels[key](q, v, out=out)

    def bias_forces(
        self,
        q: Array,
        v: Array,
        external: External | None = None,
        method: str = "",
        out: Array = None,
    ) -> Array:
        """The joint forces at zero acceleration: gravity, Coriolis, friction, loads; (..., nv)."""
        if external is None and not method:
            return self._kernels["bias_forces"](q, v, out=out)
        return self._loaded("bias_forces", method, external)(q, v, out=out)

    # the mass matrix

    def mass_matrix(self, q: Array, method: str = "", out: Array = None) -> Array:
        """The mass matrix M(q), (..., nv, nv), both triangles.

        Arguments:
            method: "crba" (the default), "rnea" (column by column) or "lagrange" (by Jacobians).
        """
        if not method:
            return self._kernels["mass_matrix"](q, out=out)
        return self._kernels["mass_matrix", method](q, out=out)

    def mass_matrix_rate(self, q: Array, v: Array, out: Array = None) -> Array:
        """The time derivative of the mass matrix, (..., nv, nv)."""
        return self._kernels["mass_matrix_rate"](q, v, out=out)

    def mass_matrix_inverse(self, q: Array, method: str = "", out: Array = None) -> Array:
        """The inverse of the mass matrix, (..., nv, nv).

        Arguments:
            method: "ltl" (by the sparse factors of M, the default) or "aba" (without M).
        """
        if self._charts:
            self._check_charts(q)
        key = ("mass_matrix_inverse", method) if method else "mass_matrix_inverse"
        return self._kernels[key](q, out=out)

    def mass_matrix_factor(self, q: Array, out: Array = None) -> Array:
        """L with M = L^T L, sparse as the robot branches: (..., nv, nv)."""
        if self._charts:
            self._check_charts(q)
        return self._kernels["mass_matrix_factor"](q, out=out)

    # the Coriolis matrix

    def coriolis_matrix(
        self,
        q: Array,
        v: Array,
        factorization: str | Factor = "christoffel",
        out: Array = None,
    ) -> Array:
        """A matrix C(q, v) with C v = `coriolis_forces`, (..., nv, nv).

        Arguments:
            factorization: which of the many there are; see `docs/coriolis.md`.
                "christoffel": the one of the Christoffel symbols, where v is the rate of q; M' - 2C
                    is skew-symmetric always.
                "spatial": by (v x*) I, cheaper by hand; M' - 2C is skew-symmetric, too.
                "lagrange": by Jacobians and their rates; M' - 2C is skew-symmetric, too.
                a function B(v, I) of a Motion and an Inertia, giving an Operator with
                    B v = v x* I v; M' - 2C is skew-symmetric if B + B^T = (v x*) I - I (v x).
        """
        if factorization == "christoffel":
            return self._kernels["coriolis_matrix"](q, v, out=out)
        if isinstance(factorization, str):
            return self._kernels["coriolis_matrix", factorization](q, v, out=out)
        kernel = self._own.get(factorization)
        if kernel is None:
            algorithm = algorithms.coriolis_matrix(factorization)
            lengths = {"q": self.nq, "v": self.nv}
            kernel = self._kernels.own("coriolis_matrix", algorithm, lengths)
            self._own[factorization] = kernel
        return kernel(q, v, out=out)

    def mass_and_coriolis(
        self, q: Array, v: Array, out: Array = None
    ) -> tuple[Array, Array, Array]:
        """M, its rate and C of the Christoffel symbols from one pass, each (..., nv, nv)."""
        return self._kernels["mass_and_coriolis"](q, v, out=out)

    def christoffel_symbols(self, q: Array, sparse: bool = False, out: Array = None) -> Array:
        """The Christoffel symbols of the first kind, (..., nv, nv, nv): [i, j, k] = Gamma_ijk.

        Gamma_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2 where v is the rate of q; else the
        derivative of C_ij by v_k, which is not symmetric in j and k.

        Arguments:
            sparse: give only the values that are not zero by structure and not equal by symmetry,
                (..., m), in the order of `christoffel_pattern`.
        """
        name = "christoffel_values" if sparse else "christoffel_symbols"
        return self._kernels[name](q, out=out)

    @cached_property
    def christoffel_pattern(self) -> np.ndarray:
        """The indices (i, j, k) of the sparse symbols, (m, 3); j <= k where they are symmetric."""
        return np.array(christoffel_pattern(self.model), dtype=np.intp).reshape(-1, 3)

    def passivity_forces(
        self, q: Array, v: Array, vr: Array, ar: Array | None = None, out: Array = None
    ) -> Array:
        """M(q) ar + C(q, v) vr + g(q), (..., nv): the law of Slotine and Li, in O(N).

        Arguments:
            vr, ar: reference velocity and acceleration; no acceleration if None. With C of the
                Christoffel symbols.
        """
        still = np.zeros(self.nv) if ar is None else ar
        return self._kernels["passivity_forces"](q, v, vr, still, out=out)

    def momentum_observer(
        self, q: Array, v: Array, tau: Array, residual: Array, out: Array = None
    ) -> tuple[Array, Array]:
        """A step of the generalised-momentum observer of forces from outside.

        Integrate the second result to an estimate of the first; gain times what is left between
        the two is the next residual, which follows the joint forces that come from outside.

        Returns:
            p, rate: M v and tau + C^T v - g + residual, (..., nv) each.
        """
        return self._kernels["momentum_observer"](q, v, tau, residual, out=out)

    def in_coordinates(
        self, chart: Callable[[Sequence[Any]], Sequence[Any]], count: int
    ) -> InCoordinates:
        """The equations of motion in other coordinates y, with q = chart(y).

        Arguments:
            chart: from the coordinates y to q, written over any scalar with the functions of
                `kinetree.scalar`.
            count: how many coordinates y has.

        Returns:
            M, C, g, forces and Christoffel symbols in y, compiled when first asked for.
        """
        return InCoordinates(self._kernels, chart, count)

    # forward dynamics

    def forward_dynamics(
        self,
        q: Array,
        v: Array,
        tau: Array,
        external: External | None = None,
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
        return self._loaded("forward_dynamics", method, external)(q, v, tau, out=out)

    def hybrid_dynamics(
        self,
        q: Array,
        v: Array,
        a: Array,
        tau: Array,
        accelerated: Sequence[str],
        external: External | None = None,
        method: str = "",
        out: Array = None,
    ) -> tuple[Array, Array]:
        """The motion when some joints are given their acceleration, the others their force.

        Arguments:
            a: of which the entries of the accelerated joints are read.
            tau: of which the entries of the other joints are read.
            accelerated: the names of the joints whose acceleration is given.
            external, method: as in `forward_dynamics`.

        Returns:
            a, tau: both complete, (..., nv) each.
        """
        if self._charts:
            self._check_charts(q)
        settings = (tuple(accelerated),)
        kernel = self._loaded("hybrid_dynamics", method, external, settings)
        return kernel(q, v, a, tau, out=out)

    # energy and momentum

    def kinetic_energy(self, q: Array, v: Array, out: Array = None) -> Array:
        """The kinetic energy, J: of bodies and rotors, v^T M v / 2."""
        return self._kernels["kinetic_energy"](q, v, out=out)

    def potential_energy(self, q: Array, out: Array = None) -> Array:
        """The energy in the gravity field, J; zero for a centre of mass at the world's origin."""
        return self._kernels["potential_energy"](q, out=out)

    def momentum(self, q: Array, v: Array, about: str = "center", out: Array = None) -> Array:
        """Linear and angular momentum in the world's axes: (..., 6), linear first.

        Arguments:
            about: the point of the angular part: "center" (of mass) or "origin" (of the world).
        """
        return self._kernels["momentum", "", (), (about,)](q, v, out=out)

    def momentum_matrix(self, q: Array, about: str = "center", out: Array = None) -> Array:
        """The matrix A with momentum = A v: (..., 6, nv), centroidal by default."""
        if about == "center":
            return self._kernels["momentum_matrix"](q, out=out)
        return self._kernels["momentum_matrix", "", (), (about,)](q, out=out)

    def momentum_matrix_rate(
        self, q: Array, v: Array, about: str = "center", out: Array = None
    ) -> Array:
        """The time derivative of `momentum_matrix`: (..., 6, nv)."""
        return self._kernels["momentum_matrix_rate", "", (), (about,)](q, v, out=out)

    # kernels

    def kernel(
        self,
        quantity: str,
        method: str = "",
        *,
        external: Sequence[str | Point] = (),
        **settings: Any,
    ) -> Kernel:
        """The compiled kernel behind a method, with its gufunc, program and operation counts.

        Arguments:
            quantity: the method's name, such as "inverse_dynamics".
            method: which algorithm; the default if empty.
            external: what acts on the robot, frames' names and Points, each then an argument.
            settings: what the method takes besides arrays, such as frame= and axes=; by default
                what the method has.
        """
        if quantity not in QUANTITIES:
            raise unknown("quantity", quantity, QUANTITIES, "kinetree")
        wanted = QUANTITIES[quantity].settings
        for name in settings:
            if name not in wanted:
                raise unknown("setting", name, wanted, quantity)
        for name, valid in wanted.items():
            if name not in settings and valid in (ANY_FRAME, SOME_JOINTS):
                raise KinetreeError(f"{quantity} needs {name}=")
        values = tuple(settings.get(name, valid[0]) for name, valid in wanted.items())
        return self._kernels[Request(quantity, method, tuple(external), values)]

    def citation(self, quantity: str, method: str = "") -> str:
        """Where an algorithm comes from, as BibTeX.

        Arguments:
            quantity, method: as in `kernel`.
        """
        row = QUANTITIES.get(quantity)
        if row is None:
            raise unknown("quantity", quantity, QUANTITIES, "kinetree")
        return citation(quantity, self._kernels.method(row, Request(quantity, method)))

    def _loaded(
        self,
        quantity: str,
        method: str,
        external: External | None,
        settings: tuple[Any, ...] = (),
    ) -> Callable[..., Any]:
        """A kernel that is yet to be given its first arrays; those of the loads follow."""
        loads = {} if external is None else dict(external)
        kernel = self._kernels[quantity, method, tuple(loads), settings]

        def call(*arrays: Array, out: Array) -> Array:
            return kernel(*arrays, *loads.values(), out=out)

        return call

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


def _reach(joint: Joint) -> np.ndarray:
    """How far each coordinate of a joint goes without limits: pi for angles, one for lengths."""
    if joint.nq != joint.nv:
        return np.ones(joint.nq)
    axes = joint.subspace(joint.neutral())
    return np.array([math.pi if any(axis.angular) else 1.0 for axis in axes])
