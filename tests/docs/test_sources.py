"""docs/sources.md: what the texts at hand have, what was derived, and which of them is true."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import kinetree as kt
from kinetree import algorithms
from kinetree.algorithms.coordinates import coriolis_in, derivative, derivative_rate, symbols_in
from kinetree.algorithms.frames import in_one_frame
from kinetree.algorithms.kinematics import motions
from kinetree.algorithms.tree import along, ancestors, parent_transforms
from kinetree.scalar import sin
from kinetree.spatial import Twist, christoffel_factor
from tests.algorithms.test_kinematics import STEP
from tests.spatial.dense import mat3, skew, vec
from tests.tolerances import EXACT, relative_error

PAGE = Path(__file__).parents[2] / "docs/sources.md"


def rows(heading: str) -> dict[str, str]:
    """A table of the page: where -> how the difference was found."""
    section = PAGE.read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    found = re.findall(r"^\| (.+?) \| .+ \| (test|definition) \|$", section, re.MULTILINE)
    assert len(found) == len(dict(found))
    return dict(found)


def shown(heading: str) -> set[str]:
    return {where for where, how in rows(heading).items() if how == "test"}


class Case(SimpleNamespace):
    """A row's formula: as the text at hand has it (None: no number), as derived, and the truth."""

    def check(self) -> None:
        assert relative_error(self.derived, self.truth) < EXACT
        if self.text is not None:
            off = np.abs(np.asarray(self.text) - self.truth).max()
            assert off > 0.01 * np.abs(self.truth).max()


# Echeandia & Wensing: a tree whose body i carries j, which carries k, and l on another branch


TREE = kt.robots.tree(7, seed=3).model
RNG = np.random.default_rng(0)
Q, V, A = RNG.standard_normal((3, 7)).tolist()
I, J, K = reversed(list(ancestors(TREE, 2)))
PARTS = in_one_frame(TREE, Q)
PHI = [axes[0] for axes in PARTS.Phi]
SPEED = [  # (15)
    along([PHI[j] for j in ancestors(TREE, i)], [V[j] for j in ancestors(TREE, i)])
    for i in range(7)
]
DPHI = [v.cross(axis) for v, axis in zip(SPEED, PHI, strict=True)]
IC = {i: composite for i, _, composite in PARTS.from_the_tips()}
OWN = {i: own for i, own, _ in PARTS.from_the_tips()}
BC = {}
for body in reversed(range(7)):
    carried = [BC[c] for c in range(7) if TREE.bodies[c].parent == body]
    BC[body] = sum(carried, start=christoffel_factor(SPEED[body], OWN[body]))

# by other ways: the mass matrix of Liu & Jain, and the symbols of (4)
H = np.array(algorithms.lagrange_mass(TREE, Q))
DH = np.array(algorithms.mass_derivatives(TREE, Q))
GAMMA = (DH + DH.transpose(0, 2, 1) - DH.transpose(2, 0, 1)) / 2
C = GAMMA @ V
H_RATE = DH @ V


def placed(motion: Twist, i: int) -> np.ndarray:
    """A motion in the common frame, as body i sees it."""
    return np.array(list(PARTS.X[i].to_child(motion)))


def symbol(i, j, k, farthest):
    """Phi_i^T B(Phi_k, I^C of the farthest) Phi_j."""
    return PHI[i].dot(christoffel_factor(PHI[k], IC[farthest]) @ PHI[j])


def forces(a, b, axis):
    """F_1, F_2 and F_3 with I_a^C, B_b^C and the axis of a joint."""
    F1 = IC[a] @ DPHI[axis] + BC[b] @ PHI[axis]
    return F1, IC[a] @ PHI[axis], BC[b].T @ PHI[axis]


def lower(i, F2, F3):
    """C_ji of (30)."""
    return DPHI[i].dot(F2) + PHI[i].dot(F3)


def chart(y):
    return [y[0] + 0.3 * sin(y[1]), y[1] * y[2], *y[2:]]


F1, F2, F3 = forces(J, J, J)
W1, W2, W3 = forces(I, I, J)  # with the inertia of body i
X1, X2, X3 = forces(I, I, I)
B = christoffel_factor(PHI[K], IC[K])
D_J = PHI[J].cross_force(IC[K] @ PHI[K]) - B @ PHI[J]
D_I = PHI[I].cross_force(IC[K] @ PHI[K]) - B @ PHI[I]


def moving(own: bool) -> Twist:
    """(16) at body k, with or without its own joint."""
    chain = [j for j in ancestors(TREE, K) if own or j != K]
    start = along([PHI[j] for j in chain], [A[j] for j in chain])
    return start + along([DPHI[j] for j in chain], [V[j] for j in chain])


