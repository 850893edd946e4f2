"""What of a robot can touch, and what contacts do: `robot.contact`."""

from __future__ import annotations

from typing import Any

from kinetree._lazy import cached_property
from kinetree.algorithms.contact import SOLVER, ContactSolver, touch_labels, touch_pairs
from kinetree.errors import KinetreeError
from kinetree.robot.core import Door
from kinetree.typing import Array, ArrayLike, External, Out, Outs


class Contact(Door):
    """Where the shapes of a robot touch each other or the world, and how they push.

    A pair of shapes has one touch or several, the same number in every state. A touch that does not
    exist in a state has the distance 1e6 m.
    """

    @cached_property
    def pairs(self) -> tuple[str, ...]:
        """The names of the pairs of colliders that can touch, such as "floor/foot"."""
        return tuple(pair.name for pair in self._robot.model.contacts)

    @cached_property
    def touch_names(self) -> tuple[str, ...]:
        """The names of the touches: that of the pair, with a number if there are several."""
        return tuple(label.name for label in touch_labels(self._robot.model))

    @cached_property
    def touch_pairs(self) -> tuple[str, ...]:
        """The pair of each touch."""
        return touch_pairs(self._robot.model)

    def touches(self, q: ArrayLike, *, out: Outs = None) -> tuple[Array, Array, Array]:
        """The distances of the shapes that can touch, with points and normals in the world.

        Arguments:
            q: configuration, (..., nq).
            out: arrays to write into.

        Returns:
            Distances (..., ntouches), m; points midway between the two surfaces (..., ntouches, 3),
            m; normals from the first shape of the pair to the second (..., ntouches, 3).
        """
        return self._robot._compute("touches", (q,), out)

    def jacobian(self, q: ArrayLike, *, out: Out = None) -> Array:
        """How the points move at which shapes touch, relative to each other.

        Arguments:
            q: configuration, (..., nq).
            out: an array to write into.

        Returns:
            (..., ntouches, 3, nv): the velocity of the second shape of each touch relative to the
            first, in the world's axes, for each unit velocity.
        """
        return self._robot._compute("contact_jacobian", (q,), out)

    def forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        contact: ContactSolver | bool = SOLVER,
        external: External | None = None,
        out: Out = None,
    ) -> Array:
        """The forces of contacts, of the first shape of each touch on the second.

        Arguments:
            q, v, tau: configuration (..., nq), velocity and joint forces (..., nv).
            contact: how contacts are solved for.
            external: the external loads, as in `inverse_dynamics`.
            out: an array to write into.

        Returns:
            (..., ntouches, 3), N, in the world's axes, in the order of `touch_names`.
        """
        given = (q, v, tau)
        return self._robot._compute(
            "contact_forces", given, out, external=external, settings=(_solver(contact),)
        )

    def dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        contact: ContactSolver | bool = SOLVER,
        external: External | None = None,
        out: Outs = None,
    ) -> tuple[Array, Array]:
        """The acceleration with contact, and how well it is solved for.

        Arguments:
            q, v, tau: configuration (..., nq), velocity and joint forces (..., nv).
            contact: how contacts are solved for.
            external: the external loads, as in `inverse_dynamics`.
            out: two arrays to write into.

        Returns:
            The acceleration (..., nv); the squared Newton decrement of the last step (...), zero
            if that step was exact.
        """
        given = (q, v, tau)
        a, residual = self._robot._compute(
            "contact_dynamics", given, out, external=external, settings=(_solver(contact),)
        )
        return a, residual


def _solver(contact: Any) -> Any:
    """How contacts are solved for; an error if they are left out."""
    if contact is None or contact is False:
        raise KinetreeError(
            f"contact={contact!r}: a ContactSolver or True is expected; "
            "robot.without('contacts') leaves contacts out"
        )
    return contact
