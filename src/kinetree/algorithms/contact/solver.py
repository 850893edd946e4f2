"""The settings of the contact solver, and the rows that act besides contacts.

Source: E. Todorov (2014), as in `reference`.

Cost: that of `joint_rows`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kinetree.algorithms.contact.contact_rows import ContactLaws
from kinetree.algorithms.contact.joint_rows import Entry, friction_rows, limit_rows
from kinetree.algorithms.contact.weights import InverseWeights
from kinetree.model import Model
from kinetree.scalar import Scalar


class ContactSolver(NamedTuple):
    """The settings of the contact solver.

    Arguments:
        iterations: the largest number of Newton steps.
        tolerance: steps end once the error of the accelerations is below this share of the
            accelerations without contacts, in the norm of the mass matrix.
        cone: "elliptic" or "pyramidal"; "auto" for that of the robot's file.
        limits: whether joint limits act, as one-sided soft constraints.
        friction: whether dry friction of joints acts in the same problem, and holds at rest.
    """

    iterations: int = 20
    tolerance: float = 1e-10
    cone: str = "auto"
    limits: bool = True
    friction: bool = True


SOLVER = ContactSolver()


def joint_entries(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    weights: InverseWeights,
    solver: ContactSolver,
    shortest: Scalar,
) -> Iterator[Entry]:
    """Limits and dry friction of joints, if they act."""
    if solver.limits and model.contact_options.limits:
        yield from limit_rows(model, q, qd, weights, shortest)
    if solver.friction:
        yield from friction_rows(model, qd, weights, shortest)


def contact_laws(model: Model, solver: ContactSolver, dt: Scalar) -> ContactLaws:
    """The contact laws of a robot."""
    options = model.contact_options
    cone = options.cone if solver.cone == "auto" else solver.cone
    return ContactLaws(cone, options.impratio, dt * 2 if options.refsafe else 0.0)
