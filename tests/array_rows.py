"""Every public call that takes arrays, and what it does with those of other packages.

`ROWS` has one row for each method of a robot, of its doors and of what it makes, and for each
control law. `tests/test_arrays.py` calls them all, and holds the table of `docs/arrays.md` against
this one.
"""

import inspect
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.interpolate import make_interp_spline

import kinetree as kt
from kinetree.motion.mpc import ModelPredictiveControl
from kinetree.robot import uses
from kinetree.robot.actuation import Actuation
from kinetree.robot.cartesian import Cartesian
from kinetree.robot.centroidal import Centroidal
from kinetree.robot.charts import Charts
from kinetree.robot.charts.conversion import Conversion
from kinetree.robot.charts.coordinates import InCoordinates
from kinetree.robot.charts.speeds import InSpeeds
from kinetree.robot.constrained import Constrained
from kinetree.robot.contact import Contact
from kinetree.robot.coriolis import Coriolis
from kinetree.robot.derivatives import Differential
from kinetree.robot.editing import Edit
from kinetree.robot.parametric import Parametric
from kinetree.robot.regressors import Regressors
from kinetree.robot.sensors import Sensors
from kinetree.robot.tendons import Tendons
from kinetree.simulate.rollout import Rollout
from tests.doors import ROBOT
from tests.equipped_robots import equipped

COMPILED = "compiled"
NUMPY = "by NumPy"
LOOP = "loop over time"
SETTING = "numbers of an object"
REFUSED = "NumPy alone"
SCALARS = "scalars"
NONE = "no arrays"
WAYS = {
    COMPILED: "kernels: every kind, with gradients",
    LOOP: "through NumPy; for CuPy, on the GPU",
    NUMPY: "through NumPy",
    SETTING: "numbers of an object",
    REFUSED: "NumPy only",
    SCALARS: "lists of scalars",
    NONE: "no arrays",
}
"""What calls do with arrays, in the order and the words of the page."""

CLASSES = {
    "robot": kt.Robot,
    "robot.actuation": Actuation,
    "robot.cartesian": Cartesian,
    "robot.centroidal": Centroidal,
    "robot.charts": Charts,
    "robot.constraints": Constrained,
    "robot.contact": Contact,
    "robot.coriolis": Coriolis,
    "robot.derivatives": Differential,
    "robot.edit": Edit,
    "robot.regressors": Regressors,
    "robot.sensors": Sensors,
    "robot.tendons": Tendons,
    "robot.parametric(...)": Parametric,
    "robot.charts.conversion(...)": Conversion,
    "robot.charts.in_coordinates(...)": InCoordinates,
    "robot.charts.in_speeds(...)": InSpeeds,
    "robot.rollout(...)": Rollout,
    "robot.optimal_control(...).mpc(...)": ModelPredictiveControl,
    "control.InverseKinematics(...)": kt.control.InverseKinematics,
    "control.WholeBody(...)": kt.control.WholeBody,
    "control.Controller(...)": kt.control.Controller,
    "control.MomentumObserver(...)": kt.control.MomentumObserver,
}
"""Objects whose methods have rows, by what users write for them."""
MODULES = {"control": kt.control, "kinetree": kt}
"""Modules whose public functions, and classes from above, have rows."""
ELSEWHERE = {"Robot", "fit_human", "get_threads", "load", "read_bvh", "release_memory"}
ELSEWHERE |= {"set_threads", "write_bvh"}
"""What of `kinetree` neither takes nor gives arrays of states."""


def public() -> list[str]:
    """The names of all public calls, by reflection."""
    names = ["motion.Effort"]
    for owner, kind in CLASSES.items():
        members = dict(inspect.getmembers(kind, inspect.isfunction))
        names += [f"{owner}.{name}" for name in members if not name.startswith("_")]
        names += [f"{owner}(...)"] if "__call__" in members else []
    for owner, module in MODULES.items():
        found = {name: getattr(module, name) for name in module.__all__ if name not in ELSEWHERE}
        names += [
            f"{owner}.{name}"
            for name, x in found.items()
            if inspect.isfunction(x) or (inspect.isclass(x) and x in CLASSES.values())
        ]
    return names


