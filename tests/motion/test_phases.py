"""Optimal control under phases of constraints: impacts, forces in costs, what is refused."""

import numpy as np
import pytest

import kinetree as kt
from kinetree import joints
from kinetree.constraints import HeldFrame
from kinetree.errors import KinetreeError, UnknownNameError
from kinetree.motion.costs import quadratic_cost, squares

G = 9.81


def hopper(**held):
    """A body on a rail that a motor moves relative to its foot, both along z."""
    a = kt.Assembly("hopper")
    small = (1e-3, 1e-3, 1e-3)
    a.add("body", "base", joints.Prismatic("z"), (0, 0, 0), small, mass=4.0)
    a.add("foot", "body", joints.Prismatic("z"), (0, 0, -0.5), small, mass=1.0)
    return a.robot().constrain(HeldFrame("stand", "foot", rows=("z",), **held))


HOPPER = hopper(at_base=(0.0, 0.0, -0.5))
MOTOR = [False, True]


def hop(cost, steps=30, phases=None, **how):
    final = how.pop("final", None)
    return HOPPER.optimal_control(
        cost, final, steps=steps, dt=0.01, actuated=MOTOR, phases=phases, **how
    )


def high(t, q, v, tau, pose):
    return [10.0 * (q[0] - 0.1), 0.1 * v[0], 1e-3 * tau[1]]


@pytest.fixture(scope="module")
def standing():
    return hop(high)


def test_held_frames_carry_the_weight_and_stay(standing):
    found = standing.solve([0.0, 0.0], [0.0, 0.0])
    assert found.converged, found.message
    assert found.drift < 1e-8
    assert np.allclose(found.q[:, 0] + found.q[:, 1], 0.0, atol=1e-8)
    force = found.forces()["stand"][:, 0]
    momentum = 4.0 * np.diff(found.v[:, 0]) / 0.01
    assert np.allclose(force, 5.0 * G + momentum, atol=1e-6)


def test_controls_that_hold_the_first_state_are_the_start(standing):
    u = standing.holding(np.zeros(2))
    q, v = standing.roll(np.zeros(2), np.zeros(2), u)
    assert np.abs(v).max() < 1e-9
    assert np.abs(q).max() < 1e-9


def test_no_small_change_of_the_controls_lowers_the_cost(standing):
    found = standing.solve([0.0, 0.0], [0.0, 0.0], tolerance=1e-13)
    rng, h = np.random.default_rng(0), 1e-3
    for _ in range(3):
        d = rng.standard_normal(found.u.shape)
        sides = []
        for k in (1, -1):
            u = found.u + k * h * d
            sides.append(standing.costs(*standing.roll(np.zeros(2), np.zeros(2), u), u))
        assert abs(sides[0] - sides[1]) / (2 * h) < 1e-5 * found.value


def test_a_frame_that_touches_down_is_at_rest_after_an_impact():
    phases = [kt.Phase(0.1, ("stand",)), kt.Phase(0.2, ()), kt.Phase(0.3, ("stand",))]
    problem = hop(lambda t, q, v, tau, pose: [1e-2 * tau[1]], phases=phases)
    u = np.zeros((30, 1))
    q, v = problem.roll(np.array([0.0, 0.0]), np.zeros(2), u)
    foot = v.sum(axis=1)
    assert np.allclose(foot[10:20], -G * np.arange(0.0, 0.1, 0.01), atol=1e-9)  # free fall
    before = np.array([v[20, 0], v[20, 1]])
    after, impulse = HOPPER.constraints.impact(q[20], before + 0.01 * np.array([-G, 0.0]))
    error = HOPPER.constraints.errors(q[20])[0]
    assert abs(foot[21]) < 0.3 * abs(error) / 0.01  # at rest, but for the way back to its place
    state = q[20], v[20], problem.forces(q[20], v[20], u[20])
    force = problem.step.forces(*state, problem.active()[20])
    back = -error / (4 * 0.01**2) * 0.01  # Baumgarte's speed towards the place
    assert impulse[0] / 0.01 + 1.0 * back / 0.01 == pytest.approx(float(force[0]), rel=1e-6)
    assert after.sum() == pytest.approx(0.0, abs=1e-12)


def test_forces_in_costs_are_differentiated_as_they_act():
    def gentle(t, q, v, tau, pose, force):
        return [10.0 * (q[0] - 0.1), 0.02 * (force("stand")[0] - 5.0 * G)]

    def hard(t, q, v, tau, pose, force):
        return [10.0 * (q[0] - 0.1), 0.0005 * (force("stand")[0] - 5.0 * G)]

    soft, fast = (hop(x).solve([0.0, 0.0], [0.0, 0.0], tolerance=1e-13) for x in (gentle, hard))
    assert soft.converged, soft.message
    assert fast.converged, fast.message
    spread = [np.abs(x.forces()["stand"][:, 0] - 5.0 * G).max() for x in (soft, fast)]
    assert spread[0] < 0.5 * spread[1]
    rng, h, problem = np.random.default_rng(0), 1e-3, soft.problem
    d = rng.standard_normal(soft.u.shape)
    sides = []
    for k in (1, -1):
        u = soft.u + k * h * d
        sides.append(problem.costs(*problem.roll(np.zeros(2), np.zeros(2), u), u))
    assert abs(sides[0] - sides[1]) / (2 * h) < 1e-5 * soft.value


