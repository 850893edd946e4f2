"""Guenter & Rose's partials as they are printed, and as they are: what complex steps say.

One revolute joint a link, about z; link 2 of a chain of three is differentiated by its own joint.
"""

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.balafoutis_patel import base_to_tips
from kinetree.algorithms.tree import parent_transforms, subspaces
from tests.algorithms.test_kinematics import STEP
from tests.tolerances import EXACT, relative_error

MODEL = kt.robots.chain(3).model
RNG = np.random.default_rng(0)
Q, V, A = RNG.standard_normal((3, 3)).tolist()
J = 1  # the joint
Z = np.array(list(MODEL.bodies[J].joint.subspace([0.0])[0].angular), dtype=float)


def links(q=Q, v=V, a=A):
    X = parent_transforms(MODEL, q)
    return X, base_to_tips(MODEL, X, subspaces(MODEL, q), q, v, a, ())


def array(vector):
    return np.array(list(vector))


def by_complex_step(quantity, which):
    """The derivative of a link's vector by q, q' or q'' of joint J."""
    state = [list(Q), list(V), list(A)]
    state[which][J] += complex(0.0, STEP)
    return array(quantity(links(*state)[1])).imag / STEP


X, AT_REST = links()
BACK = np.array([list(row) for row in X[J].rotation.T.rows])  # A_j^T
D_BACK = -np.cross(Z, np.eye(3), axisb=0, axisc=0) @ BACK  # d A_j^T / d q_j
W_BEFORE, DW_BEFORE = array(AT_REST.w[J - 1]), array(AT_REST.dw[J - 1])
RATE = V[J]


@pytest.mark.parametrize(
    ("quantity", "which", "printed", "right"),
    [
        (  # d omega'_j / d q_j
            lambda found: found.dw[J],
            0,
            D_BACK @ DW_BEFORE + np.cross(D_BACK @ DW_BEFORE, Z * RATE),
            D_BACK @ DW_BEFORE + np.cross(D_BACK @ W_BEFORE, Z * RATE),
        ),
        (  # d omega'_j / d q_j', the tilde put where only it can be
            lambda found: found.dw[J],
            1,
            (BACK @ W_BEFORE) * Z,
            np.cross(BACK @ W_BEFORE, Z),
        ),
        (  # d s''_j / d q_j, with gravity as it is felt
            lambda found: found.dds[J],
            0,
            None,
            D_BACK @ (array(AT_REST.dds[J - 1]) + array(AT_REST.Omega[J - 1] @ X[J].translation)),
        ),
    ],
    ids=["angular acceleration by angle", "by velocity", "acceleration by angle"],
)
def test_the_initial_conditions_are_as_derived_and_not_as_printed(quantity, which, printed, right):
    truth = by_complex_step(quantity, which)
    assert relative_error(right, truth) < EXACT
    if printed is not None:
        assert relative_error(printed, truth) > 0.01


def test_the_printed_gradient_of_the_energy_lacks_its_forces():
    robot = kt.Robot(MODEL)
    q, v, a = np.array(Q), np.array(V), np.array(A)
    dq, dv, da = robot.inverse_dynamics_derivatives(q, v, a)
    tau = robot.inverse_dynamics(q, v, a)
    # theta_j shifts q_j alone: its rates with q', q'' are zero
    h = 1e-6
    shift = h * np.eye(3)[J]
    slope = (
        (robot.inverse_dynamics(q + shift, v, a) ** 2).sum()
        - (robot.inverse_dynamics(q - shift, v, a) ** 2).sum()
    ) / (2 * h)
    assert 2 * (tau @ dq[:, J]) == pytest.approx(slope, rel=1e-6)
    printed = 2 * (dq[:, J] + dv[:, J] + da[:, J]).sum()
    assert abs(printed - slope) > 0.1 * abs(slope)
