"""Preparing a model for tracing changes no result, whichever links have inertia."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinetree as kt
from kinetree import algorithms
from kinetree.algorithms.drives import spring_energy
from kinetree.algorithms.kinematics import motions
from kinetree.model.assemble import assemble
from kinetree.model.description import Connection, Description, Link
from kinetree.model.joints import Prismatic, Revolute
from kinetree.model.model import NO_INERTIA
from kinetree.model.prepare import Preparation, prepared
from kinetree.quantities import QUANTITIES
from kinetree.quantities.row import Method, plain
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3
from tests.algorithms.test_identities import SEEDS, state
from tests.random_models import JOINTS, inertias, models, transforms
from tests.tolerances import EXACT, relative_error

WHOLE = sorted(
    name
    for name, row in QUANTITIES.items()
    for how in row.methods.values()
    if isinstance(how, Method) and how.preparation is Preparation.WHOLE_INERTIAS
)
"""Every quantity that depends on the robot's total inertia."""


def computed(model, quantity, *arguments, method=""):
    """A quantity as it is traced: by its algorithm on the prepared model."""
    how = QUANTITIES[quantity].methods[method]
    return np.array(plain(how.algorithm(prepared(model, how.preparation), *arguments)), dtype=float)


# sums over the bodies as they are


def numbers(vector):
    return np.array(list(vector), dtype=float)


def first_moment(model, q):
    pairs = zip(model.bodies, algorithms.poses(model, q), strict=True)
    moments = [X.rotation @ b.inertia.moment + X.translation * b.inertia.mass for b, X in pairs]
    return sum(map(numbers, moments))


def momentum(model, q, v):
    """About the world's origin."""
    V, _ = motions(model, q, v, [0.0] * model.nv)
    poses = algorithms.poses(model, q)
    return sum(
        numbers(X.to_parent(b.inertia @ w)) for b, X, w in zip(model.bodies, poses, V, strict=True)
    )


def momentum_rate(model, q, v, a):
    """About the world's origin."""
    V, A = motions(model, q, v, a)
    rows = zip(model.bodies, algorithms.poses(model, q), V, A, strict=True)
    return sum(numbers(X.to_parent(b.inertia.wrench(w, c))) for b, X, w, c in rows)


def about(point, wrench):
    return np.concatenate([wrench[:3], wrench[3:] - np.cross(point, wrench[:3])])


def expected_totals(model, q, v, a):
    """Each quantity of the total inertia that is a sum over bodies, with its arguments."""
    moment, p, rate = first_moment(model, q), momentum(model, q, v), momentum_rate(model, q, v, a)
    columns = [momentum(model, q, unit) for unit in np.eye(model.nv).tolist()]
    weight = numbers(model.gravity) @ moment
    yield "potential_energy", (q,), spring_energy(model, q) - weight
    yield "momentum", (q, v, "origin"), p
    yield "momentum_rate", (q, v, a, "origin"), rate
    yield "momentum_matrix", (q, "origin"), np.transpose(columns)
    mass = sum(body.inertia.mass for body in model.bodies)
    if not mass:
        return
    center, speed = moment / mass, p[:3] / mass
    turning = np.concatenate([np.zeros(3), np.cross(speed, p[:3])])
    yield "center_of_mass", (q,), center
    yield "center_of_mass_velocity", (q, v), speed
    yield "center_of_mass_acceleration", (q, v, a), rate[:3] / mass
    yield "center_of_mass_jacobian", (q,), np.transpose(columns)[:3] / mass
    yield "momentum", (q, v, "center"), about(center, p)
    yield "momentum_rate", (q, v, a, "center"), about(center, rate) - turning
    yield "momentum_matrix", (q, "center"), np.transpose([about(center, c) for c in columns])


def check_totals(model, q, v, a):
    for quantity, arguments, expected in expected_totals(model, q, v, a):
        assert relative_error(computed(model, quantity, *arguments), expected) < 10 * EXACT, (
            quantity
        )
    rest = [0.0] * model.nv
    rates = [("momentum_matrix_rate", "momentum_rate", ("origin",))]
    if algorithms.total_mass(model):
        rates.append(("momentum_matrix_rate", "momentum_rate", ("center",)))
        rates.append(("center_of_mass_jacobian_rate", "center_of_mass_acceleration", ()))
    for matrix_rate, product, where in rates:  # A' v is the rate at no acceleration
        found = computed(model, matrix_rate, q, v, *where) @ v
        expected = computed(model, product, q, v, rest, *where)
        assert relative_error(found, expected) < 10 * EXACT


def test_the_sums_here_cover_every_quantity_of_the_total_inertia():
    model = kt.robots.arm().model
    q, v, a = state(model, 0)
    covered = {quantity for quantity, _, _ in expected_totals(model, q, v, a)}
    rates = {"momentum_matrix_rate", "center_of_mass_jacobian_rate"}
    assert covered | rates == set(WHOLE)


