"""Transitions on supports: derivatives, ground forces, phases, messages, recorded motions."""

import numpy as np
import pytest
from benchmarks.motion_supports import DURATION, HOW, outside, walking

import kinetree as kt
from kinetree.errors import KinetreeError
from kinetree.motion import human
from kinetree.motion.flat import Flat, states_of
from kinetree.motion.stance import Sole, Stance
from kinetree.motion.transition_problem import Problem
from kinetree.motion.transition_settings import Settings, checked
from kinetree.robot.ball_excess import ball_excess
from tests.motion.bipeds import biped, standing

ROBOT = biped()
FLAT = Flat(ROBOT)
WEIGHT = 9.81 * ROBOT.total_mass
LOW, HIGH = standing(ROBOT, 0.6), standing(ROBOT, 0.3)
BOTH = [kt.Support("left_foot"), kt.Support("right_foot")]


def problem(supports, first=HIGH, second=LOW, duration=0.6):
    settings = checked(Settings(coefficients=9, supports=supports))
    ends = states_of(ROBOT, first, "first"), states_of(ROBOT, second, "second")
    return Problem(FLAT, *ends, duration, settings)


def banded_product(bands, d):
    """The symmetric band matrix times a vector."""
    out = np.zeros_like(d)
    for k in range(len(bands)):
        for i in range(min(bands.shape[1], len(bands) - k)):
            out[k + i] += bands[k, i] @ d[k]
            if i:
                out[k] += bands[k, i].T @ d[k + i]
    return out


@pytest.mark.slow
def test_derivatives_of_the_least_effort_over_ground_forces():
    given = problem([kt.Support("left_foot"), kt.Support("right_foot", last=0.25)])
    given.prepare(np.array([1e4]), np.array([1e3]))
    rng, every, h = np.random.default_rng(0), np.arange(1), 1e-6
    c = given.start()
    c = c + 0.02 * rng.standard_normal(c.shape)
    d = rng.standard_normal(c.shape)
    at = given.objective.expansion(c, every, True)
    values = [given.objective.values(c + k * h * d, every)[0] for k in (1, -1)]
    slope = (at.gradient * d).sum()
    assert (values[0] - values[1]) / (2 * h) == pytest.approx(slope, rel=1e-6)
    slopes = [given.objective.expansion(c + k * h * d, every, True).gradient for k in (1, -1)]
    curved = (slopes[0] - slopes[1])[0] / (2 * h)
    assert np.allclose(banded_product(at.bands[0], d[0]), curved, atol=1e-3 * np.abs(curved).max())


@pytest.fixture(scope="module")
def squat():
    return ROBOT.transition(HIGH, LOW, 0.6, supports=BOTH, coefficients=12)


@pytest.mark.slow
def test_the_ground_produces_the_wrench_on_the_root(squat):
    assert squat.converged, squat.message
    times = np.linspace(0.0, 0.6, 301)
    state, forces = squat.at(times), squat.ground_forces(times)
    for frame in ("left_foot", "right_foot"):
        moved = ROBOT.pose(state.q, frame) - ROBOT.pose(HIGH, frame)
        assert np.abs(moved).max() < 1e-3
        assert (forces.wrenches[frame][:, 2] > 0.0).all()
        assert (forces.friction[frame] <= 1.0 + 1e-6).all()
        place = forces.pressure[frame] - ROBOT.pose(HIGH, frame)[:3, 3]
        assert (np.abs(place[:, 0] - 0.03) <= 0.1 + 1e-6).all()
        assert (np.abs(place[:, 1]) <= 0.05 + 1e-6).all()
    # independently: Kinetree's inverse dynamics with these wrenches as external ones
    external = {}
    for frame, wrench in forces.wrenches.items():
        at = ROBOT.pose(state.q, frame)[:, :3, 3]
        moment = wrench[:, 3:] - np.cross(at, wrench[:, :3])
        turned = ROBOT.pose(state.q, frame)[:, :3, :3].swapaxes(-1, -2)
        external[frame] = np.concatenate(
            [
                (turned @ wrench[:, :3, None])[..., 0],
                (turned @ moment[..., None])[..., 0],
            ],
            axis=-1,
        )
    tau = ROBOT.inverse_dynamics(*state, external=external)
    assert np.abs(tau[:, :6]).max() < 1e-8 * WEIGHT
    assert np.allclose(tau[:, 6:], forces.tau[:, 6:], atol=1e-8 * WEIGHT)
    effort = np.trapezoid((tau[:, 6:] ** 2).sum(axis=1), times)
    assert effort == pytest.approx(float(squat.value), rel=1e-3)
    total = sum(w[:, 2] for w in forces.wrenches.values())
    momentum = ROBOT.momentum(state.q, state.v)[:, 2]
    assert np.trapezoid(total, times) - 0.6 * WEIGHT == pytest.approx(
        momentum[-1] - momentum[0], abs=1e-3 * WEIGHT
    )


