"""A load in one call."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ModelError
from kinetree.identify import payload
from tests.identify.motions import made_log

ARM = kt.robots.arm()


def test_a_load_is_found_from_a_motion_with_it():
    inertia = np.diag([0.01, 0.012, 0.008])
    real = ARM.edit.attach_payload("tool", 2.0, (0.02, 0.01, 0.05), inertia)
    load = payload(ARM, made_log(ARM, real, noise=0.05), "tool")
    assert load.mass == pytest.approx(2.0, abs=0.01)
    assert np.allclose(load.com, (0.02, 0.01, 0.05), atol=1e-3)
    assert np.allclose(load.inertia, inertia, atol=3e-3)
    assert (
        np.abs(load.phi - payload(ARM, made_log(ARM, real), "tool").phi) < 5 * load.deviations
    ).all()
    q, v, a = np.random.default_rng(0).standard_normal((3, 7))
    expected = real.inverse_dynamics(q, v, a)
    assert np.allclose(load.robot.inverse_dynamics(q, v, a), expected, rtol=0.02, atol=0.1)


def test_a_frame_of_the_world_carries_nothing():
    with pytest.raises(ModelError, match="fixed to the world"):
        payload(ARM, made_log(ARM, ARM), ARM.frames[0])