def test_a_batch_is_solved_as_each_alone(standing):
    starts = np.array([[0.0, 0.0], [0.05, -0.05], [-0.03, 0.03]])
    batch = standing.solve(starts, np.zeros(2))
    alone = standing.solve(starts[1], np.zeros(2))
    assert batch.converged.all()
    assert batch.value[1] == pytest.approx(float(alone.value), rel=1e-8)


def test_inequalities_of_forces_hold_and_are_named():
    def light(t, q, v, tau, pose, force):
        return {"load": force("stand")[0] - 60.0, "lift": -force("stand")[0]}

    free = hop(high).solve([0.0, 0.0], [0.0, 0.0])
    assert free.forces()["stand"].max() > 60.0
    found = hop(high, inequalities=light).solve([0.0, 0.0], [0.0, 0.0])
    assert found.converged, found.message
    assert found.forces()["stand"].max() < 60.0 + 1e-6
    assert found.violation <= 1e-6
    assert found.value > free.value


def test_what_cannot_be_kept_is_named_with_its_time():
    def empty(t, q, v, tau, pose, force):
        return {"load": force("stand")[0] - 10.0}  # less than the weight, all the time

    found = hop(high, inequalities=empty, steps=40, final_equalities=rest).solve(
        [0.0, 0.0], [0.0, 0.0], iterations=300
    )
    assert not found.converged
    assert "load at" in found.message or "rest" in found.message
    assert " s is violated by " in found.message


def rest(q, v, pose):
    return {"rest": [v[0], v[1]], "place": q[0]}


def test_a_frame_that_lands_away_from_its_place_is_no_solution():
    phases = [kt.Phase(0.1, ()), kt.Phase(0.3, ("stand",))]
    free = [1e-2, 1e-2]
    found = hop(lambda t, q, v, tau, pose: [free[0] * tau[1]], phases=phases).solve(
        [0.3, 0.0], [0.0, 0.0]
    )
    assert not found.converged
    assert "'stand.z' is" in found.message
    assert "from where it is held at 0.1" in found.message


@pytest.mark.slow
def test_the_steps_of_the_quadruped_are_differentiated():
    feet = [f"{x}_{y}_foot" for x in ("front", "hind") for y in ("left", "right")]
    dog = kt.robots.quadruped().constrain(
        *(HeldFrame(f, f, rows=("x", "y", "z"), anywhere=True) for f in feet)
    )
    motors = np.arange(dog.nv) >= 6
    costs = quadratic_cost(dog, dog.neutral())
    phases = [kt.Phase(0.01, (feet[0], feet[3])), kt.Phase(0.02, ())]
    problem = dog.optimal_control(*costs, steps=2, dt=0.01, actuated=motors, phases=phases)
    rng, h = np.random.default_rng(0), 1e-6
    q, v, u = dog.random(rng), rng.standard_normal(18), rng.standard_normal(12)
    for active in problem.active():
        linear = problem.step.linear(q, v, problem.forces(q, v, u), active, True)
        d = rng.standard_normal(48)
        ends = []
        for size in (h, -h):
            state = dog.integrate(q, size * d[:18]), v + size * d[18:36]
            tau = problem.forces(*state, u + size * d[36:])
            after = problem.step.after(*state, tau, active)
            ends.append((*after, problem.step.forces(*state, tau, active)))
        way = np.concatenate([dog.difference(ends[1][0], ends[0][0]), ends[0][1] - ends[1][1]])
        assert np.allclose(linear.W @ d, way / (2 * h), atol=1e-4 * np.abs(way / h).max())
        forces = (ends[0][2] - ends[1][2]) / (2 * h)
        assert np.allclose(linear.F @ d, forces, atol=1e-4 * max(np.abs(forces).max(), 1.0))


@pytest.mark.parametrize(
    ("phases", "words"),
    [
        ([kt.Phase(0.2, ("stand",)), kt.Phase(0.1, ())], "each must end after the one before"),
        ([kt.Phase(0.2, ("hand",))], "hand"),
        ([kt.Phase(0.2, ("stand",))], "the last one ends at 0.2 s, and a step starts at 0.2 s"),
        ([], "at least one"),
        (["stand"], "a list of kinetree.Phase"),
        ([kt.Phase(float("nan"), ())], "until must be"),
    ],
)
def test_phases_that_make_no_sense_are_refused(phases, words):
    with pytest.raises((KinetreeError, UnknownNameError), match=words):
        hop(high, phases=phases).solve([0.0, 0.0], [0.0, 0.0])


