"""The tolerances of all tests: a multiple of the rounding unit times a physical scale.

Each is relative to the largest entry of what is compared, because that is the scale on which the
sums behind an entry round.
"""

import numpy as np

EPS = float(np.finfo(np.float64).eps)
EPS_SINGLE = float(np.finfo(np.float32).eps)

# A few hundred operations deep, each rounding once, errors adding up at random: observed below
# 100 eps on every robot; a wrong formula is wrong by far more.
EXACT = 1000 * EPS

# Against a peer that orders its sums differently, on robots of up to a hundred bodies.
PEER = 1e-10

# Single precision through the same kernels.
SINGLE = 2000 * EPS_SINGLE


def relative_error(actual, expected) -> float:
    """The largest difference over the largest entry (over one, if all entries are smaller)."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    if not expected.size:
        return 0.0
    assert np.isfinite(expected).all()
    scale = max(1.0, float(np.abs(expected).max()))
    return float(np.abs(actual - expected).max()) / scale


def solved(M, tau) -> float:
    """The tolerance of the accelerations of forces tau: what rounds in tau is divided by M."""
    size = max(float(np.linalg.norm(M, 2)), float(np.abs(tau).max()))
    return EXACT * max(1.0, size * float(np.linalg.norm(np.linalg.inv(M), 2)))
