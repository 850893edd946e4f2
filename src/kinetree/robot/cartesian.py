"""Conversion between the states of links and generalised coordinates: `robot.cartesian`.

Simulators in maximal coordinates, motion capture and most sensors speak of each link's position,
orientation, velocity and force. Sections 5 and 6 of Liu & Jain's tutorial go from there to q, v and
tau, and back. Arrays of links are (..., bodies, 3), their rows in the order of `robot.bodies`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.errors import KinetreeError, ShapeError, among, unknown
from kinetree.robot.link_forces import CartesianForces
from kinetree.robot.link_quantities import CartesianQuantities
from kinetree.robot.links import At
from kinetree.typing import Array, ArrayLike, Outs

Orientation = Literal["matrix", "quaternion"]
CONVERGED = 1e-13
MOST_STEPS = 100


class LinkStates(NamedTuple):
    """The states of all links in the world's axes.

    Attributes:
        x: the position of a point of each link, (..., bodies, 3), m.
        R: the orientation of each link, (..., bodies, 3, 3).
        v: the velocity of that point, (..., bodies, 3), m/s.
        w: the angular velocity, (..., bodies, 3), rad/s.
    """

    x: Array
    R: Array
    v: Array
    w: Array


class LinkFit(NamedTuple):
    """A result, and the part of the given motion of links that the joints do not allow.

    Attributes:
        value: the result.
        residual: (..., bodies, 2): the sliding and the turning part at each joint. For
            configurations in m and rad (2 sin(angle / 2), to be exact), for velocities in m/s and
            rad/s.
    """

    value: Array
    residual: Array


class GeneralizedState(NamedTuple):
    """q and v, and how far the poses and velocities of links are from what the joints allow.

    Attributes:
        q, v: configuration (..., nq) and velocity (..., nv).
        pose_residual, velocity_residual: (..., bodies, 2), as in `LinkFit`.
    """

    q: Array
    v: Array
    pose_residual: Array
    velocity_residual: Array


class Cartesian(CartesianForces, CartesianQuantities):
    """A robot in the coordinates of its links; see `Robot.cartesian`."""

    def state(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        *,
        at: At = "center",
        orientation: Orientation = "matrix",
        out: Outs = None,
    ) -> LinkStates:
        """The state of every link in the world: x_k, R_k, v_k and omega_k.

        Arguments:
            q: configuration, (..., nq).
            v: velocity, (..., nv); the robot stands still if None.
            at: the point of each link: "center" (of mass), "origin" (of the link's frame), points
                in the links' frames (bodies, 3), or a mapping from links to a frame's name or a
                point, with the centre of mass for other links.
            orientation: "matrix" or "quaternion" (x y z w, with its largest component positive).
            out: four arrays to write into.

        Returns:
            x (..., bodies, 3), R (..., bodies, 3, 3) or (..., bodies, 4), v and w (..., bodies, 3),
            in m, m/s and rad/s, and in the world's axes.
        """
        still = np.zeros(self._robot.nv) if v is None else v
        arguments = (q, still, self.points(at))
        return LinkStates(*self._compute("link_states", arguments, out, settings=(orientation,)))

    @through_numpy
    def configuration(
        self,
        x: ArrayLike,
        R: ArrayLike,
        *,
        at: At = "center",
        method: Literal["joints", "least-squares"] = "joints",
        links: Sequence[str] = (),
        start: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        tolerance: float | None = None,
    ) -> LinkFit:
        """The configuration from the poses of links.

        Arguments:
            x, R: as `state` returns them; R as matrices or as quaternions.
            at: as in `state`.
            method: "joints" takes each joint's coordinates from the poses of its two links, in
                closed form. "least-squares" finds the configuration for which the sum over links of
                squared distances and angles is least, on the manifold of configurations: for poses
                that are noisy, or of some links only.
            links: the links whose poses are given, in the order of `robot.bodies`; all by default.
                A part of them needs method="least-squares".
            start: where least squares starts, (..., nq); by default the result of "joints", or the
                neutral configuration where poses are missing.
            weights: of the squared distance and angle of each given link, (links, 2); one by
                default.
            tolerance: the largest residual to accept, m and rad; any by default.

        Returns:
            q (..., nq) and the residual of each joint (..., bodies, 2), m and rad: how far its
            transform is from that between the poses of its links. With least squares, these are the
            given poses, and for missing links those that were found.

        Raises:
            StateError: where a residual is above the tolerance; it names the joint.
        """
        if not among(method, ("joints", "least-squares")):
            raise unknown("method", method, ("joints", "least-squares"), "configuration")
        chosen = self._links(links)
        if len(chosen) < self._count and method == "joints":
            raise KinetreeError(
                "configuration: the poses of only some links need method='least-squares'"
            )
        points = self.points(at)
        full_x = self._spread("x", x, chosen)
        suffix = "_of_quaternions" if _is_quaternion(np.asarray(R), len(chosen)) else ""
        full_R = self._spread("R", R, chosen)
        if method == "joints":
            fit = LinkFit(*self._compute(f"link_configuration{suffix}", (full_x, full_R, points)))
        else:
            self._check_determined(chosen, "both")
            fit = self._fitted(full_x, full_R, points, suffix, chosen, start, weights)
        self._check_residual("configuration", fit.residual, tolerance, ("m", "rad"))
        return fit

    def _fitted(
        self,
        x: Array,
        R: Array,
        points: Array,
        suffix: str,
        chosen: list[int],
        start: Any,
        given: Any,
    ) -> LinkFit:
        """Gauss-Newton on the manifold; a step that does not reduce the cost is halved."""
        weights = np.zeros((self._count, 2))
        weights[chosen] = 1.0 if given is None else given
        everything = len(chosen) == self._count
        if start is None:
            start = self._robot.neutral()
            if everything:
                start, _ = self._compute(f"link_configuration{suffix}", (x, R, points))
        batch = np.broadcast_shapes(x.shape[:-2], np.shape(start)[:-1])
        q = np.array(np.broadcast_to(start, (*batch, self._robot.nq)), dtype=np.float64)
        step = f"configuration_step{suffix}"
        dq, total = self._compute(step, (q, x, R, points, weights))
        scale = np.ones(total.shape)
        for _ in range(MOST_STEPS):
            tried = self._robot.integrate(q, dq * scale[..., None])
            dq_there, total_there = self._compute(step, (tried, x, R, points, weights))
            better = total_there <= total
            q, dq = np.where(better[..., None], tried, q), np.where(better[..., None], dq_there, dq)
            total = np.where(better, total_there, total)
            scale = np.where(better, 1.0, scale * 0.5)
            small = np.abs(dq * scale[..., None]).max(axis=-1, initial=0.0) < CONVERGED
            if small.all():
                break
        return LinkFit(q, self._pose_residual(q, x, R, points, suffix, chosen))

    def _pose_residual(
        self, q: Array, x: Array, R: Array, points: Array, suffix: str, chosen: list[int]
    ) -> Array:
        """The residual of each joint, links without a measured pose being where q has them."""
        found = self.state(q, at=points, orientation="quaternion" if suffix else "matrix")
        known = np.isin(np.arange(self._count), chosen)
        x = np.where(known[:, None], x, found.x)
        R = np.where(known[:, None] if suffix else known[:, None, None], R, found.R)
        return self._compute(f"pose_residual{suffix}", (q, x, R, points))

    @through_numpy
    def velocity(
        self,
        q: ArrayLike,
        v: ArrayLike | None,
        w: ArrayLike | None,
        *,
        at: At = "center",
        method: Literal["stacked", "relative"] = "stacked",
        links: Sequence[str] = (),
        weights: ArrayLike | None = None,
        tolerance: float | None = None,
    ) -> LinkFit:
        """The generalised velocity from the velocities of links.

        Arguments:
            q: configuration, (..., nq).
            v, w: linear and angular velocities of links as `state` returns them, (..., links, 3);
                None where they are not known.
            at: the points to which v belongs, as in `state`.
            method: "stacked", the pseudo-inverse of the stacked Jacobian (60, 61): the least sum of
                squares over all links; or "relative", joint by joint from the velocities of each
                link against its parent (62 to 66). Where links move as their joints allow, both
                give the same.
            links: the links whose velocities are given, in the order of `robot.bodies`; all by
                default.
            weights: of the squared linear and angular velocity of each given link, (links, 2), for
                "stacked"; one by default.
            tolerance: the largest residual to accept, m/s and rad/s; any by default.

        Returns:
            v (..., nv) and the residual of each joint (..., bodies, 2), m/s and rad/s: the part of
            its link's velocity relative to its parent (or to the nearest given ancestor) that the
            joint does not allow.

        Raises:
            StateError: where a residual is above the tolerance; it names the joint.
            KinetreeError: where the links given do not determine the velocity; it names a joint.
        """
        if v is None and w is None:
            raise KinetreeError("velocity: v or w is expected, or both")
        if not among(method, ("stacked", "relative")):
            raise unknown("method", method, ("stacked", "relative"), "velocity")
        chosen = self._links(links)
        parts = "both" if v is not None and w is not None else "linear" if w is None else "angular"
        self._check_determined(chosen, parts)
        nothing = np.zeros((len(chosen), 3))
        arrays = [
            self._spread(name, nothing if a is None else a, chosen)
            for name, a in (("v", v), ("w", w))
        ]
        names = () if len(chosen) == self._count else tuple(self._robot.bodies[k] for k in chosen)
        more: tuple[Any, ...] = (self.points(at),)
        if method == "stacked":
            full = np.zeros((self._count, 2))
            full[chosen] = 1.0 if weights is None else weights
            more = (*more, full)
        arguments = (q, *arrays, *more)
        fit = LinkFit(*self._compute(f"{method}_velocity", arguments, settings=(names, parts)))
        self._check_residual("velocity", fit.residual, tolerance, ("m/s", "rad/s"))
        return fit

    @through_numpy
    def generalized(
        self,
        x: ArrayLike,
        R: ArrayLike,
        v: ArrayLike,
        w: ArrayLike,
        *,
        at: At = "center",
        tolerance: float | None = None,
    ) -> GeneralizedState:
        """q and v from the state of every link.

        Arguments:
            x, R, v, w, at: as `state` returns them.
            tolerance: the largest residual to accept; any by default.

        Returns:
            q from `configuration`, v from `velocity`, and the residuals of both.
        """
        q, pose_residual = self.configuration(x, R, at=at, tolerance=tolerance)
        qd, velocity_residual = self.velocity(q, v, w, at=at, tolerance=tolerance)
        return GeneralizedState(q, qd, pose_residual, velocity_residual)


def _is_quaternion(R: Array, count: int) -> bool:
    """Whether orientations are quaternions (..., bodies, 4) or matrices (..., bodies, 3, 3)."""
    if R.shape[-2:] == (count, 4):
        return True
    if R.ndim >= 3 and R.shape[-3:] == (count, 3, 3):
        return False
    raise ShapeError(
        f"R has shape {R.shape}; matrices ({count}, 3, 3) or quaternions ({count}, 4) are "
        "expected, one for each link"
    )