def changed_coordinates() -> Case:
    y, dy = RNG.standard_normal((2, 7)).tolist()
    M, dM = (np.array(f) for f in (derivative(chart, y), derivative_rate(chart, y, dy)))
    q = list(chart(y))
    mass, _, matrix = (np.array(x) for x in algorithms.coriolis(TREE, q, (M @ dy).tolist()))
    truth = np.array(symbols_in(chart, TREE, y)) @ dy
    assert relative_error(coriolis_in(chart, TREE, y, dy), truth) < EXACT
    first = M.T @ matrix @ M
    return Case(text=first + M @ mass @ dM, derived=first + M.T @ mass @ dM, truth=truth)


def velocity_and_acceleration():
    rnea_v, rnea_a = motions(TREE, Q, V, A)
    return np.array(list(rnea_v[6])), np.array(list(rnea_a[K]))


PAPER = {
    "(15)": lambda: Case(
        text=placed(along(PHI, V), 6),
        derived=placed(SPEED[6], 6),
        truth=velocity_and_acceleration()[0],
    ),
    "(16)": lambda: Case(
        text=placed(moving(own=False), K),
        derived=placed(moving(own=True), K),
        truth=velocity_and_acceleration()[1],
    ),
    "(22)": lambda: Case(text=PHI[I].dot(W2), derived=PHI[I].dot(F2), truth=H[I, J]),
    "(23), (25), Algorithm 1, line 9": lambda: Case(
        text=PHI[I].dot(W1), derived=PHI[I].dot(F1), truth=C[I, J]
    ),
    "(26)": lambda: Case(text=PHI[I].dot(W2), derived=PHI[I].dot(F2), truth=H[I, J]),
    "Algorithm 1, line 10": lambda: Case(
        text=PHI[I].dot(X2), derived=PHI[I].dot(F2), truth=H[I, J]
    ),
    "Algorithm 1, line 11": lambda: Case(
        text=lower(I, F2, X3), derived=lower(I, F2, F3), truth=C[J, I]
    ),
    "Algorithm 1, line 12": lambda: Case(
        text=None,
        derived=[PHI[J].dot(F2), DPHI[J].dot(F2) + PHI[J].dot(F1 + F3)],
        truth=[H[J, J], H_RATE[J, J]],
    ),
    "Algorithm 1, line 18": lambda: Case(text=C[I, I], derived=C[J, I], truth=lower(I, F2, F3)),
    # the term with the rate of Phi_j is left out, which vanishes if k is not before j
    "before (46)": lambda: Case(
        text=symbol(I, K, J, K), derived=symbol(I, J, K, K), truth=GAMMA[I, J, K]
    ),
    "(47)": lambda: Case(text=symbol(I, I, K, K), derived=symbol(J, I, K, K), truth=GAMMA[J, I, K]),
    "Algorithm 2, lines 10 to 12": lambda: Case(
        text=[PHI[I].dot(f) for f in (B @ PHI[I], B.T @ PHI[I], D_I)],
        derived=[PHI[I].dot(f) for f in (B @ PHI[J], B.T @ PHI[J], D_J)],
        truth=[GAMMA[I, J, K], GAMMA[J, I, K], GAMMA[K, I, J]],
    ),
    "Algorithm 2, lines 15 to 17": lambda: Case(
        text=[PHI[0].dot(f) for f in (B @ PHI[K], B.T @ PHI[K])],
        derived=[PHI[J].dot(f) for f in (B @ PHI[K], B.T @ PHI[K])],
        truth=[GAMMA[J, K, K], GAMMA[K, J, K]],
    ),
    "Algorithm 2, line 16": lambda: Case(
        text=GAMMA[I, I, K], derived=GAMMA[J, I, K], truth=PHI[I].dot(B.T @ PHI[J])
    ),
    "proof of Theorem 1, last line": changed_coordinates,
}


@pytest.mark.parametrize("where", PAPER)
def test_the_paper_is_followed_as_derived(where):
    PAPER[where]().check()


def test_the_page_lists_what_is_tested_of_the_paper():
    assert shown("Echeandia & Wensing") == set(PAPER)


# Guenter & Rose: a chain of three links, differentiated by joint 1


CHAIN = kt.robots.chain(3).model
STATE = tuple(RNG.standard_normal((3, 3)).tolist())
AXIS = [vec(body.joint.subspace([0.0])[0].angular) for body in CHAIN.bodies]
CENTER, ABOUT = zip(*(body.inertia.center_and_rotational() for body in CHAIN.bodies), strict=True)
MASS, CENTER = [body.inertia.mass for body in CHAIN.bodies], [vec(c) for c in CENTER]
EULER = [np.trace(mat3(I)) / 2 * np.eye(3) - mat3(I) for I in ABOUT]
SHIFT = [vec(body.placement.translation) for body in CHAIN.bodies]
j = 1


