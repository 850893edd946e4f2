"""Forces and torques on links and in joints, and generalised forces: part of `robot.cartesian`.

The equations are those of Liu & Jain, section 6.2.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.robot.links import At, LinkArrays
from kinetree.typing import Array, ArrayLike


class LinkForces(NamedTuple):
    """Forces and torques, one row for each link or joint.

    Attributes:
        f: forces, (..., bodies, 3), N.
        torque: torques, (..., bodies, 3), N m.
    """

    f: Array
    torque: Array


class CartesianForces(LinkArrays):
    """Forces between links and generalised coordinates."""

    def generalized_forces(
        self,
        q: ArrayLike,
        f: ArrayLike | None = None,
        *,
        at: At = "center",
        moment: ArrayLike | None = None,
        body_torque: ArrayLike | None = None,
        joint_torque: ArrayLike | None = None,
        joint_force: ArrayLike | None = None,
    ) -> Array:
        """Q of forces and torques on all links.

        The tutorial has two torques on a link: tau (48), about the centre of mass and including
        what forces acting elsewhere add to it, and tau' (67), which leaves that out. They are
        `moment` and `body_torque` here. `moment` goes with forces at the centres of mass only.

        Arguments:
            q: configuration, (..., nq).
            f: forces in the world's axes, (..., bodies, 3), N.
            at: the points where they act, as in `state`.
            moment: tau of eq. 48, in the world's axes, (..., bodies, 3), N m.
            body_torque: tau' of eq. 67, in the world's axes, (..., bodies, 3), N m.
            joint_torque: tau^ of eq. 69, each in the axes of the joint's parent, (..., bodies, 3):
                on the joint's link, its opposite on the parent.
            joint_force: the same for forces, which act at the link's origin.

        Returns:
            (..., nv), N or N m.
        """
        if moment is not None and not (isinstance(at, str) and at == "center"):
            raise KinetreeError(
                "generalized_forces: moment is about the centres of mass and includes the moments "
                "of forces that act elsewhere: pass f with at='center', or pure torques as "
                "body_torque"
            )
        none = np.zeros((self._count, 3))
        loads = [(f, moment)] if body_torque is None else [(f, body_torque), (None, moment)]
        parts = [
            self._compute("forces_of_links", (q, *_given(none, pull, self.points(at), torque)))
            for pull, torque in loads
            if pull is not None or torque is not None
        ]
        if joint_torque is not None or joint_force is not None:
            hat = _given(none, joint_force, joint_torque)
            parts.append(self._compute("forces_of_joints", (q, *hat)))
        return reduce(add, parts) if parts else np.zeros(self._robot.nv)

    def link_forces(self, q: ArrayLike, tau: ArrayLike, *, at: At = "center") -> LinkForces:
        """The smallest forces and torques on links that amount to generalised forces (70).

        Arguments:
            q, tau: configuration (..., nq) and generalised forces (..., nv).
            at: where the forces act, as in `state`; at the centres of mass the torques are tau of
                eq. 48.

        Returns:
            f and torque, (..., bodies, 3) each, in the world's axes.
        """
        return LinkForces(*self._compute("link_forces", (q, tau, self.points(at))))

    def link_forces_and_joint_torques(
        self, q: ArrayLike, tau: ArrayLike, *, at: At = "center"
    ) -> LinkForces:
        """The smallest forces at given points and joint torques that amount to Q (69).

        Arguments:
            q, tau, at: as in `link_forces`.

        Returns:
            f in the world's axes and the joint torques in the parents' axes, (..., bodies, 3) each.
        """
        given = (q, tau, self.points(at))
        return LinkForces(*self._compute("link_forces_and_joint_torques", given))

    def joint_torques(self, q: ArrayLike, tau: ArrayLike) -> LinkForces:
        """The force and torque of each joint that amount to generalised forces (71).

        Arguments:
            q, tau: configuration (..., nq) and generalised forces (..., nv).

        Returns:
            f (zero except for joints that slide) and torque, (..., bodies, 3) each, in the axes of
            the joint's parent: the smallest that amount to tau.
        """
        return LinkForces(*self._compute("joint_torques", (q, tau)))

    def body_wrenches(
        self,
        q: ArrayLike,
        joint_torque: ArrayLike,
        joint_force: ArrayLike | None = None,
        *,
        at: At = "center",
    ) -> LinkForces:
        """The forces and torques of joints on links: D^T R tau^ of eq. 68, with the forces.

        A simulator in maximal coordinates applies these to its bodies.

        Arguments:
            q: configuration, (..., nq).
            joint_torque, joint_force: as in `generalized_forces`, or as `joint_torques` gives them.
            at: the points at which the resulting forces act, as in `state`.

        Returns:
            f (N) and torque (N m) on each link, (..., bodies, 3) each, in the world's axes.
        """
        pull = np.zeros((self._count, 3)) if joint_force is None else joint_force
        return LinkForces(*self._compute("body_wrenches", (q, pull, joint_torque, self.points(at))))

    def joint_torques_of_body_torques(self, q: ArrayLike, body_torque: ArrayLike) -> Array:
        """The joint torques that torques on links amount to: eq. 68, solved for them.

        Arguments:
            q: configuration, (..., nq).
            body_torque: tau' in the world's axes, (..., bodies, 3).

        Returns:
            tau^ in the axes of each joint's parent, (..., bodies, 3).
        """
        return self._compute("joint_torques_of_body_torques", (q, body_torque))


def _given(default: Array, *arrays: Any) -> tuple[Any, ...]:
    """Arrays, with a default in place of those that are None."""
    return tuple(default if x is None else x for x in arrays)
