"""What a robot can compute: each quantity's algorithms, the arguments they take, their result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from kinetree import algorithms
from kinetree.algorithms import AXES, POINTS
from kinetree.graph import Program
from kinetree.graph.differentiate import jacobian, vjp
from kinetree.model import Model
from kinetree.model.configurations import neutral_configuration
from kinetree.posedness import INVERTIBLE, POSITIVE
from kinetree.spatial import Force, Motion, Transform

ANY_FRAME = ("a frame",)
"""Stands for the valid values of a setting that names a frame."""
SOME_JOINTS = ("some joints",)
"""Stands for the valid values of a setting that lists joints."""


ALWAYS, NEVER, WHOLE, FRAMES = "always", "never", "whole", "frames"


@dataclass(frozen=True)
class Method:
    """An algorithm.

    regrouped: how the model may be changed for it. NEVER: not at all, where bodies' frames show.
        FRAMES: bodies' frames may move to their joints. ALWAYS: inertias may be regrouped, too;
        not where it subtracts articulated inertias: it would lose digits on ill-conditioned
        robots, for hardly less arithmetic. WHOLE: so, if none of them
        is lost to the world.
    shared: whether it takes joints that share a coordinate, as those do that mimic others.
    alternative: the same by another order of sums: the cheaper of the two is taken.
    """

    algorithm: Callable[..., Any]
    regrouped: str = FRAMES
    shared: bool = True
    alternative: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Derived:
    """A method that differentiates the program of another quantity.

    build: from that program, the charts of its arguments and a limit to the program of this one.
    """

    quantity: str
    build: Callable[..., Program]
    shared: bool = True


@dataclass(frozen=True)
class Quantity:
    """How a quantity is computed.

    methods: by name, the default first.
    cheapest: whether by default the one is taken that does with the fewest operations.
    arguments: names, each "q"-like (of length nq) or "v"-like (of length nv).
    results: their names, in the order in which an algorithm gives them.
    loads: whether wrenches and forces may act from outside.
    settings: what else an algorithm takes, not an array: name -> the valid values, the default
        first.
    regular: whether it has no answer where the coordinates of a joint are singular.
    mass_matrix: what it needs the mass matrix to be, INVERTIBLE or POSITIVE (definite): it is
        refused for robots whose is not.
    rigid: whether it has an answer for a robot without moving joints.

    An algorithm takes the model, the arguments, the loads, the settings.
    """

    methods: Mapping[str, Method | Derived]
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    loads: bool = False
    settings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    cheapest: bool = False
    regular: bool = False
    mass_matrix: str = ""
    rigid: bool = False


def plain(value: Any) -> Any:
    """Motions, forces and transforms in nested lists as lists of scalars."""
    if isinstance(value, Transform):
        return value.matrix()
    if isinstance(value, (Motion, Force)):
        return list(value)
    return [plain(item) for item in value] if isinstance(value, list) else value


def _rate_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The rate of a function of the configuration, from q and v."""

    def rate(model: Model, q: Any, v: Any, *settings: Any) -> Any:
        return algorithms.rate(function, model, q, v, *settings)

    return rate


def _gravity(inverse_dynamics: Callable[..., Any]) -> Callable[..., Any]:
    def gravity_forces(model: Model, q: Any) -> Any:
        rest = [0.0] * model.nv
        return inverse_dynamics(model, q, rest, rest)

    return gravity_forces


def _bias(inverse_dynamics: Callable[..., Any]) -> Callable[..., Any]:
    def bias_forces(model: Model, q: Any, v: Any, loads: Any) -> Any:
        return inverse_dynamics(model, q, v, [0.0] * model.nv, loads)

    return bias_forces


def christoffel_pattern(model: Model) -> list[tuple[int, int, int]]:
    """The indices of the symbols that do not vanish for robots of this structure.

    Of those equal by symmetry one: j <= k, unless velocities are no rates of coordinates.
    """
    found = sorted(algorithms.symbols(model, neutral_configuration(model)))
    symmetric = model.nq == model.nv
    return [(i, j, k) for i, j, k in found if j <= k or not symmetric]


def _christoffel_values(model: Model, q: Any) -> Any:
    found = algorithms.symbols(model, q)
    return [found[triple] for triple in christoffel_pattern(model)]


def _hybrid(algorithm: Callable[..., Any]) -> Callable[..., Any]:
    def hybrid_dynamics(
        model: Model, q: Any, v: Any, a: Any, tau: Any, loads: Any, accelerated: Any
    ) -> Any:
        number = {body.joint_name: i for i, body in enumerate(model.bodies)}
        return algorithm(model, q, v, a, tau, loads, {number[name] for name in accelerated})

    return hybrid_dynamics


