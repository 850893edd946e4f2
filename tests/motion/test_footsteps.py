"""Plans of the supports between two recorded motions."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.motion import human
from kinetree.motion.footsteps import planned

FIGURE = kt.robots.human()
FEET = dict.fromkeys(("left_foot", "right_foot"))
WALK, SLOWER = human.stroll(FIGURE), human.stroll(FIGURE, length=0.3, period=0.7)
STAND = human.stand(FIGURE)


def phases(plan):
    return {
        foot: [(x.first, min(x.last, plan.duration)) for x in plan.supports if x.frame == foot]
        for foot in FEET
    }


def place(plan, enter, foot):
    return FIGURE.pose(plan.second.at(enter).q, foot)[:3, 3]


def test_the_second_motion_is_moved_to_where_a_foot_stands():
    plan = planned(WALK, 0.0, STAND, 0.5, FEET, 0.6)
    stays = [x.frame for x in plan.supports if x.last == np.inf and x.first == 0.0]
    assert len(stays) == 1
    assert np.allclose(place(plan, 0.5, stays[0]), FIGURE.pose(WALK.q[0], stays[0])[:3, 3])
    other = next(foot for foot in FEET if foot != stays[0])
    lifts, lands = phases(plan)[other]
    assert lifts[0] == 0.0
    assert lands[1] == 0.6
    assert lands[0] - lifts[1] >= 0.2  # it has time to step
    assert np.allclose(plan.second.v, STAND.v)


def test_a_walk_goes_on_with_the_steps_of_both():
    """The next footfall is between where the first motion has it and the second would."""
    plan = planned(WALK, 0.3, SLOWER, 1.05, FEET)
    # half a period of each is left, and the feet are on the lines on which they were
    assert plan.duration == pytest.approx(0.3 + 0.35, abs=0.04)
    assert np.allclose(place(plan, 1.05, "right_foot"), [0.35, -human.HIP, human.ANKLE], atol=1e-6)
    (left,), (right,) = phases(plan).values()
    assert left[0] == 0.0
    assert right[1] == plan.duration
    # the weight goes from one foot to the other while both stand
    assert right[0] == pytest.approx(0.5 * plan.duration - 0.04, abs=0.03)
    assert left[1] == pytest.approx(0.5 * plan.duration + 0.11, abs=0.03)


def test_a_foot_that_stands_in_both_stays_until_the_walk_is_as_far():
    plan = planned(WALK, 0.6, WALK, 0.9, FEET)
    assert plan.duration == pytest.approx(0.3, abs=0.02)
    assert np.allclose(plan.second.q, WALK.q, atol=1e-9)
    assert phases(plan)["right_foot"] == [(0.0, plan.duration)]
    assert phases(plan)["left_foot"][0][1] == pytest.approx(0.13, abs=0.02)


def test_a_foot_that_steps_lifts_when_its_recording_lifts_it():
    """The support on which it stands is neither its next one nor its last one."""
    for leave in (0.0, 1.2):  # a period apart
        for enter in (0.0, 0.1):
            plan = planned(WALK, leave, SLOWER, enter, FEET, 0.6)
            lifts, lands = phases(plan)["right_foot"]
            assert lifts[1] == pytest.approx(0.133, abs=2e-3)
            assert lands[0] == pytest.approx(0.51, abs=2e-3)


def test_a_turned_walk_is_followed_in_its_direction():
    q = WALK.q.copy()
    q[:, :2] = np.stack([-WALK.q[:, 1], WALK.q[:, 0]], axis=1)
    q[:, 3:7] = [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]  # by 90 degrees about the vertical
    turned = kt.Motion(FIGURE, WALK.times, q)
    plan = planned(WALK, 0.3, turned, 0.9, FEET)
    straight = planned(WALK, 0.3, WALK, 0.9, FEET)
    assert plan.duration == straight.duration
    assert np.allclose(plan.second.q, straight.second.q, atol=1e-6)


def test_standing_figures_take_the_usual_time():
    plan = planned(STAND, 0.0, STAND, 0.5, FEET)
    assert plan.duration == 0.6
    assert all(x.first == 0.0 and x.last == np.inf for x in plan.supports)


def test_feet_that_move_do_not_stand():
    """Where the recording is left just as the left foot lifts, only the right foot stands."""
    assert WALK.robot.velocity(*tuple(WALK.at(0.75))[:2], "left_foot")[0] > 0.1
    plan = planned(WALK, 0.75, SLOWER, 1.05, FEET)
    assert phases(plan)["left_foot"] == []


def test_where_recordings_end_usual_shares_are_taken():
    early, late = WALK.cut(0.0, 0.3), SLOWER.cut(1.05, 1.2)
    plan = planned(early, 0.3, late, 0.0, FEET, 1.0)
    assert phases(plan) == {"left_foot": [(0.0, 0.6)], "right_foot": [(0.4, 1.0)]}