@dataclass(frozen=True)
class Row:
    """A call, as it is made.

    way: what it does with arrays.
    call: takes the arrays by name; gives the result, or arrays that follow from it.
    arrays: NumPy's, by name.
    """

    way: str
    call: Any = None
    arrays: dict[str, Any] = field(default_factory=dict)


NUMBERS = np.random.default_rng(0)
VECTORS = ("q", "v", "a", "tau", "vr", "ar", "dv", "q0", "q1", "v0", "residual", "weights")
VECTORS += ("nu", "dnu", "y", "dy", "ddy", "force")
STATE = {name: NUMBERS.uniform(0.2, 0.8, 2) for name in VECTORS}
STATE |= {"point": NUMBERS.normal(size=3), "joint_torque": NUMBERS.normal(size=(2, 3))}
STATE |= {"body_torque": NUMBERS.normal(size=(2, 3))}
STATE |= {"act": NUMBERS.uniform(0.2, 0.8, 2), "ctrl": NUMBERS.uniform(0.2, 0.8, 4)}
TIMES = np.linspace(0.0, 0.4, 5)
PATH = 0.3 * np.stack([np.sin(TIMES), np.cos(TIMES)], axis=-1)
WRENCH = NUMBERS.normal(size=6)
POSE = np.eye(4)
POSE[:3, 3] = 0.1, 0.2, 0.3
LINKS = ROBOT.cartesian.state(STATE["q"], STATE["v"])
MASS = ROBOT.mass_matrix(STATE["q"])
CORIOLIS = ROBOT.coriolis_matrix(STATE["q"], STATE["v"])
SYMBOLS = ROBOT.christoffel_symbols(STATE["q"])
ARM = kt.robots.arm()
GEARED = ROBOT.constrain(
    kt.constraints.Coupling("gear", {ROBOT.joints[0]: [0.1, 1.0], ROBOT.joints[1]: [0.0, 1.5]})
)
GROUNDED = ROBOT.collide(
    kt.geometry.Collider("ball", "tip", kt.geometry.Sphere(0.1)),
    kt.geometry.Collider("wall", None, kt.geometry.Capsule(0.2, 0.3), (0.5, 0.1, 0.2)),
    kt.geometry.ContactPair("ball", "wall"),
)


DRIVEN = equipped(ROBOT)


def split(readings):
    """Readings by name, as a tuple."""
    return tuple(DRIVEN.sensors.named(readings).values())


def unit(q):
    return [[1.0, 0.0], [0.0, 1.0]]


def law(model, t, q, v, gain):
    return list(gain)


def cost(t, q, v, tau, pose):
    return q[0] * q[0] + v[1] * v[1] + tau[0] * tau[0]


PARAMETRIC = ROBOT.parametric([kt.Inertial("tip")])
CONVERSION = ROBOT.charts.conversion(ROBOT)
COORDINATES = ROBOT.charts.in_coordinates(list, 2)
SPEEDS = ROBOT.charts.in_speeds(unit, 2)
PD = kt.control.pd(ROBOT)
ROLLOUT = ROBOT.rollout(PD, 5, 0.01)
REACHES = partial(kt.control.InverseKinematics, ROBOT, "tip", False)
POSTURE = [kt.control.PostureTask()]
BODY = kt.control.WholeBody(ROBOT, POSTURE)
REACH = kt.control.InverseKinematics(ROBOT, "tip", orientation=False)
TARGET = ROBOT.pose(STATE["q"], "tip")[:3, 3]
PROBLEM = ROBOT.optimal_control(cost, steps=4, dt=0.01)
SPLINE = make_interp_spline(TIMES, PATH, k=3)


def plan(**arrays):
    """The first controls of a new controller."""
    return PROBLEM.mpc().control(**arrays)