def _one(algorithm: Callable[..., Any], regrouped: str = FRAMES) -> dict[str, Method]:
    """The methods of a quantity that is computed in one way only."""
    return {"": Method(algorithm, regrouped)}


def _by_inverse_dynamics(make: Callable[..., Any]) -> dict[str, Method]:
    """What is inverse dynamics of some motion, in each of its ways."""
    return {name: Method(make(m.algorithm), m.regrouped) for name, m in INVERSE_DYNAMICS.items()}


def _jacobian(quantity: str, result: str, wrt: Sequence[str]) -> Derived:
    """The derivatives of a quantity's one result, by graph differentiation."""
    keep = {f"d{result}_d{name}": f"d{name}" for name in wrt}
    return Derived(quantity, partial(jacobian, wrt=wrt, keep=keep))


SECOND = {"ddq_dq": "qq", "ddq_dv": "qv", "ddv_dv": "vv"}
"""Derivatives of derivatives; all others vanish, but those by q and by what enters linearly."""


def _second(quantity: str, linear: str) -> dict[str, Derived]:
    """The second derivatives of a weighted sum of joint forces or accelerations."""
    wrt = ("q", "v", linear)
    keep = SECOND | {f"ddq_d{linear}": "qu"}

    def build(program: Program, charts: Any, limit: float) -> Program:
        gradient = vjp(program, charts, ("q", "v"))
        return jacobian(gradient, charts, wrt, keep, limit)

    return {"graph": Derived(quantity, build)}


def _all_second(quantity: str, linear: str) -> dict[str, Derived]:
    """The second derivatives of every joint force or acceleration."""
    keep = SECOND | {f"ddq_d{linear}": "qu"}
    return {"graph": Derived(quantity, partial(jacobian, wrt=("q", "v", linear), keep=keep))}


INVERSE_DYNAMICS = {
    "balafoutis-patel": Method(algorithms.balafoutis_patel, regrouped=ALWAYS),
    "rnea": Method(algorithms.rnea, regrouped=ALWAYS),
    "liu-jain": Method(algorithms.liu_jain, regrouped=ALWAYS),
}
CORIOLIS = {name: algorithms.coriolis_matrix(f) for name, f in algorithms.FACTORIZATIONS.items()}
FRAME = {"frame": ANY_FRAME, "axes": AXES}

