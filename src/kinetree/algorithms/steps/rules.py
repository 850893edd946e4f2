"""The settings of a step: limits, constraints, contacts."""

from __future__ import annotations

from typing import NamedTuple

from kinetree.algorithms.constraints import PROJECTION, Stabilization
from kinetree.algorithms.contact import SOLVER, ContactSolver
from kinetree.algorithms.steps.limits import FREE, Enforcement
from kinetree.model import Model


class Rules(NamedTuple):
    """The settings of a step.

    Arguments:
        enforcement: what joint limits do.
        stabilization: what keeps the robot on its constraints.
        contact: how contacts are solved for; None leaves them out.
    """

    enforcement: Enforcement = FREE
    stabilization: Stabilization = PROJECTION
    contact: ContactSolver | None = SOLVER

    def solver(self, model: Model) -> ContactSolver | None:
        """The contact solver of a robot; None if it has no contacts, or they are left out.

        It leaves out limits and friction that the enforcement handles.
        """
        if self.contact is None or not model.contacts:
            return None
        return self.contact._replace(
            limits=self.contact.limits and self.enforcement.stops == "none",
            friction=self.contact.friction and not self.enforcement.friction_speed,
        )


DEFAULT_RULES = Rules()