@given(models(), SEEDS)
def test_quantities_of_the_total_inertia_are_sums_over_the_bodies(model, seed):
    check_totals(model, *state(model, seed))


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("kind", JOINTS)
@settings(max_examples=5)
@given(data=st.data(), seed=SEEDS)
def test_a_massless_link_on_any_joint_passes_its_load_on(kind, base, data, seed):
    """Two joints in series whose first link is massless, on a base that is massless, too."""
    links = [
        Link("base", NO_INERTIA),
        Link("head", NO_INERTIA),
        Link("load", data.draw(inertias())),
    ]
    second = JOINTS[data.draw(st.sampled_from(sorted(JOINTS)))]
    joints = [
        Connection("pan", "base", "head", data.draw(transforms()), data.draw(JOINTS[kind])),
        Connection("tilt", "head", "load", data.draw(transforms()), data.draw(second)),
    ]
    model = assemble(Description("head", links, joints), base=base)
    check_totals(model, *state(model, seed))


@given(models(), SEEDS)
def test_regressors_times_the_parameters_are_what_the_prepared_model_gives(model, seed):
    q, v, a = state(model, seed)
    bodies = [b.inertia for b in model.bodies]
    p = numbers(x for I in bodies for x in (I.mass, *I.moment, *I.rotational))
    bare = kt.Robot(model).without("armature", "damping", "friction", "springs").model
    tau = computed(bare, "inverse_dynamics", q, v, a, [], method="rnea")
    assert relative_error(computed(bare, "regressor", q, v, a) @ p, tau) < 10 * EXACT
    weight = numbers(model.gravity)
    hung = np.concatenate([total_mass(model) * weight, np.cross(first_moment(model, q), weight)])
    wrench = computed(model, "base_wrench_regressor", q, v, a) @ p
    assert relative_error(wrench, momentum_rate(model, q, v, a) - hung) < 10 * EXACT
    energies = [computed(bare, "kinetic_energy", q, v), computed(bare, "potential_energy", q)]
    assert relative_error(computed(bare, "energy_regressor", q, v) @ p, sum(energies)) < 10 * EXACT


def total_mass(model):
    return float(algorithms.total_mass(model))


@pytest.mark.slow
@given(models(max_bodies=4), SEEDS)
def test_preparing_a_model_changes_no_result(model, seed):
    q, v, a = state(model, seed)
    values = {"q": q, "v": v, "a": a, "tau": a}
    for quantity, row in QUANTITIES.items():
        if row.mass_matrix or any(x.name not in values for x in row.arguments):
            continue
        if not algorithms.total_mass(model) and quantity.startswith(("center", "momentum")):
            continue
        chosen = {name: valid[0] for name, valid in row.settings.items()}
        chosen |= {"frame": model.frames[-1].name} if "frame" in chosen else {}
        arguments = [values[x.name] for x in row.arguments] + ([[]] if row.loads else [])
        for how in row.methods.values():
            if isinstance(how, Method) and how.preparation is not Preparation.NOTHING:
                ready = prepared(model, how.preparation)
                found, expected = (
                    how.algorithm(m, *arguments, *chosen.values()) for m in (ready, model)
                )
                if len(row.results) == 1:
                    found, expected = (found,), (expected,)
                for x, y in zip(found, expected, strict=True):
                    assert relative_error(plain(x), plain(y)) < 100 * EXACT, quantity


def test_a_pan_tilt_head_whose_first_link_is_massless_has_its_centre_of_mass():
    slide = Transform(Rotation.identity(), Vector3(0.3, 0.0, 0.0))
    arm = Inertia.about_center(1.0, Vector3(0.1, 0.0, 0.0), Symmetric3.diagonal(0.0))
    load = Inertia.about_center(2.0, Vector3(0.0, 0.05, 0.2), Symmetric3.diagonal(0.0))
    assembly = kt.Assembly("head", "base", NO_INERTIA)
    assembly.add("pan", "base", Revolute("z"), Transform.identity(), NO_INERTIA)
    assembly.add("tilt", "pan", Revolute("y"), Transform.identity(), arm)
    assembly.add("tool", "tilt", Prismatic("x"), slide, load)
    robot = assembly.robot("fixed")
    q, v = np.zeros(3), np.array([1.0, 2.0, 3.0])
    center = np.array([0.7, 0.1, 0.4]) / 3
    assert relative_error(robot.center_of_mass(q), center) < EXACT
    assert (
        relative_error(robot.momentum(q, v, about="world")[:3], 3 * robot.centroidal.velocity(q, v))
        < EXACT
    )
    turning = np.cross([0.0, 2.0, 1.0], center) + np.array([2.0, 0.0, 0.0])
    assert relative_error(robot.centroidal.velocity(q, v), turning) < EXACT
    assert relative_error(robot.potential_energy(q), 9.81 * 0.4) < EXACT


def test_the_potential_energy_of_massless_links_is_that_of_their_springs():
    assembly = kt.Assembly("spring", "base", NO_INERTIA)
    assembly.add(
        "ghost",
        "base",
        Revolute("z"),
        Transform.identity(),
        NO_INERTIA,
        drive=kt.Drive(stiffness=4.0),
    )
    assert assembly.robot("fixed").potential_energy([0.5]) == pytest.approx(0.5)
