"""The acceleration that every explicit integrator starts from.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), by `aba`; where joints share a
coordinate, Lecture 9's way by the mass matrix (`forward_crba`).

Cost: O(N), or O(N d^2) where joints share coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.aba import aba
from kinetree.algorithms.forward_crba import forward_crba
from kinetree.algorithms.steps.limits import Enforcement
from kinetree.algorithms.steps.passive import limited, passive_forces
from kinetree.algorithms.tree import Loads
from kinetree.model import Model
from kinetree.scalar import Scalar


def acceleration(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Loads,
    limits: Enforcement,
) -> list[Scalar]:
    """The acceleration at a state, with what stops and friction add to the joint forces."""
    shared = any(body.follows is not None for body in model.bodies)
    forward_dynamics = forward_crba if shared else aba
    added = plus(tau, passive_forces(model, q, v, limits))
    return forward_dynamics(limited(model, limits), q, v, added, external)


def plus(a: Sequence[Scalar], b: Sequence[Scalar], dt: Scalar = 1) -> list[Scalar]:
    """a + dt b."""
    return [x + y * dt for x, y in zip(a, b, strict=True)]


def times(a: Sequence[Scalar], dt: Scalar) -> list[Scalar]:
    """a dt."""
    return [x * dt for x in a]