@pytest.mark.slow
def test_a_foot_is_lifted_once_the_other_carries_the_weight():
    goal = standing(ROBOT, 0.3, 0.0, -0.17)
    supports = [kt.Support("left_foot"), kt.Support("right_foot", last=0.3)]
    found = ROBOT.transition(HIGH, goal, 0.9, supports=supports, coefficients=16, tolerance=1e-4)
    assert found.converged, found.message
    forces = found.ground_forces(np.linspace(0.31, 0.9, 60))
    assert not forces.wrenches["right_foot"].any()
    assert np.isnan(forces.pressure["right_foot"]).all()
    place = forces.pressure["left_foot"][:, 1]
    assert (place > 0.05 - 1e-6).all()
    assert (place < 0.15 + 1e-6).all()


@pytest.mark.slow
def test_a_hop_flies_along_a_parabola():
    """No force acts in flight, and the centre of mass falls with the acceleration of gravity."""
    up, down = 0.3, 0.5
    feet = ("left_foot", "right_foot")
    supports = [kt.Support(foot, last=up) for foot in feet]
    supports += [kt.Support(foot, first=down) for foot in feet]
    how = {"coefficients": 35, "tolerance": 1e-4}
    found = ROBOT.transition(LOW, LOW, 0.8, supports=supports, **how)
    assert found.converged, found.message
    times = np.linspace(up, down, 41)
    state, forces = found.at(times), found.ground_forces(times[1:-1])
    assert not any(wrench.any() for wrench in forces.wrenches.values())
    assert np.abs(ROBOT.inverse_dynamics(*state)[:, :6]).max() < 0.02 * WEIGHT
    center = ROBOT.center_of_mass(state.q)
    fit = np.polyfit(times, center[:, 2], 2)
    assert fit[0] == pytest.approx(-9.81 / 2.0, rel=5e-3)
    assert np.abs(np.polyval(fit, times) - center[:, 2]).max() < 1e-4
    rise = ROBOT.momentum(state.q[0], state.v[0])[2] / ROBOT.total_mass
    assert rise == pytest.approx(9.81 * (down - up) / 2.0, rel=0.02)
    straight = np.linspace(center[0, :2], center[-1, :2], 41)
    assert np.abs(center[:, :2] - straight).max() < 1e-3
    off = ROBOT.pose(state.q, "left_foot")[:, 2, 3] - ROBOT.pose(LOW, "left_foot")[2, 3]
    assert off[20] > 0.01
    said = [x.constraint for x in found.violations() if not x.constraint.startswith("frame")]
    assert len(set(said)) == len(said)  # one violation for each constraint


@pytest.mark.slow
def test_what_the_ground_cannot_do_is_said_by_frame_and_time():
    away = standing(ROBOT, 0.3, 0.0, 0.17)  # the weight goes to the right, the left foot stands
    supports = [kt.Support("left_foot"), kt.Support("right_foot", last=0.2)]
    found = ROBOT.transition(HIGH, away, 0.6, supports=supports, coefficients=9, iterations=15)
    assert not found.converged
    assert "'left_foot'" in found.message
    assert "t = " in found.message


@pytest.mark.slow
def test_a_foot_that_starts_away_from_its_support_is_said():
    target = ROBOT.pose(HIGH, "right_foot").copy()
    target[0, 3] += 0.1
    supports = [kt.Support("left_foot"), kt.Support("right_foot", target=target)]
    found = ROBOT.transition(HIGH, LOW, 0.6, supports=supports, coefficients=9, iterations=10)
    assert not found.converged
    assert "frame 'right_foot' strays by" in found.message