QUANTITIES: dict[str, Quantity] = {
    # configurations
    "integrate": Quantity(_one(algorithms.integrate), ("q", "dv"), ("q",), rigid=True),
    "difference": Quantity(_one(algorithms.difference), ("q0", "q1"), ("dv",), rigid=True),
    "normalize": Quantity(_one(algorithms.normalize), ("q",), ("unit",), rigid=True),
    "coordinate_rates": Quantity(
        _one(algorithms.coordinate_rates), ("q", "v"), ("dq",), rigid=True
    ),
    "chart_volumes": Quantity(_one(algorithms.chart_volumes), ("q",), ("volumes",)),
    # kinematics
    "poses": Quantity(_one(algorithms.poses, NEVER), ("q",), ("poses",), rigid=True),
    "pose": Quantity(
        _one(algorithms.frame_pose), ("q",), ("pose",), settings={"frame": ANY_FRAME}, rigid=True
    ),
    "velocities": Quantity(
        _one(algorithms.velocities, NEVER),
        ("q", "v"),
        ("velocities",),
        settings={"axes": AXES},
        rigid=True,
    ),
    "velocity": Quantity(
        _one(algorithms.frame_velocity), ("q", "v"), ("velocity",), settings=FRAME, rigid=True
    ),
    "acceleration": Quantity(
        _one(algorithms.frame_acceleration),
        ("q", "v", "a"),
        ("acceleration",),
        settings=FRAME | {"kind": ("classical", "spatial")},
        rigid=True,
    ),
    "jacobian": Quantity(_one(algorithms.jacobian), ("q",), ("jacobian",), settings=FRAME),
    "jacobian_rate": Quantity(
        _one(_rate_of(algorithms.jacobian)), ("q", "v"), ("rate",), settings=FRAME
    ),
    "jacobians": Quantity(
        _one(algorithms.jacobians, NEVER), ("q",), ("jacobians",), settings={"axes": AXES}
    ),
    "center_of_mass": Quantity(
        _one(algorithms.center_of_mass, WHOLE), ("q",), ("center",), rigid=True
    ),
    "center_of_mass_velocity": Quantity(
        _one(algorithms.center_of_mass_velocity, WHOLE), ("q", "v"), ("velocity",)
    ),
    "center_of_mass_acceleration": Quantity(
        _one(algorithms.center_of_mass_acceleration, WHOLE), ("q", "v", "a"), ("acceleration",)
    ),
    "center_of_mass_jacobian": Quantity(
        _one(algorithms.center_of_mass_jacobian, WHOLE), ("q",), ("jacobian",)
    ),
    "center_of_mass_jacobian_rate": Quantity(
        _one(_rate_of(algorithms.center_of_mass_jacobian), WHOLE), ("q", "v"), ("rate",)
    ),
    # inverse dynamics
    "inverse_dynamics": Quantity(INVERSE_DYNAMICS, ("q", "v", "a"), ("tau",), loads=True),
    "joint_wrenches": Quantity(
        _one(algorithms.joint_wrenches, NEVER), ("q", "v", "a"), ("wrenches",), loads=True
    ),
    "gravity_forces": Quantity(_by_inverse_dynamics(_gravity), ("q",), ("tau",)),
    "bias_forces": Quantity(_by_inverse_dynamics(_bias), ("q", "v"), ("tau",), loads=True),
    "coriolis_forces": Quantity(
        _by_inverse_dynamics(algorithms.coriolis_forces)
        | {"lagrange": Method(algorithms.lagrange_coriolis_forces)},
        ("q", "v"),
        ("tau",),
    ),
    # the mass matrix
    "mass_matrix": Quantity(
        {
            "crba": Method(algorithms.crba, ALWAYS, alternative=algorithms.crba_in_one_frame),
            "rnea": Method(algorithms.mass_by_unit_accelerations, regrouped=ALWAYS),
            "lagrange": Method(algorithms.lagrange_mass),
        },
        ("q",),
        ("M",),
    ),
    "mass_matrix_rate": Quantity(_one(algorithms.mass_matrix_rate, ALWAYS), ("q", "v"), ("rate",)),
    "mass_matrix_inverse": Quantity(
        {
            "ltl": Method(algorithms.mass_matrix_inverse, ALWAYS),
            "aba": Method(algorithms.minverse, shared=False),
        },
        ("q",),
        ("inverse",),
        regular=True,
        mass_matrix=INVERTIBLE,
    ),
    "mass_matrix_factor": Quantity(
        _one(algorithms.mass_matrix_factor, ALWAYS),
        ("q",),
        ("L",),
        regular=True,
        mass_matrix=POSITIVE,
    ),
    # the Coriolis matrix
    "coriolis_matrix": Quantity(
        {
            "christoffel": Method(CORIOLIS["christoffel"], ALWAYS),
            "spatial": Method(CORIOLIS["spatial"]),  # is no function of the mass matrix alone
            "lagrange": Method(algorithms.lagrange_coriolis),
        },
        ("q", "v"),
        ("C",),
    ),
    "mass_and_coriolis": Quantity(
        _one(algorithms.coriolis, ALWAYS), ("q", "v"), ("M", "rate", "C")
    ),
    "christoffel_symbols": Quantity(
        _one(algorithms.christoffel_symbols, ALWAYS), ("q",), ("symbols",)
    ),
    "christoffel_values": Quantity(_one(_christoffel_values, ALWAYS), ("q",), ("values",)),
    "passivity_forces": Quantity(
        _one(algorithms.passivity_forces, ALWAYS), ("q", "v", "vr", "ar"), ("tau",)
    ),
    "momentum_observer": Quantity(
        _one(algorithms.momentum_observer, ALWAYS), ("q", "v", "tau", "r"), ("p", "rate")
    ),
    # forward dynamics
    "forward_dynamics": Quantity(
        {
            "aba": Method(algorithms.aba, shared=False),
            "crba": Method(algorithms.forward_crba),
        },
        ("q", "v", "tau"),
        ("a",),
        loads=True,
        regular=True,
        mass_matrix=INVERTIBLE,
    ),
    "hybrid_dynamics": Quantity(
        {
            "aba": Method(_hybrid(algorithms.hybrid_dynamics), shared=False),
            "crba": Method(_hybrid(algorithms.hybrid_crba)),
        },
        ("q", "v", "a", "tau"),
        ("a", "tau"),
        loads=True,
        settings={"accelerated": SOME_JOINTS},
        regular=True,
        mass_matrix=INVERTIBLE,
    ),
    # energy and momentum
    "kinetic_energy": Quantity(
        _one(algorithms.kinetic_energy, ALWAYS), ("q", "v"), ("energy",), rigid=True
    ),
    "potential_energy": Quantity(
        _one(algorithms.potential_energy, WHOLE), ("q",), ("energy",), rigid=True
    ),
    "momentum": Quantity(
        _one(algorithms.momentum, WHOLE), ("q", "v"), ("momentum",), settings={"about": POINTS}
    ),
    "momentum_matrix": Quantity(
        _one(algorithms.momentum_matrix, WHOLE), ("q",), ("matrix",), settings={"about": POINTS}
    ),
    "momentum_matrix_rate": Quantity(
        _one(_rate_of(algorithms.momentum_matrix), WHOLE),
        ("q", "v"),
        ("rate",),
        settings={"about": POINTS},
    ),
    "momentum_rate": Quantity(
        _one(algorithms.momentum_rate, WHOLE),
        ("q", "v", "a"),
        ("rate",),
        settings={"about": POINTS},
    ),
    "effort": Quantity(
        _one(algorithms.effort, ALWAYS), ("q", "v", "a", "weights"), ("effort",), loads=True
    ),
    # derivatives
    "transport": Quantity(_one(algorithms.transport), ("q", "v"), ("rates",)),
    "inverse_dynamics_derivatives": Quantity(
        {
            "analytic": Method(
                algorithms.inverse_derivatives,
                ALWAYS,
                alternative=algorithms.inverse_derivatives_in_own_frames,
            ),
            "balafoutis-patel": Method(algorithms.balafoutis_patel_partials, ALWAYS),
            "graph": _jacobian("inverse_dynamics", "tau", ("q", "v", "a")),
        },
        ("q", "v", "a"),
        ("dq", "dv", "da"),
        loads=True,
        cheapest=True,
    ),
    "forward_dynamics_derivatives": Quantity(
        {
            "analytic": Method(
                algorithms.forward_derivatives,
                regrouped=ALWAYS,
                alternative=algorithms.forward_derivatives_in_own_frames,
            ),
            "graph": _jacobian("forward_dynamics", "a", ("q", "v", "tau")),
        },
        ("q", "v", "tau"),
        ("dq", "dv", "dtau"),
        loads=True,
        cheapest=True,
        regular=True,
        mass_matrix=INVERTIBLE,
    ),
    "gravity_forces_derivatives": Quantity(
        _one(algorithms.gravity_derivatives, ALWAYS), ("q",), ("dq",), loads=True
    ),
    "mass_matrix_derivatives": Quantity(_one(algorithms.mass_derivatives, ALWAYS), ("q",), ("dq",)),
    "mass_matrix_inverse_derivatives": Quantity(
        _one(algorithms.mass_inverse_derivatives),
        ("q",),
        ("dq",),
        mass_matrix=INVERTIBLE,
        regular=True,
    ),
    "velocity_derivatives": Quantity(
        {"graph": _jacobian("velocity", "velocity", ("q", "v"))},
        ("q", "v"),
        ("dq", "dv"),
        settings=FRAME,
    ),
    "acceleration_derivatives": Quantity(
        {"graph": _jacobian("acceleration", "acceleration", ("q", "v", "a"))},
        ("q", "v", "a"),
        ("dq", "dv", "da"),
        settings=FRAME | {"kind": ("classical", "spatial")},
    ),
    "momentum_derivatives": Quantity(
        {"graph": _jacobian("momentum", "momentum", ("q", "v"))},
        ("q", "v"),
        ("dq", "dv"),
        settings={"about": POINTS},
    ),
    "momentum_rate_derivatives": Quantity(
        {"graph": _jacobian("momentum_rate", "rate", ("q", "v", "a"))},
        ("q", "v", "a"),
        ("dq", "dv", "da"),
        settings={"about": POINTS},
    ),
    "inverse_dynamics_weighted_second_derivatives": Quantity(
        _second("inverse_dynamics", "a"),
        ("q", "v", "a", "weights"),
        ("qq", "qv", "vv", "qu"),
        loads=True,
    ),
    "forward_dynamics_weighted_second_derivatives": Quantity(
        _second("forward_dynamics", "tau"),
        ("q", "v", "tau", "weights"),
        ("qq", "qv", "vv", "qu"),
        loads=True,
        regular=True,
        mass_matrix=INVERTIBLE,
    ),
    "inverse_dynamics_second_derivatives": Quantity(
        _all_second("inverse_dynamics_derivatives", "a"),
        ("q", "v", "a"),
        ("qq", "qv", "vv", "qu"),
        loads=True,
    ),
    "forward_dynamics_second_derivatives": Quantity(
        _all_second("forward_dynamics_derivatives", "tau"),
        ("q", "v", "tau"),
        ("qq", "qv", "vv", "qu"),
        loads=True,
        regular=True,
        mass_matrix=INVERTIBLE,
    ),
}
