"""Forward dynamics with contact: accelerations, the forces of contacts, and the residual.

Source: E. Todorov (2014), as in `reference`; the problem is that of `newton`, with these parts:

    contacts              couples of bodies, `meetings`
    limits                one-sided rows with the distance to the nearer limit, of joints, tendons
    dry friction          rows that hold a velocity with at most the friction of the drive
    constraints           rows of loops, held frames and couplings, nearly rigid: R = 1e-6 A

    symbol    code     meaning
    u         u        accelerations whose linear part at floating joints is in the parent's axes:
                       MuJoCo's, turned into the body; the reference (1) has no J' v, as there
    still     still    qdd of u = 0

Cost: that of `newton`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kinetree.algorithms.balafoutis_patel import balafoutis_patel
from kinetree.algorithms.contact.joint_rows import Entry, equality_rows
from kinetree.algorithms.contact.meetings import Meetings
from kinetree.algorithms.contact.newton import minimised
from kinetree.algorithms.contact.problem import Layout, Problem
from kinetree.algorithms.contact.solver import (
    SOLVER,
    ContactSolver,
    contact_laws,
    joint_entries,
)
from kinetree.algorithms.contact.tendon_rows import tendon_rows
from kinetree.algorithms.contact.weights import InverseWeights
from kinetree.algorithms.crba import crba
from kinetree.algorithms.ltl import elimination_order
from kinetree.algorithms.manifold import resting_rates
from kinetree.algorithms.tree import Loads
from kinetree.model import Model
from kinetree.model.edit import without
from kinetree.scalar import Scalar, select


class Solution(NamedTuple):
    """The solution at a state.

    problem: the problem that it solves.
    still: qdd - u.
    residual: the error before the last step, relative to the accelerations without contact.
    """

    u: list[Scalar]
    still: list[Scalar]
    residual: Scalar
    layout: Layout
    problem: Problem


def contact_dynamics(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Loads = (),
    solver: ContactSolver = SOLVER,
    dt: Scalar | None = None,
) -> tuple[list[Scalar], Scalar]:
    """qdd and the residual."""
    found = contact_accelerations(model, q, qd, tau, external, solver, dt)
    return [x + s for x, s in zip(found.u, found.still, strict=True)], found.residual


def contact_accelerations(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Loads = (),
    solver: ContactSolver = SOLVER,
    dt: Scalar | None = None,
) -> Solution:
    """u, and the problem that it solves.

    Arguments:
        dt: the step; by default that of the robot's file.
    """
    dt = model.contact_options.timestep if dt is None else dt
    layout, problem, still = contact_problem(model, q, qd, tau, external, solver, dt)
    found = minimised(layout, problem, [0.0] * model.nv, solver.iterations, solver.tolerance)
    return Solution(found.a, still, found.decrement, layout, problem)


def contact_problem(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Loads,
    solver: ContactSolver,
    dt: Scalar,
) -> tuple[Layout, Problem, list[Scalar]]:
    """Equation (9) at a state, and qdd of u = 0."""
    still = resting_rates(model, qd)
    moved = without(model, "friction") if solver.friction else model
    bias = balafoutis_patel(moved, q, qd, still, external)
    f = [t - b for t, b in zip(tau, bias, strict=True)]
    at, parts, near = [], [], []
    for indices, part, acts in _parts(model, q, qd, solver, dt):
        at.append(indices)
        parts.append(part)
        near.append(select(acts, 1.0, 0.0))
    M = [list(row) for row in crba(model, q)]
    size = sum((x * x / M[k][k] for k, x in enumerate(f)), start=0)
    problem = Problem(M, f, parts, near, size)
    return Layout(tuple(elimination_order(model)), tuple(at)), problem, still


def _parts(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], solver: ContactSolver, dt: Scalar
) -> Iterator[Entry]:
    """Each part of the problem: the velocities that move it, the part, and whether it is near."""
    weights, laws = InverseWeights(model), contact_laws(model, solver, dt)
    yield from Meetings(model, q, qd, weights, laws).entries()
    yield from joint_entries(model, q, qd, weights, solver, laws.shortest)
    yield from tendon_rows(model, q, qd, weights, solver, laws.shortest)
    yield from equality_rows(model, q, qd, weights)
