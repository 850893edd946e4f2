"""The rule for arrays: what is not plain becomes so first, or is refused; results are plain."""

import warnings

import numpy as np
import pandas as pd
import pytest

import kinetree as kt
from kinetree.errors import DtypeError


@pytest.fixture(scope="module")
def arm():
    return kt.robots.arm()


class Labelled(np.ndarray):
    """An array of somebody else's."""


def square(robot, seed=0):
    """As many states as the robot has coordinates: a transposed batch has the same shape."""
    return robot.random(seed, robot.nq)


def test_a_data_frame_counts_by_its_rows(arm):
    q = square(arm)
    frame = pd.DataFrame(q, columns=[f"x{7 - i}" for i in range(7)], index=range(7)[::-1])
    found = arm.gravity_forces(frame)
    assert type(found) is np.ndarray
    assert (found == arm.gravity_forces(q)).all()


def test_frames_with_different_labels_are_taken_by_position(arm):
    q, v, a = (square(arm, seed) for seed in range(3))
    frames = pd.DataFrame(q, columns=list("abcdefg")), pd.DataFrame(v, columns=list("gfedcba"))
    assert (arm.inverse_dynamics(*frames, a) == arm.inverse_dynamics(q, v, a)).all()
    for several in (arm.linearize, arm.inverse_dynamics_derivatives):
        for found, plain in zip(several(*frames, a), several(q, v, a), strict=True):
            assert type(found) is np.ndarray
            assert (found == plain).all()


def test_one_row_of_a_frame_is_one_state(arm):
    q = square(arm)
    assert (arm.gravity_forces(pd.DataFrame(q).iloc[2]) == arm.gravity_forces(q[2])).all()


@pytest.mark.parametrize("mask", [False, [True] + [False] * 6])
def test_masked_arrays_are_refused(arm, mask):
    masked = np.ma.masked_array(np.zeros(7), mask)
    with pytest.raises(DtypeError, match=r"q is a masked array.*filled"):
        arm.gravity_forces(masked)
    with pytest.raises(DtypeError, match="out for tau is a masked array"):
        arm.gravity_forces(np.zeros(7), out=masked)
    with pytest.raises(DtypeError, match="q is a masked array"):
        arm.linearize(masked, np.zeros(7), np.zeros(7))


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_other_byte_orders_have_the_precision_they_say(arm, kind):
    q = square(arm).astype(f"<{kind}")
    swapped = q.astype(f">{kind}")
    for given, native in ((swapped, q), (swapped[0], q[0])):
        found = arm.gravity_forces(given)
        assert found.dtype == q.dtype
        assert found.dtype.isnative
        assert (found == arm.gravity_forces(native)).all()


def test_subclasses_become_plain_arrays(arm, tmp_path):
    q = square(arm)
    mapped = np.memmap(tmp_path / "states", dtype=float, mode="w+", shape=q.shape)
    mapped[:] = q
    for given in (mapped, q.view(Labelled)):
        found = arm.gravity_forces(given)
        assert type(found) is np.ndarray
        assert (found == arm.gravity_forces(q)).all()
    assert arm.gravity_forces(q, out=mapped) is mapped
    assert (mapped == arm.gravity_forces(q)).all()


def test_a_number_a_state_is_an_array_too(arm):
    q, v = square(arm), np.ones(7)
    strided = np.repeat(q[0], 2)[::2]
    for state in (q[0], q[0].tolist(), strided, q[0].astype(np.float32)):
        energy = arm.kinetic_energy(state, v)
        assert type(energy) is np.ndarray
        assert energy.shape == ()
    assert arm.kinetic_energy(q[:1], v).shape == (1,)


@pytest.mark.parametrize("batch", [(), (1,), (1, 1), (3,), (40,)])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_nan_warns_nowhere(arm, batch, kind):
    q = np.full((*batch, 7), np.nan, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(arm.mass_matrix(q)).any()
        assert np.isnan(arm.forward_dynamics(np.zeros(7, kind), q, q)).any()


def test_a_batch_of_one_has_the_shape_of_its_batch(arm):
    q, v = square(arm), np.ones(7)
    expected = arm.inverse_dynamics(q[0], v, v)
    for axes in range(1, 6):
        state = q[0].reshape((1,) * axes + (7,))
        found = arm.inverse_dynamics(state, v, v[None])
        assert found.shape == state.shape
        assert (found.ravel() == expected).all()
        assert arm.mass_matrix(state).shape == (*state.shape, 7)


def test_a_long_batch_in_pieces_has_the_same_bits(arm, monkeypatch):
    q, v = arm.random(0, (3, 50)), np.ones((50, 7))
    whole = arm.coriolis.with_mass_matrix(q, v)
    one = arm.mass_matrix(q)
    monkeypatch.setattr("kinetree.compiler.runtime.host_program.SMALL", 0)
    monkeypatch.setattr("kinetree.compiler.runtime.pieces.ELEMENTS", 1000)
    for found, expected in zip(arm.coriolis.with_mass_matrix(q, v), whole, strict=True):
        assert (found == expected).all()
    room = np.empty((151, 7))
    room[:150] = q.reshape(150, 7)
    moved = arm.integrate(q.reshape(150, 7), v[0])
    assert (arm.integrate(room[:150], v[0], out=room[1:]) == moved).all()
    assert (arm.mass_matrix(q.astype(np.float32)) - one).max() < 1e-4