def plan_from(u):
    """The controls to start from, of a controller that was told them."""
    controller = PROBLEM.mpc()
    controller.reset(u)
    return controller.u


def observed(**arrays):
    """The second residual of a new observer."""
    observer = kt.control.MomentumObserver(ROBOT)
    observer.update(**arrays, dt=0.01)
    return observer.update(**arrays, dt=0.01)


def model_numbers(robot):
    """The masses and inertias of a robot, and where its frames are."""
    return np.concatenate([robot.regressors.parameters, robot.pose(robot.neutral(), "tip").ravel()])


def shown(**arrays):
    """The trajectory that a viewer gets."""

    class Viewer:
        def __init__(self, robot, trajectory, *_, **__):
            self.trajectory = trajectory

    with patch.object(uses, "Viewer", Viewer, create=True):
        trajectory = ROBOT.show(arrays).trajectory
    assert all(type(x) in (np.ndarray, list) for x in trajectory.values())
    return tuple(map(np.asarray, trajectory.values()))


def inputs_of(make, *first, **settings):
    """A function that gives the inputs of the controller that `make` makes."""
    return lambda **arrays: make(*first, **settings, **arrays).p


def taking(target: Any, *names: str, **settings: Any) -> tuple[Any, dict[str, Any]]:
    """A call with the arrays of these names, and other settings."""
    return partial(target, **settings), {name: STATE[name] for name in names}


