"""The acceleration that every explicit integrator starts from.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), by `aba`; where joints share a
coordinate, Lecture 9's way by the mass matrix (`forward_crba`); under constraints, as in
`constraints.forward`; with contacts, as in `contact.forward`.

Cost: O(N), or O(N d^2) where joints share coordinates; that of `constraints.forward` and
`contact.forward` where those act.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.aba import aba
from kinetree.algorithms.constraints import acceleration_terms, constrained_dynamics
from kinetree.algorithms.contact import contact_dynamics
from kinetree.algorithms.forward_crba import forward_crba
from kinetree.algorithms.steps.passive import limited, passive_forces
from kinetree.algorithms.steps.rules import Rules
from kinetree.algorithms.tree import Loads
from kinetree.model import Model
from kinetree.model.equipment import shares_inertia
from kinetree.scalar import Scalar


def acceleration(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Loads,
    rules: Rules,
    dt: Scalar,
) -> list[Scalar]:
    """The acceleration at a state, with what stops and friction add to the joint forces.

    Arguments:
        dt: the step, which contacts must last longer than; zero for none.
    """
    added = plus(tau, passive_forces(model, q, v, rules.enforcement))
    moved = limited(model, rules.enforcement)
    solver = rules.solver(model)
    if solver is not None:
        return contact_dynamics(moved, q, v, added, external, solver, dt)[0]
    if model.constraints:
        terms = acceleration_terms(rules.stabilization)
        return constrained_dynamics(moved, q, v, added, external, stabilization=terms)[0]
    forward_dynamics = forward_crba if shares_inertia(model) else aba
    return forward_dynamics(moved, q, v, added, external)


def plus(a: Sequence[Scalar], b: Sequence[Scalar], dt: Scalar = 1) -> list[Scalar]:
    """a + dt b."""
    return [x + y * dt for x, y in zip(a, b, strict=True)]


def times(a: Sequence[Scalar], dt: Scalar) -> list[Scalar]:
    """a dt."""
    return [x * dt for x in a]