def unskew(m):
    return np.array([m[2, 1], m[0, 2], m[1, 0]])


def report(q, v, a) -> SimpleNamespace:
    """The report's recursions as derived, link by link."""
    R = [np.array([list(row) for row in X.rotation.rows]) for X in parent_transforms(CHAIN, q)]
    w, dw, dds, Omega, ddr, F, M = ([] for _ in range(7))
    for i in range(3):
        before = w[-1] if i else np.zeros(3)
        w.append(R[i].T @ before + AXIS[i] * v[i])
        turn = skew(R[i].T @ before) @ AXIS[i] * v[i]
        dw.append(R[i].T @ (dw[-1] if i else np.zeros(3)) + turn + AXIS[i] * a[i])
        reached = dds[-1] + Omega[-1] @ SHIFT[i] if i else -vec(CHAIN.gravity)
        dds.append(R[i].T @ reached)
        Omega.append(skew(dw[i]) + skew(w[i]) @ skew(w[i]))
        ddr.append(Omega[i] @ CENTER[i] + dds[i])
        F.append(MASS[i] * ddr[i])
        M.append(unskew(Omega[i] @ EULER[i] - (Omega[i] @ EULER[i]).T))
    f, eta = list(F), [np.cross(CENTER[i], F[i]) + M[i] for i in range(3)]
    for i in (1, 0):
        f[i] = f[i] + R[i + 1] @ f[i + 1]
        eta[i] = eta[i] + R[i + 1] @ eta[i + 1] + skew(SHIFT[i + 1]) @ R[i + 1] @ f[i + 1]
    return SimpleNamespace(A=R, w=w, dw=dw, dds=dds, Omega=Omega, ddr=ddr, F=F, M=M, f=f, eta=eta)


AT = report(*STATE)


def partial(which: int) -> SimpleNamespace:
    """The derivatives of all of them by q, q' or q'' of joint j, by complex steps."""
    state = [list(part) for part in STATE]
    state[which][j] += complex(0.0, STEP)
    return SimpleNamespace(
        **{name: [np.imag(x) / STEP for x in found] for name, found in vars(report(*state)).items()}
    )


D_Q, D_V, _ = (partial(which) for which in range(3))


def test_the_recursions_of_the_report_are_ours():
    V_ours, A_ours = motions(CHAIN, *STATE)
    wrenches = algorithms.joint_wrenches(CHAIN, *STATE)
    for i in range(3):
        assert relative_error(AT.w[i], vec(V_ours[i].angular)) < EXACT
        assert relative_error(AT.dw[i], vec(A_ours[i].angular)) < EXACT
        assert relative_error(AT.f[i], vec(wrenches[i].linear)) < EXACT
        assert relative_error(AT.eta[i], vec(wrenches[i].angular)) < EXACT


def falling() -> Case:
    """One joint at rest: the slope of the potential energy is what holds it."""
    model, q = kt.robots.chain(1).model, STATE[0][:1]
    (X,) = parent_transforms(model, q)
    felt = vec(X.rotation.T @ model.gravity)
    lever = np.cross(vec(model.bodies[0].inertia.moment), felt)
    held = lever @ vec(model.bodies[0].joint.subspace(q)[0].angular)
    slope = algorithms.potential_energy(model, [q[0] + complex(0.0, STEP)]).imag / STEP
    return Case(text=held, derived=-held, truth=slope)


def tensor() -> Case:
    w, dw = (AT.A[1].T @ x for x in (AT.w[0], AT.dw[0]))
    return Case(
        text=skew(dw) + skew(w) @ skew(w),
        derived=skew(AT.dw[1]) + skew(AT.w[1]) @ skew(AT.w[1]),
        truth=AT.Omega[1],
    )


def moment() -> Case:
    own = np.cross(CENTER[1], AT.F[1]) + AT.M[1] + AT.A[2] @ AT.eta[2]
    return Case(
        text=own + np.cross(SHIFT[2], AT.f[2]),
        derived=own + np.cross(SHIFT[2], AT.A[2] @ AT.f[2]),
        truth=vec(algorithms.joint_wrenches(CHAIN, *STATE)[1].angular),
    )


