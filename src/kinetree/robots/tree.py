"""Chains and trees of any size, with random axes and inertias from a seed."""

from __future__ import annotations

import random

from kinetree.errors import ModelError
from kinetree.model.joints import Revolute
from kinetree.robot import Robot
from kinetree.robot.assembly import Assembly
from kinetree.robots.building import random_direction, random_inertia, random_place


def chain(n: int, seed: int = 0, base: str = "fixed") -> Robot:
    """A serial chain of n revolute joints about random axes, with random inertias.

    Arguments:
        n: how many joints.
        seed: of the random axes and inertias.
        base: "fixed" puts the root link on the world, "floating" lets it move freely.

    Returns:
        The robot, nv = n.
    """
    return tree(n, branching=1, seed=seed, base=base, name=f"chain{n}")


def tree(
    n: int, branching: int = 2, seed: int = 0, base: str = "fixed", name: str | None = None
) -> Robot:
    """A tree of n revolute joints in which every body carries up to `branching` others.

    Arguments:
        n: how many joints.
        branching: the most children of a body.
        seed: of the random axes and inertias.
        base: "fixed" puts the root link on the world, "floating" lets it move freely.
        name: of the robot.

    Returns:
        The robot, nv = n.
    """
    if n < 1 or branching < 1:
        raise ModelError(f"tree({n}, {branching}): at least one body and one branch are expected")
    rng = random.Random(seed)
    width = len(str(n))
    names = ["base", *(f"link{i:0{width}}" for i in range(1, n + 1))]
    assembly = Assembly(name or f"tree{n}x{branching}", "base", random_inertia(rng))
    for i in range(1, n + 1):
        inertia, axis = random_inertia(rng), random_direction(rng)
        assembly.add(
            names[i],
            names[0 if i == 1 else 1 + (i - 2) // branching],
            Revolute(axis),
            random_place(rng),
            inertia,
            name=f"joint{i:0{width}}",
        )
    return assembly.robot(base)
