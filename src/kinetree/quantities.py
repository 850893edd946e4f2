"""What a robot can compute: each quantity's algorithms, the arguments they take, their result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kinetree import algorithms
from kinetree.model import Model


@dataclass(frozen=True)
class Quantity:
    """How a quantity is computed.

    methods: the algorithms by name, the default first; each takes a model and the arguments.
    arguments: names, each "q"-like (of length nq) or "v"-like (of length nv).
    result: the result's name.
    external: whether wrenches may act on frames.
    regrouped: whether the inertias may be regrouped. Not where the algorithm subtracts articulated
        inertias: it would lose digits on ill-conditioned robots, for hardly less arithmetic.
    """

    methods: Mapping[str, Callable[..., Any]]
    arguments: tuple[str, ...]
    result: str
    external: bool = False
    regrouped: bool = False


def _poses(model: Model, q: Any) -> Any:
    return [X.matrix() for X in algorithms.body_poses(model, q)]


def _frame_pose(model: Model, q: Any, frame: str) -> Any:
    return algorithms.frame_pose(model, q, frame).matrix()


def _gravity(model: Model, q: Any) -> Any:
    rest = [0.0] * model.nv
    return algorithms.rnea(model, q, rest, rest)


def _bias(model: Model, q: Any, v: Any, external: Any) -> Any:
    return algorithms.rnea(model, q, v, [0.0] * model.nv, external)


QUANTITIES: dict[str, Quantity] = {
    "poses": Quantity({"": _poses}, ("q",), "poses"),
    "pose": Quantity({"": _frame_pose}, ("q",), "pose"),
    "inverse_dynamics": Quantity(
        {"rnea": algorithms.rnea}, ("q", "v", "a"), "tau", external=True, regrouped=True
    ),
    "forward_dynamics": Quantity(
        {"aba": algorithms.aba, "crba": algorithms.forward_crba},
        ("q", "v", "tau"),
        "a",
        external=True,
    ),
    "mass_matrix": Quantity({"": algorithms.crba}, ("q",), "M", regrouped=True),
    "gravity_forces": Quantity({"": _gravity}, ("q",), "tau", regrouped=True),
    "bias_forces": Quantity({"": _bias}, ("q", "v"), "tau", external=True, regrouped=True),
    "chart_volumes": Quantity({"": algorithms.chart_volumes}, ("q",), "volumes"),
    "integrate": Quantity({"": algorithms.integrate}, ("q", "dv"), "q"),
    "difference": Quantity({"": algorithms.difference}, ("q0", "q1"), "dv"),
}