def energy() -> Case:
    """theta_j shifts q_j alone: the rates of q' and q'' with it are zero."""
    dq, dv, da = (np.array(x)[:, j] for x in algorithms.balafoutis_patel_partials(CHAIN, *STATE))
    tau = np.array(algorithms.rnea(CHAIN, *STATE))
    q = list(STATE[0])
    q[j] += complex(0.0, STEP)
    moved = np.array(algorithms.rnea(CHAIN, q, *STATE[1:]))
    slope = (moved**2).sum().imag / STEP
    return Case(text=2 * (dq + dv + da).sum(), derived=2 * tau @ dq, truth=slope)


BACK = AT.A[j].T
D_BACK = D_Q.A[j].T
TURN = skew(D_BACK @ AT.w[j - 1]) @ AXIS[j] * STATE[1][j]
CARRIED = AT.A[2].T @ D_V.w[1]


def dots(d: SimpleNamespace) -> Case:
    """Of r'' from s''."""
    return Case(text=None, derived=d.Omega[2] @ CENTER[2] + d.dds[2], truth=d.ddr[2])


REPORT = {
    "s̈₀,₀": falling,
    "Ωᵢ₊": tensor,
    "ηᵢ": moment,
    "∂P/∂θⱼ": energy,
    "∂ω̇ⱼ/∂qⱼ, first term": lambda: Case(
        text=D_BACK @ AT.A[j] @ AT.dw[j] + TURN,
        derived=D_BACK @ AT.dw[j - 1] + TURN,
        truth=D_Q.dw[j],
    ),
    "∂ω̇ⱼ/∂qⱼ, second term": lambda: Case(
        text=D_BACK @ AT.dw[j - 1] + skew(D_BACK @ AT.dw[j - 1]) @ AXIS[j] * STATE[1][j],
        derived=D_BACK @ AT.dw[j - 1] + TURN,
        truth=D_Q.dw[j],
    ),
    "∂ω̇ᵢ₊/∂q̇ⱼ": lambda: Case(
        text=None,
        derived=AT.A[2].T @ D_V.dw[1] + skew(CARRIED) @ AXIS[2] * STATE[1][2],
        truth=D_V.dw[2],
    ),
    "∂ω̇ⱼ/∂q̇ⱼ": lambda: Case(text=None, derived=skew(BACK @ AT.w[j - 1]) @ AXIS[j], truth=D_V.dw[j]),
    "∂s̈/∂q̇ⱼ, both lines": lambda: Case(
        text=None,
        derived=[AT.A[2].T @ (D_V.dds[1] + D_V.Omega[1] @ SHIFT[2]), np.zeros(3)],
        truth=[D_V.dds[2], D_V.dds[j]],
    ),
    "∂r̈/∂qⱼ": lambda: dots(D_Q),
    "∂r̈/∂q̇ⱼ, ∂F/∂q̇ⱼ": lambda: dots(D_V),
    "∂r̈ᵢ₊": lambda: Case(
        text=D_Q.Omega[2] @ (AT.A[2].T @ SHIFT[2] + CENTER[2]) + D_Q.dds[2],
        derived=D_Q.Omega[2] @ CENTER[2] + D_Q.dds[2],
        truth=D_Q.ddr[2],
    ),
    "∂M, three lines": lambda: Case(
        text=None,
        derived=D_Q.Omega[2] @ EULER[2] - (D_Q.Omega[2] @ EULER[2]).T,
        truth=skew(D_Q.M[2]),
    ),
    "∂fᵢ": lambda: Case(  # of the link before j, whose A is differentiated
        text=D_Q.F[0] + D_Q.A[j] @ AT.A[j] @ AT.f[j] + AT.A[j] @ D_Q.f[j],
        derived=D_Q.F[0] + D_Q.A[j] @ AT.f[j] + AT.A[j] @ D_Q.f[j],
        truth=D_Q.f[0],
    ),
    "∂ηᵢ": lambda: moment_partial(SHIFT[2] + AT.A[2] @ CENTER[2]),
}


def moment_partial(wrong: np.ndarray) -> Case:
    """Of link 1, with another lever of its own force."""
    carried = AT.A[2] @ D_Q.eta[2] + np.cross(SHIFT[2], AT.A[2] @ D_Q.f[2])
    return Case(
        text=np.cross(wrong, D_Q.F[1]) + D_Q.M[1] + carried,
        derived=np.cross(CENTER[1], D_Q.F[1]) + D_Q.M[1] + carried,
        truth=D_Q.eta[1],
    )


@pytest.mark.parametrize("where", REPORT)
def test_the_report_is_followed_as_derived(where):
    REPORT[where]().check()


def test_the_page_lists_what_is_tested_of_the_report():
    assert shown("Guenter & Rose") == set(REPORT)