def test_settings_that_do_not_fit_are_refused():
    free = kt.robots.double_pendulum()
    running, final = quadratic_cost(free, np.zeros(2))
    with pytest.raises(KinetreeError, match="no constraints that could act"):
        free.optimal_control(running, final, steps=3, dt=0.01, phases=[kt.Phase(1.0)])
    with pytest.raises(KinetreeError, match="asks for forces"):
        free.optimal_control(lambda t, q, v, tau, pose, force: 0.0, None, steps=3, dt=0.01)
    with pytest.raises(KinetreeError, match="steps are of 'euler'"):
        hop(high, method="rk4")
    with pytest.raises(KinetreeError, match="2 damping rate dt = 1"):
        hop(high, phases=[kt.Phase(1.0, ("stand",))], stabilization=kt.Baumgarte(3.0))
    with pytest.raises(UnknownNameError, match="no force 'hand'"):
        hop(lambda t, q, v, tau, pose, force: squares(force("hand"))).solve([0, 0], [0, 0])


def test_a_function_of_time_says_what_stands():
    problem = hop(high, phases=lambda t: ("stand",) if t % 0.1 < 0.05 - 1e-9 else ())
    assert problem.active()[:10, 0].tolist() == [1.0] * 5 + [0.0] * 5


def test_plans_of_phases_move_a_robot_with_contacts():
    phases = lambda t: ("stand",)  # noqa: E731
    control = hop(high, steps=10, phases=phases).mpc(iterations=1)
    run = control.run([0.0, 0.0], [0.0, 0.0], 0.3)
    assert run.q[-1, 0] > 0.05
    other = control.run([0.0, 0.0], [0.0, 0.0], 0.05, plant=HOPPER.without("constraints"))
    assert other.q[-1].sum() != 0.0
    with pytest.raises(KinetreeError, match="plant"):
        control.run([0.0, 0.0], [0.0, 0.0], 0.05, plant=kt.robots.arm())


def test_contacts_are_found_where_the_optimum_needs_them():
    from kinetree.geometry import Collider, ContactPair, Plane, Sphere

    ball = hopper().without("constraints")
    jumper = ball.collide(
        Collider("ground", None, Plane(), (0.0, 0.0, -0.6)),
        Collider("ball", "foot", Sphere(0.1)),
        ContactPair("ground", "ball"),
    )
    problem = jumper.optimal_control(
        lambda t, q, v, tau, pose, force: [q[0], 1e-3 * tau[1], 1e-5 * force("ground/ball")[2]],
        lambda q, v, pose: [30.0 * (q[0] - 0.25), v[0]],
        steps=40,
        dt=0.01,
        actuated=MOTOR,
    )
    start = [-0.001, 0.0]
    found = problem.solve(start, [0.0, 0.0], iterations=200)
    assert found.converged, found.message
    assert found.q[-1, 0] == pytest.approx(0.25, abs=0.01)
    height = found.q.sum(axis=1)[:-1]
    force = found.forces()["ground/ball"][:, 2]
    assert force.max() > 100.0 > 5.0 * G  # it pushes off
    assert np.abs(force[height > 0.0]).max(initial=0.0) < 1e-9  # and nothing acts in flight
    assert (height[-3:] > 0.0).all()
    smooth = slice(1, 15)  # steps in which the foot stands: no kink is near
    tau = problem.forces(found.q[:-1], found.v[:-1], found.u)
    state = found.q[:-1][smooth], found.v[:-1][smooth], tau[smooth]
    linear = problem.step.linear(*state, problem.active()[smooth], True)
    d, h = np.random.default_rng(0).standard_normal(2), 1e-6
    sides = [problem.step.forces(state[0], state[1] + k * h * d, state[2], None) for k in (1, -1)]
    slope = (sides[0] - sides[1]) / (2 * h)
    assert np.allclose(linear.F[..., 2:4] @ d, slope, atol=1e-5 * np.abs(slope).max())


def test_states_stay_within_the_limits_of_the_robot():
    a = kt.Assembly("slider")
    limits = kt.Limits(lower=-1.0, upper=0.04, velocity=0.2)
    a.add("body", "base", joints.Prismatic("x"), inertia=(1e-3,) * 3, mass=1.0, limits=limits)
    slider = a.robot()

    def away(t, q, v, tau, pose):
        return [q[0] - 0.1, 1e-3 * tau[0]]

    how = {"steps": 50, "dt": 0.01, "bounded": ("q", "v")}
    found = slider.optimal_control(away, **how).solve([0.0], [0.0])
    assert found.converged, found.message
    assert found.q.max() == pytest.approx(0.04, abs=2e-6)
    assert found.v.max() == pytest.approx(0.2, abs=2e-6)
    outside = slider.optimal_control(away, **how).solve([0.2], [0.0], iterations=300)
    assert not outside.converged
    assert "the upper position limit of 'body_joint' at 0.01 s is violated" in outside.message
    with pytest.raises(UnknownNameError, match="bounded quantity"):
        slider.optimal_control(away, steps=3, dt=0.01, bounded=("a",))
