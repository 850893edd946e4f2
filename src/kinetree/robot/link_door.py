"""The door to `robot.cartesian`, and generalised forces of what acts on a robot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree._lazy import cached_property
from kinetree.robot.core import Core
from kinetree.typing import Array, ArrayLike, Loading, Out

if TYPE_CHECKING:
    from kinetree.robot.cartesian import Cartesian


class Links(Core):
    """The door to the states of links, and generalised forces."""

    @cached_property
    def cartesian(self) -> Cartesian:
        """The robot in the coordinates of its links: states, velocities, forces, and back."""
        from kinetree.robot.cartesian import (
            Cartesian,  # many never need it, and importing takes time
        )

        return Cartesian(self)

    def generalized_forces(self, q: ArrayLike, external: Loading, out: Out = None) -> Array:
        """The generalised forces Q of what acts on the robot (Liu & Jain eq. 3, 48, 67 and 69).

        Arguments:
            q: configuration, (..., nq).
            external: what acts on the robot, each with its numbers (..., 6) or (..., 3): a frame's
                name or a `Wrench` (a wrench on a frame), a `Point` (a force at a point), a
                `CenterWrench` (force and torque tau at the centre of mass, eq. 48), a `BodyTorque`
                (torque tau' without that of forces, eq. 67) or a `JointTorque` (eq. 69).
            out: an array to write into.

        Returns:
            (..., nv), N or N m. As joint forces they do the work that the loads do.
        """
        return self._compute("generalized_forces", (q,), out, external=external)