def _rows() -> dict[str, Row]:
    rows: dict[str, Row] = {}

    def add(way: str, owner: str, on: Any, **methods: Any) -> None:
        for name, given in methods.items():
            names, settings = given if isinstance(given, tuple) else (given, {})
            call, arrays = taking(getattr(on, name), *names.split(), **settings)
            rows[f"{owner}.{name}"] = Row(way, call, arrays)

    tip = {"frame": "tip"}
    add(
        COMPILED,
        "robot",
        ROBOT,
        acceleration=("q v a", tip),
        bias_forces="q v",
        center_of_mass="q",
        christoffel_symbols="q",
        coriolis_forces="q v",
        coriolis_matrix="q v",
        difference="q0 q1",
        forward_dynamics="q v tau",
        forward_dynamics_derivatives="q v tau",
        gravity_forces="q",
        hybrid_dynamics=("q v a tau", {"accelerated": ROBOT.joints[0]}),
        integrate="q dv",
        inverse_dynamics_derivatives="q v a",
        jacobian=("q", tip),
        jacobian_rate=("q v", tip),
        jacobians="q",
        joint_wrenches="q v a",
        kinetic_energy="q v",
        mass_matrix="q",
        mass_matrix_factor="q",
        mass_matrix_inverse="q",
        momentum="q v",
        momentum_matrix="q",
        normalize="q",
        pose=("q", tip),
        poses="q",
        potential_energy="q",
        regressor="q v a",
        step=("q v tau", {"dt": 0.01}),
        velocities="q v",
        velocity=("q v", tip),
    )
    add(
        COMPILED,
        "robot.actuation",
        DRIVEN.actuation,
        activation_rates="act ctrl",
        passive_forces="q v",
        actuator_forces="q v act ctrl",
        forces="q v act ctrl",
        lengths="q",
        moments="q",
        velocities="q v",
    )
    tendons = {"jacobian": "q", "lengths": "q", "tensions": "q v", "velocities": "q v"}
    add(COMPILED, "robot.tendons", DRIVEN.tendons, **tendons)
    add(COMPILED, "robot.sensors", DRIVEN.sensors, readings="q v a act ctrl")
    shows, given = taking(DRIVEN.sensors, "q", "v", "a", "act", "ctrl")
    rows["robot.sensors(...)"] = Row(COMPILED, shows, given)
    add(
        COMPILED,
        "robot.cartesian",
        ROBOT.cartesian,
        body_wrenches="q joint_torque",
        coriolis_by_energy="q v",
        intermediates="q v a",
        jacobian=("q point", {"link": "tip"}),
        jacobians="q",
        joint_torques="q tau",
        joint_torques_of_body_torques="q body_torque",
        kinetic_energies="q v",
        link_forces="q tau",
        link_forces_and_joint_torques="q tau",
        local_jacobians="q",
        momenta="q v",
        torque_shares="q v a",
    )
    add(
        COMPILED,
        "robot.centroidal",
        ROBOT.centroidal,
        acceleration="q v a",
        jacobian="q",
        jacobian_rate="q v",
        momentum_matrix_rate="q v",
        momentum_rate="q v a",
        velocity="q v",
    )
    add(COMPILED, "robot.charts", ROBOT.charts, coordinate_rates="q v")
    add(
        COMPILED,
        "robot.coriolis",
        ROBOT.coriolis,
        mass_matrix_rate="q v",
        momentum_observer="q v tau residual",
        passivity_forces="q v vr",
        with_mass_matrix="q v",
    )
    add(
        COMPILED,
        "robot.constraints",
        GEARED.constraints,
        bias="q v",
        delassus_inverse="q",
        delassus_matrix="q",
        errors="q",
        forward_dynamics="q v tau",
        forward_dynamics_derivatives="q v tau",
        impact=("q v", {"restitution": 0.5}),
        inertia="q",
        inverse_dynamics="q v a",
        inverse_dynamics_derivatives="q v a",
        jacobian="q",
        jacobian_rate="q v",
        project_velocity="q v",
        projection="q",
        switched_dynamics=("q v tau", {"active": [1.0]}),
        switched_dynamics_derivatives=("q v tau", {"active": [1.0]}),
    )
    add(COMPILED, "robot", GROUNDED, distances="q")
    add(
        COMPILED,
        "robot.contact",
        GROUNDED.contact,
        touches="q",
        jacobian="q",
        forces="q v tau",
        dynamics="q v tau",
    )
    add(
        COMPILED,
        "robot.derivatives",
        ROBOT.derivatives,
        acceleration=("q v a", tip),
        forward_dynamics_second="q v tau",
        gravity_forces="q",
        inverse_dynamics_second="q v a",
        mass_matrix="q",
        mass_matrix_inverse="q",
        momentum="q v",
        momentum_rate="q v a",
        velocity=("q v", tip),
    )
    add(
        COMPILED,
        "robot.regressors",
        ROBOT.regressors,
        base_wrench="q v a",
        drive="q v a",
        energy="q v",
        momentum="q v",
        passivity="q v vr ar",
    )
    add(
        COMPILED,
        "robot.charts.in_coordinates(...)",
        COORDINATES,
        christoffel_symbols="y",
        coordinates="y",
        coriolis_matrix="y dy",
        derivative="y",
        forces="y tau",
        forward_dynamics="y dy force",
        gravity_forces="y",
        inverse_dynamics="y dy ddy",
        mass_matrix="y",
    )
    add(
        COMPILED,
        "robot.charts.in_speeds(...)",
        SPEEDS,
        bias_forces="q nu",
        coriolis_matrix="q nu",
        forces="q tau",
        forward_dynamics="q nu tau",
        inverse_dynamics="q nu dnu",
        mass_matrix="q",
        matrix="q",
        velocity="q nu",
    )
    add(
        COMPILED,
        "robot.charts.conversion(...)",
        CONVERSION,
        acceleration="q v a",
        configuration="q",
        derivative="q",
        derivative_rate="q v",
        velocity="q v",
    )
    p = PARAMETRIC.parameters * 1.1
    for name, names in {
        "forward_dynamics": "q v tau",
        "forward_dynamics_derivative": "q v tau",
        "inverse_dynamics": "q v a",
        "inverse_dynamics_derivative": "q v a",
        "mass_matrix": "q",
    }.items():
        call, arrays = taking(getattr(PARAMETRIC, name), *names.split())
        rows[f"robot.parametric(...).{name}"] = Row(COMPILED, call, {**arrays, "p": p})
    q, v, a, tau = (STATE[name] for name in ("q", "v", "a", "tau"))
    state = {"q0": q, "v0": v}
    short = {"time": 0.05, "dt": 0.01}
    rows |= {
        # compiled, with arguments of their own
        "robot.inverse_dynamics": Row(
            COMPILED,
            lambda q, v, a, tip: ROBOT.inverse_dynamics(q, v, a, external={"tip": tip}),
            {"q": q, "v": v, "a": a, "tip": WRENCH},
        ),
        "robot.generalized_forces": Row(
            COMPILED,
            lambda q, tip: ROBOT.generalized_forces(q, {"tip": tip}),
            {"q": q, "tip": WRENCH},
        ),
        "robot.operational_space_inertia": Row(
            COMPILED,
            partial(ARM.operational_space_inertia, frame=ARM.frames[-1]),
            {"q": ARM.random(0)},
        ),
        "robot.cartesian.generalized_forces": Row(
            COMPILED,
            ROBOT.cartesian.generalized_forces,
            {"q": q, "f": LINKS.x, "moment": LINKS.v, "body_torque": LINKS.w}
            | {"joint_torque": STATE["joint_torque"]},
        ),
        "robot.cartesian.points": Row(COMPILED, ROBOT.cartesian.points, {"at": LINKS.x}),
        "robot.cartesian.state": Row(
            COMPILED, ROBOT.cartesian.state, {"q": q, "v": v, "at": LINKS.x}
        ),
        "control.Controller(...).forces": Row(
            COMPILED, PD.forces, {"q": q, "v": v, "target": a, "kp": tau}
        ),
        # loops over time
        "robot.simulate": Row(LOOP, partial(ROBOT.simulate, controller=PD, **short), state),
        "robot.rollout(...)(...)": Row(LOOP, ROLLOUT, {**state, "p": PD.p}),
        "robot.rollout(...).gradient": Row(
            LOOP, lambda q0, v0, w: ROLLOUT.gradient(q0, v0, {"q": w}), {**state, "w": a}
        ),
        "robot.rollout(...).sensitivity": Row(
            LOOP, lambda q0, v0, w: ROLLOUT.sensitivity(q0, v0, {"q0": w}), {**state, "w": a}
        ),
        # by NumPy
        "robot.simulate_adaptive": Row(
            NUMPY, partial(ROBOT.simulate_adaptive, time=0.05, tolerance=1e-6), state
        ),
        "robot.linearize": Row(NUMPY, ROBOT.linearize, {"q": q, "v": v, "tau": tau}),
        "robot.cartesian.configuration": Row(
            NUMPY, ROBOT.cartesian.configuration, {"x": LINKS.x, "R": LINKS.R}
        ),
        "robot.cartesian.velocity": Row(
            NUMPY, ROBOT.cartesian.velocity, {"q": q, "v": LINKS.v, "w": LINKS.w}
        ),
        "robot.cartesian.generalized": Row(
            NUMPY, ROBOT.cartesian.generalized, dict(zip("xRvw", LINKS, strict=True))
        ),
        "robot.charts.continuous": Row(NUMPY, ROBOT.charts.continuous, {"q": PATH}),
        "robot.charts.velocities_along": Row(
            NUMPY, ROBOT.charts.velocities_along, {"times": TIMES, "q": PATH}
        ),
        "robot.charts.conversion(...).forces": Row(NUMPY, CONVERSION.forces, {"q": q, "tau": tau}),
        "robot.charts.conversion(...).mass_matrix": Row(
            NUMPY, CONVERSION.mass_matrix, {"q": q, "M": MASS}
        ),
        "robot.charts.conversion(...).coriolis_matrix": Row(
            NUMPY, CONVERSION.coriolis_matrix, {"q": q, "v": v, "M": MASS, "C": CORIOLIS}
        ),
        "robot.charts.conversion(...).christoffel_symbols": Row(
            NUMPY, CONVERSION.christoffel_symbols, {"q": q, "M": MASS, "Gamma": SYMBOLS}
        ),
        "robot.charts.conversion(...).trajectory": Row(
            NUMPY, CONVERSION.trajectory, {"q": PATH, "v": PATH, "a": PATH}
        ),
        "robot.sensors.named": Row(NUMPY, split, {"readings": np.arange(8.0)}),
        "robot.constraints.assemble": Row(NUMPY, GEARED.constraints.assemble, {"q": q}),
        "robot.optimal_control(...).mpc(...).control": Row(NUMPY, plan, {"q": q, "v": v}),
        "control.InverseKinematics(...).solve": Row(
            LOOP,
            lambda **given: REACH.solve(**given)[:6],
            {"target": TARGET, "start": a, "posture": v},
        ),
        "control.InverseKinematics(...).kernel": Row(NONE),
        "control.WholeBody(...).controller": Row(NONE),
        "control.WholeBody(...).solve": Row(LOOP, BODY.solve, {"q": q, "v": v}),
        "control.WholeBody": Row(
            SETTING,
            lambda actuated: np.array(
                kt.control.WholeBody(ROBOT, POSTURE, actuated=actuated)._settings.motors
            ),
            {"actuated": np.array([1.0, 0.0])},
        ),
        "control.Controller(...).pack": Row(NUMPY, PD.pack, {"target": a, "kp": tau}),
        "control.MomentumObserver(...).update": Row(NUMPY, observed, {"q": q, "v": v, "tau": tau}),
        "control.tracking_lqr": Row(
            NUMPY,
            partial(kt.control.tracking_lqr, ROBOT, dt=0.01),
            {"q": PATH, "v": PATH, "tau": PATH},
        ),
        "kinetree.pose_exp": Row(NUMPY, kt.pose_exp, {"xi": WRENCH}),
        "kinetree.pose_log": Row(NUMPY, kt.pose_log, {"T": POSE}),
        # numbers of robots and controllers
        "robot.constraints.embed": Row(
            SETTING,
            lambda at: GEARED.constraints.embed([ROBOT.joints[0]], at=at).full(
                np.zeros(GEARED.nq - 1)
            ),
            {"at": q},
        ),
        "robot.edit.with_gravity": Row(
            SETTING,
            lambda gravity: ROBOT.edit.with_gravity(gravity).gravity,
            {"gravity": WRENCH[:3]},
        ),
        "robot.edit.with_mount": Row(
            SETTING, lambda pose: model_numbers(ROBOT.edit.with_mount(pose)), {"pose": POSE}
        ),
        "robot.edit.lock": Row(
            SETTING,
            lambda joint: ROBOT.edit.lock({ROBOT.joints[0]: joint}).pose([0.0], "tip"),
            {"joint": q[:1]},
        ),
        "robot.show": Row(SETTING, shown, {"q": PATH, "times": TIMES}),
        "robot.edit.add_frame": Row(
            SETTING,
            lambda at: ROBOT.edit.add_frame("new", "tip", at=at).pose(q, "new"),
            {"at": POSE},
        ),
        "robot.edit.attach": Row(
            SETTING,
            lambda at: ROBOT.edit.attach(ROBOT, "tip", at=at, prefix="other_").center_of_mass(
                [0.1] * 4
            ),
            {"at": POSE},
        ),
        "robot.edit.attach_payload": Row(
            SETTING,
            lambda com: model_numbers(ROBOT.edit.attach_payload("tip", 1.0, com)),
            {"com": WRENCH[:3]},
        ),
        "robot.edit.replace_inertia": Row(
            SETTING,
            lambda com: model_numbers(ROBOT.edit.replace_inertia("tip", 1.0, com)),
            {"com": WRENCH[:3]},
        ),
        "robot.parametric(...).with_numbers": Row(
            SETTING, lambda p: model_numbers(kt.Robot(PARAMETRIC.with_numbers(p))), {"p": p}
        ),
        "robot.optimal_control(...).mpc(...).reset": Row(SETTING, plan_from, {"u": 0.1 * PATH[:4]}),
        "control.lqr": Row(SETTING, inputs_of(kt.control.lqr, ROBOT), {"target": q, "R": MASS}),
        "control.Controller": Row(
            SETTING,
            lambda gain: kt.control.Controller(ROBOT, "own", law, {"gain": gain}).p,
            {"gain": q},
        ),
        "control.MomentumObserver": Row(
            SETTING, lambda gain: kt.control.MomentumObserver(ROBOT, gain).gain, {"gain": q}
        ),
        "control.InverseKinematics": Row(
            SETTING,
            lambda null_space: REACHES(null_space=null_space).null_space,
            {"null_space": np.array(0.5)},
        ),
        # refused
        "motion.Effort": Row(REFUSED, partial(kt.motion.Effort, ROBOT, SPLINE), {"weights": q}),
        "robot.optimal_control": Row(
            REFUSED, partial(ROBOT.optimal_control, cost, steps=2, dt=0.01), {"lower": -q}
        ),
        "robot.time_path": Row(
            REFUSED, partial(ROBOT.time_path, velocity=1.0, effort=np.inf), {"path": PATH}
        ),
        "robot.transition": Row(
            REFUSED, partial(ROBOT.transition, duration=0.5), {"first": q, "second": v}
        ),
        "robot.optimal_control(...).mpc(...).run": Row(
            REFUSED, partial(PROBLEM.mpc().run, duration=0.02), {"q0": q, "v0": v}
        ),
        "control.Controller(...)(...)": Row(SCALARS, partial(PD, 0.0), {"q": q, "v": v}),
    }
    for name in ("pd", "computed_torque", "passivity"):
        call = inputs_of(getattr(kt.control, name), ROBOT)
        rows[f"control.{name}"] = Row(SETTING, call, {"target": q})
    for name in ("impedance", "operational_space"):
        call = inputs_of(getattr(kt.control, name), ROBOT, "tip")
        rows[f"control.{name}"] = Row(SETTING, call, {"target": TARGET})
    rows["control.adaptive"] = Row(
        SETTING, inputs_of(kt.control.adaptive, ROBOT, bodies=["tip"]), {"target": q}
    )
    rows["control.compensated"] = Row(SETTING, inputs_of(kt.control.compensated, PD), {"gain": q})
    nothing = """
        robot.ancestors robot.base_parameters robot.citation robot.compile robot.custom_kernel
        robot.actuation.law robot.edit.equip robot.collide robot.constrain robot.kernel
        robot.neutral robot.on_ground robot.parametric robot.problems robot.random
        robot.edit.rechart robot.rollout robot.save robot.without robot.cartesian.connectivity
        robot.charts.conversion robot.charts.in_coordinates robot.charts.in_speeds
        robot.edit.reorder robot.edit.reroot robot.edit.subtree robot.parametric(...).kernel
        robot.rollout(...).run control.MomentumObserver(...).reset
    """
    return rows | {name: Row(NONE) for name in nothing.split()}


ROWS = _rows()


def page_table() -> str:
    """The table of `docs/arrays.md`: what each call does with arrays."""
    lines = ["| way | of | calls |", "|-|-|-|"]
    for way, words in WAYS.items():
        owners: dict[str, list[str]] = {}
        for name in sorted(name for name, row in ROWS.items() if row.way == way):
            owner, call = name.removesuffix("(...)"), "a call of it"
            if owner == name:
                owner, _, last = name.rpartition(".")
                call = f"`{last}`"
            owners.setdefault(owner, []).append(call)
        for k, (owner, calls) in enumerate(owners.items()):
            lines.append(f"| {words if k == 0 else ''} | `{owner}` | {', '.join(calls)} |")
    return "\n".join(lines)
