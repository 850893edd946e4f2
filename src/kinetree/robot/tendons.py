"""The tendons of a robot: `robot.tendons`."""

from __future__ import annotations

from kinetree.robot.core import Door
from kinetree.typing import Array, ArrayLike, Out


class Tendons(Door):
    """Lengths that are functions of the configuration, and forces along them."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tendons, in the order of their lengths."""
        return tuple(x.name for x in self._robot.model.equipment.tendons)

    def lengths(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The lengths.

        Arguments:
            q: configuration, (..., nq).
            out: an array to write into.

        Returns:
            (..., tendons), m; of fixed tendons in the units of their coordinates.
        """
        return self._robot._compute("tendon_lengths", (q,), out)

    def velocities(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """The rates of the lengths.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            out: an array to write into.

        Returns:
            (..., tendons).
        """
        return self._robot._compute("tendon_velocities", (q, v), out)

    def jacobian(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The moment arms: the derivatives of the lengths along q (+) delta.

        Arguments:
            q: configuration, (..., nq).
            out: an array to write into.

        Returns:
            (..., tendons, nv).
        """
        return self._robot._compute("tendon_jacobian", (q,), out)

    def tensions(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """What springs, dampers and friction of the tendons pull with; not their actuators.

        The joint forces that they take are -jacobian(q)^T tensions; all dynamics include them.

        Arguments:
            q, v: configuration (..., nq) and velocity (..., nv).
            out: an array to write into.

        Returns:
            (..., tendons), N.
        """
        return self._robot._compute("tendon_tensions", (q, v), out)