@pytest.mark.parametrize(
    ("supports", "settings", "message"),
    [
        ([kt.Support("left_toe")], {}, "no frame 'left_toe'"),
        ([kt.Support("left_foot", first=0.7)], {}, "outside of the transition"),
        ([kt.Support("left_foot", first=0.2, last=0.3)], {}, "give target="),
        ([kt.Support("left_foot", last=0.0)], {}, "ends at 0 s"),
        ([kt.Support("left_foot", friction=0.0)], {}, "friction"),
        ([kt.Support("left_foot", area=np.zeros((2, 2)))], {}, "area has shape"),
        ([kt.Support("left_foot"), kt.Support("left_foot", first=0.3)], {}, "stands twice"),
        (BOTH, {"points": 1}, "points must be a whole number of at least 2"),
        (BOTH, {"root": 0.0}, "no other force on its root"),
        (BOTH, {"bounded": ("tau",)}, "bounded='tau'"),
    ],
)
def test_supports_without_meaning_are_refused(supports, settings, message):
    with pytest.raises(KinetreeError, match=message):
        ROBOT.transition(HIGH, LOW, 0.6, supports=supports, **settings)


def test_supports_need_a_floating_base():
    arm = kt.robots.arm()
    with pytest.raises(KinetreeError, match="floating base"):
        arm.transition(np.zeros(7), np.ones(7), 1.0, supports=[kt.Support("tool")])


def test_what_supports_cannot_produce_is_zero():
    """In flight the whole wrench, on points the moments about them; on a sole nothing."""
    points = np.array([[0.2, 0.1, 0.0], [-0.2, -0.1, 0.0], [0.2, -0.1, 0.0]])
    corners = np.array([[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.05, 0.05)])
    normal = np.array([0.0, 0.0, 1.0])
    lost = {}
    for name, places in {"sole": [corners], "2": points[:2, None], "3": points[:, None]}.items():
        given = [kt.Support(f"foot {k}", last=0.5) for k in range(len(places))]
        soles = [[Sole.of(x, normal, 0.8)] for x in places]
        standing_then_flying = Stance(given, soles).on(np.array([0.2, 0.7]), 0.0)
        lost[name] = [np.linalg.matrix_rank(x) for x in standing_then_flying.lost[0]]
        assert np.allclose(standing_then_flying.lost[0, 1], np.eye(6))
    assert lost == {"sole": [0, 6], "2": [1, 6], "3": [0, 6]}


def test_a_force_at_a_corner_is_at_the_edge_of_the_area():
    corners = np.array([[x, y, 0.3] for x in (1.0, 1.2) for y in (-0.05, 0.05)])
    sole = Sole.of(corners, np.array([0.0, 0.0, 1.0]), 0.8)
    for point, most in ((corners[0], 0.0), (corners.mean(axis=0), -1e-3), ([1.3, 0, 0.3], None)):
        force = np.array([0.0, 0.0, 2.0])
        wrench = np.concatenate([force, np.cross(point, force)])
        rows = sole.rows(0.0) @ np.linalg.solve(sole.wrench(), wrench)
        if most is None:
            assert rows.max() > 0.1
        else:
            assert rows.max() <= most + 1e-12


@pytest.fixture(scope="module")
def figure():
    return kt.robots.human()


@pytest.mark.slow
def test_a_human_walks_from_one_motion_into_another(figure):
    first, second, feet = walking(figure)
    found = figure.transition(first, second, DURATION, supports=feet, **HOW)
    assert found.converged, found.message
    times = np.linspace(0.0, DURATION, 301)
    moved, cone, pressure, left = outside(figure, found, feet, times)
    assert moved < 1e-3
    assert max(cone, pressure) <= 1e-6
    assert left < 1e-8
    assert max(x.max() for _, x in ball_excess(figure, found.at(times).q)) < 2e-3
    assert np.abs(found.at(times).v[:, 6:]).max() < 12.0  # nothing spins


def test_supports_are_found_where_feet_stand(figure):
    walk = human.stroll(figure, 2.4, 0.4, 0.6)
    found = kt.motion.find_supports(walk, ("left_foot", "right_foot"))
    left = [x for x in found if x.frame == "left_foot"]
    assert len(left) == 2
    # it stands for 1.2 of the periods of 0.6 s, and begins to move slowly
    assert left[0].first == 0.0
    assert 0.7 < left[0].last < 0.82
    assert left[1].target[0, 3] == pytest.approx(0.8, abs=1e-6)
    with pytest.raises(KinetreeError, match="no frame 'toe'"):
        kt.motion.find_supports(walk, ["toe"])
