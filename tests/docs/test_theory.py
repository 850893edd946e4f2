"""The pages of theory: their counts are those of today, and their formulas hold."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from tests.tolerances import EXACT, relative_error

ROOT = Path(__file__).parents[2]
PAGES = sorted(p for p in (ROOT / "docs").glob("*.md") if "| arm, 7 joints |" in p.read_text())


def tool():
    spec = importlib.util.spec_from_file_location("operations", ROOT / "tools/operations.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_counts_on_a_page_are_those_of_the_kernels():
    operations = tool()
    for page in PAGES:
        text = page.read_text()
        assert operations.ROW.search(text), page.name
        assert operations.counted(text) == text, f"{page.name}: run tools/operations.py"


def test_these_pages_have_counts():
    assert {page.stem for page in PAGES} == {
        "coriolis",
        "derivatives",
        "forward_dynamics",
        "integrators",
        "inverse_dynamics",
        "mass_matrix",
        "regressors",
    }


def test_the_files_that_a_page_names_exist():
    for page in PAGES:
        for name in re.findall(r"`kinetree/([\w/]+\.py)`", page.read_text()):
            assert (ROOT / "src/kinetree" / name).exists(), (page.name, name)


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def cross(V):
    return np.block([[skew(V[3:]), skew(V[:3])], [np.zeros((3, 3)), skew(V[3:])]])


def in_the_world(T, p):
    """The inertia of a body in the world's frame, six by six."""
    turn, x = T[:3, :3], T[:3, 3]
    h, (xx, yy, zz, xy, xz, yz) = skew(p[1:4]), p[4:]
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    own = np.block([[p[0] * np.eye(3), -h], [h, I]])
    X = np.block([[turn.T, -turn.T @ skew(x)], [np.zeros((3, 3)), turn.T]])
    return X.T @ own @ X


def bar(f):
    """The matrix with (f bar) v = v x* f."""
    return np.transpose([-cross(e).T @ f for e in np.eye(6)])


def factor(v, I):
    """B(v, I), eq. 12 of Echeandia & Wensing."""
    return 0.5 * (-cross(v).T @ I + bar(I @ v) - I @ cross(v))


@pytest.fixture(scope="module")
def chain():
    """Axes, velocities, accelerations, forces and inertias of an arm, all in the world's frame."""
    arm = kt.robots.arm()
    q, (qd, qdd) = arm.random(0), np.random.default_rng(0).standard_normal((2, 7))
    S = arm.jacobian(q, arm.bodies[-1], axes="world").T
    phi = arm.regressors.parameters.reshape(7, 10)
    I = [in_the_world(*x) for x in zip(arm.poses(q), phi, strict=True)]
    v, a = [np.zeros(6)], [np.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])]  # the base, less gravity
    for k in range(7):
        v.append(v[k] + S[k] * qd[k])
        a.append(a[k] + S[k] * qdd[k] + cross(v[k + 1]) @ S[k] * qd[k])
    f = [I[k] @ a[k + 1] - cross(v[k + 1]).T @ I[k] @ v[k + 1] for k in range(7)]
    B = [factor(v[k + 1], I[k]) for k in range(7)]
    return arm, (q, qd, qdd), S, v, a, *(np.cumsum(x[::-1], axis=0)[::-1] for x in (f, I, B))


def test_the_formulas_of_the_derivatives_hold(chain):
    arm, state, S, v, a, fC, IC, BC = chain
    dq, dv = np.zeros((2, 7, 7))
    for k in range(7):
        u = cross(v[k]) @ S[k]
        w = cross(a[k]) @ S[k] + cross(v[k]) @ u
        r = u + cross(v[k + 1]) @ S[k]
        for j in range(k, 7):
            dq[j, k] = S[j] @ (IC[j] @ w + 2 * BC[j] @ u)
            dv[j, k] = S[j] @ (IC[j] @ r + 2 * BC[j] @ S[k])
        for i in range(k):
            dq[i, k] = S[i] @ (-cross(S[k]).T @ fC[k] + IC[k] @ w + 2 * BC[k] @ u)
            dv[i, k] = S[i] @ (IC[k] @ r + 2 * BC[k] @ S[k])
    expected = arm.inverse_dynamics_derivatives(*state)
    assert relative_error(dq, expected[0]) < EXACT
    assert relative_error(dv, expected[1]) < EXACT


def test_the_formulas_of_the_coriolis_matrix_and_the_symbols_hold(chain):
    arm, (q, qd, _), S, v, _, _, IC, BC = chain
    S_rate = [cross(v[k + 1]) @ S[k] for k in range(7)]
    C, G = np.zeros((7, 7)), np.zeros((7, 7, 7))
    for j in range(7):
        F1, F2, F3 = IC[j] @ S_rate[j] + BC[j] @ S[j], IC[j] @ S[j], BC[j].T @ S[j]
        for i in range(j + 1):
            C[i, j] = S[i] @ F1
            C[j, i] = S_rate[i] @ F2 + S[i] @ F3
    for k in range(7):
        B = factor(S[k], IC[k])
        D = bar(IC[k] @ S[k]) - B
        for j in range(k + 1):
            for i in range(j + 1):
                G[i, j, k] = G[i, k, j] = S[i] @ B @ S[j]
                G[j, i, k] = G[j, k, i] = S[i] @ B.T @ S[j]
                G[k, i, j] = G[k, j, i] = S[i] @ D @ S[j]
    assert relative_error(C, arm.coriolis_matrix(q, qd)) < EXACT
    assert relative_error(G, arm.christoffel_symbols(q)) < EXACT
