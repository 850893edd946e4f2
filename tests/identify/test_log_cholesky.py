"""Log-Cholesky coordinates: one for each inertia that a body can have."""

import numpy as np

import kinetree as kt
from kinetree.identify.log_cholesky import from_coordinates, regular, to_coordinates
from kinetree.identify.parameters import pseudo_inertia

PHI = kt.robots.arm().regressors.parameters.reshape(-1, 10)


def test_coordinates_are_there_and_back():
    P = regular(PHI)
    phi, _ = from_coordinates(to_coordinates(P))
    assert np.allclose(pseudo_inertia(phi), P, rtol=1e-12)


def test_any_coordinates_are_a_body():
    y = np.random.default_rng(0).standard_normal((50, 10))
    phi, _ = from_coordinates(y)
    assert (np.linalg.eigvalsh(pseudo_inertia(phi)) > 0.0).all()
    assert np.allclose(to_coordinates(pseudo_inertia(phi)), y, atol=1e-9)


def test_derivatives_are_those_of_differences():
    y = np.random.default_rng(0).standard_normal((5, 10))
    _, slope = from_coordinates(y)
    h = 1e-6
    steps = [(from_coordinates(y + e)[0] - from_coordinates(y - e)[0]) for e in h * np.eye(10)]
    assert np.allclose(slope, np.stack(steps, axis=-1) / (2 * h), rtol=1e-6, atol=1e-7)


def test_thin_and_massless_bodies_get_a_little_extent():
    thin = np.array([[1.0, 0, 0, 0.5, 1 / 3, 1 / 3, 0, 0, 0, 0], np.zeros(10)])
    assert (np.linalg.eigvalsh(regular(thin)) > 0.0).all()
