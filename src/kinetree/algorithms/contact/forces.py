"""The forces of contacts, and the Jacobians of the points at which they act.

Source: E. Todorov (2014), as in `reference`.

    symbol    code      meaning
    f         forces    of the first body on the second at each touch, in the world's axes
    J         J         the velocity of the second body relative to the first at each touch

Touches are in the order of `of_robot.touch_labels`; those of two shapes of one body have no force.

Cost: that of `forward`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinetree.algorithms.contact.couple import Couple
from kinetree.algorithms.contact.crowd import Crowd
from kinetree.algorithms.contact.forward import Solution, contact_accelerations
from kinetree.algorithms.contact.latent import LatentCouple
from kinetree.algorithms.contact.meetings import couples
from kinetree.algorithms.contact.of_robot import robot_touches
from kinetree.algorithms.contact.relative import merged, relative_columns, way
from kinetree.algorithms.contact.solver import SOLVER, ContactSolver
from kinetree.algorithms.contact.touches import slot_count
from kinetree.algorithms.tree import Loads, body_poses, parent_transforms, subspaces
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import Vector3


def contact_forces(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Loads = (),
    solver: ContactSolver | None = SOLVER,
) -> list[Vector3]:
    """The force on the second body at each touch."""
    found: dict[str, list[Vector3]] = {}
    if solver is not None:
        solution = contact_accelerations(model, q, qd, tau, external, solver)
        pushing = _couples(solution)
        for (part, at), pairs in zip(pushing, couples(model).values(), strict=True):
            forces = iter(_forces(part, [solution.u[k] for k in at]))
            for pair in pairs:
                found[pair.name] = [next(forces) for _ in range(_slots(model)[pair.name])]
    return [
        force
        for pair in model.contacts
        for force in found.get(pair.name, [Vector3.zero()] * _slots(model)[pair.name])
    ]


def contact_jacobian(model: Model, q: Sequence[Scalar]) -> list[list[list[Scalar]]]:
    """The rows x, y and z of J for each touch."""
    X0 = list(body_poses(model, parent_transforms(model, q)))
    Phi = subspaces(model, q)
    touched = zip(model.contacts, robot_touches(model, X0), strict=True)
    points = {pair.name: [touch.point for touch in own] for pair, own in touched}
    bodies = {pair.name: key for key, pairs in couples(model).items() for pair in pairs}
    found: list[list[list[Scalar]]] = []
    for pair in model.contacts:
        for point in points[pair.name]:
            J: list[list[Scalar]] = [[0] * model.nv for _ in range(3)]
            if pair.name in bodies:
                at, links = way(model, X0, Phi, *bodies[pair.name])
                for k, column in merged(at, relative_columns(links, point)).items():
                    for row, entry in zip(J, column.linear, strict=True):
                        row[k] = entry
            found.append(J)
    return found


def _couples(solution: Solution) -> Iterator[tuple[Couple, Sequence[int]]]:
    """The couples of a problem, with the velocities that move them."""
    for part, at in zip(solution.problem.parts, solution.layout.at, strict=True):
        if isinstance(part, Couple):
            yield part, at
        elif isinstance(part, Crowd):
            for member, own in zip(part.members, part.at, strict=True):
                whole = member.couple() if isinstance(member, LatentCouple) else member
                yield whole, [at[k] for k in own]


def _forces(part: Couple, a: Sequence[Scalar]) -> Iterator[Vector3]:
    """The force of each contact of a couple."""
    answers = part.responses(part.residuals(a))
    for contact, (f, _) in zip(part.contacts, answers, strict=True):
        force = Vector3.zero()
        for axis, f_j in zip(contact.axes, f, strict=False):
            force = force + axis * f_j
        yield force


def _slots(model: Model) -> dict[str, int]:
    """The number of touches of each pair."""
    shape = {collider.name: collider.shape for collider in model.colliders}
    return {pair.name: slot_count(shape[pair.first], shape[pair.second]) for pair in model.contacts}
