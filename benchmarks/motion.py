"""Motion by optimisation beside SciPy's minimisers, on the same problems in the same process.

    python -m benchmarks.motion [panda] [g1] [human] [supports] [control] [mpc] [contact]
        [--crocoddyl PYTHON]

PYTHON is an interpreter that has Crocoddyl, in an environment of its own, because it needs another
Pinocchio: `pip install crocoddyl==3.2.1 pin==4.0.0`; with pin 4.1 its contacts crash. Both then
solve the same optimal control problems, in turn.

Each result is checked before its time is printed: ends, gradient by differences, constraints.
Nothing is compiled inside a timed region. Panda and G1 come from example-robot-data.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its matrices are small: threads only wait

import numpy as np
from scipy.optimize import least_squares, minimize

import kinetree as kt
from benchmarks import motion_contact, reaching
from benchmarks.motion_supports import bench_supports
from benchmarks.pinocchio_rows import ROBOTS
from kinetree.motion.control_problem import ControlProblem
from kinetree.motion.costs import quadratic_cost
from kinetree.motion.flat import Flat, states_of
from kinetree.motion.transition_problem import Problem
from kinetree.motion.transition_settings import Settings
from kinetree.scalar import cos

PANDA = ROBOTS / "panda_description/urdf/panda.urdf"
G1 = ROBOTS / "g1_description/urdf/g1_29dof_rev_1_0.urdf"
Q0 = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
SIGNS = np.array([1.0, -1.0] * 22)
PLAIN = {"coefficients": 16, "samples": 64, "bounded": ()}


def timed(function: Callable[[], object], runs: int = 5) -> tuple[object, float]:
    """The result, and the least time of some runs, s; the first, which compiles, is not counted."""
    found = function()
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        found = function()
        times.append(time.perf_counter() - began)
    return found, min(times)


def row(name: str, value: object, seconds: float, note: str = "") -> None:
    print(f"| {name} | {value} | {1000 * seconds:.1f} ms | {note} |", flush=True)


def without_drives(robot: kt.Robot) -> kt.Robot:
    return robot.without("armature", "damping", "friction", "springs")


def panda() -> kt.Robot:
    fingers = [name for name in kt.load(PANDA).joints if "finger" in name]
    return without_drives(kt.load(PANDA, locked=dict.fromkeys(fingers, 0.0)))


def g1() -> kt.Robot:
    return without_drives(kt.load(G1))


def problem(robot: kt.Robot, q0: np.ndarray, q1: np.ndarray) -> Problem:
    ends = states_of(robot, q0, "first"), states_of(robot, q1, "second")
    return Problem(Flat(robot), *ends, 1.0, Settings(**PLAIN))


def check_gradient(p: Problem) -> None:
    """The gradient against differences, to 1e-6."""
    rng, every, h = np.random.default_rng(0), np.arange(1), 1e-6
    c = p.start()
    d = rng.standard_normal(c.shape)
    sides = [p.objective.values(c + k * h * d, every)[0] for k in (1, -1)]
    slope = (p.objective.expansion(c, every).gradient * d).sum()
    assert abs((sides[0] - sides[1]) / (2 * h) - slope) < 1e-6 * abs(slope)


def scipy_rows(p: Problem, iterations: int) -> float:
    """SciPy's L-BFGS and least squares on Kinetree's compiled derivatives; the best value."""
    c, every = p.start(), np.arange(1)
    shape = c.shape

    def value(x: np.ndarray) -> tuple[float, np.ndarray]:
        f, g = p.objective.value_and_gradient(x.reshape(shape), every)
        return float(f[0]), g.ravel()

    part, robot = p.effort, p.robot
    root = np.sqrt(part.weights)[..., None]
    keep = np.broadcast_to(part.weights[..., None] > 0.0, (*part.weights.shape, robot.nv)).ravel()
    free = slice(p.ends[0].shape[1], p.ends[0].shape[1] + c.shape[1])

    def residuals(x: np.ndarray) -> np.ndarray:
        state = part.state(p.objective.whole(x.reshape(shape), every))
        return (root * state.tau[0]).ravel()[keep]

    def jacobian(x: np.ndarray) -> np.ndarray:
        q, v, a = p.grid.motion(p.objective.whole(x.reshape(shape), every), 1.0)
        D = robot.inverse_dynamics_derivatives(q[0], v[0], a[0])
        N = [p.basis.values(p.grid.u, k)[..., free] for k in range(3)]
        J = sum(n[..., None, :, None] * d[..., :, None, :] for n, d in zip(N, D, strict=True))
        return (root[..., None, None] * J).reshape(len(keep), -1)[keep]

    options = {"maxiter": iterations, "maxfun": 10**6, "ftol": 0.0, "gtol": 1e-8}
    x0 = c.ravel()
    began = time.perf_counter()
    found = minimize(value, x0, jac=True, method="L-BFGS-B", options=options)
    row("SciPy L-BFGS", f"{found.fun:.4f}", time.perf_counter() - began, f"{found.nfev} values")
    began = time.perf_counter()
    other = least_squares(residuals, x0, jacobian, method="trf", max_nfev=iterations)
    seconds = time.perf_counter() - began
    row("SciPy TRF", f"{2 * other.cost:.4f}", seconds, f"{other.njev} Jacobians")
    return min(found.fun, 2 * other.cost)


def limited_row(p: Problem) -> float:
    """SciPy's SLSQP under limits of q, v and tau at the same samples, by our derivatives."""
    robot, every, c = p.robot, np.arange(1), p.start()
    free = slice(p.ends[0].shape[1], p.ends[0].shape[1] + c.shape[1])
    N = [p.basis.values(p.grid.u, k)[..., free].reshape(-1, c.shape[1]) for k in range(3)]
    limits = robot.limits
    lower = np.concatenate([limits.lower, -limits.velocity, -limits.effort])
    upper = np.concatenate([limits.upper, limits.velocity, limits.effort])

    def state(x: np.ndarray) -> list[np.ndarray]:
        found = p.grid.motion(p.objective.whole(x.reshape(c.shape), every), 1.0)
        return [y.reshape(-1, robot.nv) for y in found]

    def value(x: np.ndarray) -> tuple[float, np.ndarray]:
        f, g = p.objective.value_and_gradient(x.reshape(c.shape), every)
        return float(f[0]), g.ravel()

    def room(x: np.ndarray) -> np.ndarray:
        q, v, a = state(x)
        y = np.concatenate([q, v, robot.inverse_dynamics(q, v, a)], axis=-1)
        return np.concatenate([(y - lower).ravel(), (upper - y).ravel()])

    def slopes(x: np.ndarray) -> np.ndarray:
        D = robot.inverse_dynamics_derivatives(*state(x))
        tau = sum(n[:, None, :, None] * d[:, :, None, :] for n, d in zip(N, D, strict=True))
        eye = np.eye(robot.nv)[:, None, :]
        J = np.concatenate([N[0][:, None, :, None] * eye, N[1][:, None, :, None] * eye, tau], 1)
        J = J.reshape(-1, c.size)
        return np.concatenate([J, -J])

    kept = np.isfinite(room(c.ravel()))
    bounds = {"type": "ineq", "fun": lambda x: room(x)[kept], "jac": lambda x: slopes(x)[kept]}
    options = {"maxiter": 500, "ftol": 1e-9}
    began = time.perf_counter()
    found = minimize(
        value, c.ravel(), jac=True, method="SLSQP", constraints=bounds, options=options
    )
    seconds = time.perf_counter() - began
    note = f"within limits by {-min(room(found.x)[kept].min(), 0.0):.0e}; {found.message}"
    row("SciPy SLSQP, limits of q, v and tau", f"{found.fun:.4f}", seconds, note)
    return seconds


def bench_panda() -> None:
    robot = panda()
    q1 = Q0 + 0.8 * SIGNS[:7]
    p = problem(robot, Q0, q1)
    check_gradient(p)
    print("\n| Panda, 1 s, 84 unknowns | P | time | |\n|-|-|-|-|")
    scipy_rows(p, 2000)
    found, seconds = timed(lambda: robot.transition(Q0, q1, 1.0, **PLAIN))
    assert found.converged, found.message
    assert found.value <= 93.4
    row("kinetree", f"{found.value:.4f}", seconds, f"decrement {found.optimality:.1e}")
    many, seconds = timed(lambda: robot.transition(Q0, q1, 1.0, starts=64, **PLAIN), 2)
    row("kinetree, 64 starts", f"{many.value:.4f}", seconds, many.message)
    inside = np.clip(q1, robot.limits.lower + 0.05, robot.limits.upper - 0.05)
    limits = {"bounded": ("q", "v", "tau")}
    held, seconds = timed(lambda: robot.transition(Q0, inside, 1.0, **PLAIN | limits), 2)
    note = f"within limits by {held.violation:.0e}; {held.message}"
    peer = limited_row(problem(robot, Q0, inside))
    row("kinetree, limits of q, v and tau", f"{held.value:.4f}", seconds, note)
    print(f"| | | {peer / seconds:.0f} x faster | |")
    goals = Q0 + 0.8 * np.random.default_rng(0).uniform(-1.0, 1.0, (200, 7))
    batch, seconds = timed(lambda: robot.transition(Q0, goals, 1.0, **PLAIN), 1)
    share = f"{batch.converged.mean():.0%} converged"
    row("kinetree, 200 random goals at once, each", "", seconds / 200, share)


def bench_g1() -> None:
    robot = g1()
    q0, q1 = np.zeros(robot.nv), 0.8 * SIGNS[: robot.nv]
    p = problem(robot, q0, q1)
    check_gradient(p)
    print("\n| G1 held at the pelvis, 348 unknowns | P | time | |\n|-|-|-|-|")
    scipy_rows(p, 300)
    found, seconds = timed(lambda: robot.transition(q0, q1, 1.0, **PLAIN), 2)
    assert found.converged, found.message
    assert found.value <= 128.2
    row("kinetree", f"{found.value:.4f}", seconds, f"decrement {found.optimality:.1e}")


def bench_human() -> None:
    from kinetree.motion import human

    robot = kt.robots.human()
    ends = (human.sit_down(robot), 0.0), (human.salute(robot), 1.0)
    how = {"coefficients": 18, "root": 0.0, "bounded": (), "tolerance": 1e-6}
    feet = [kt.Hold("left_foot"), kt.Hold("right_foot")]
    (first, t0), (second, t1) = ends
    states = states_of(robot, first.at(t0), "first"), states_of(robot, second.at(t1), "second")
    settings = Settings(
        coefficients=18, root=0.0, bounded=(), hold=[kt.Hold("left_foot", weight=1e3)]
    )
    check_gradient(Problem(Flat(robot), *states, 0.6, settings))
    print("\n| human figure, 43 dof, 0.6 s | P | time | |\n|-|-|-|-|")
    found, seconds = timed(lambda: robot.transition(*ends, 0.6, hold=feet, **how), 2)
    slip = robot.pose(found.motion().q, "left_foot") - robot.pose(robot.neutral(), "left_foot")
    note = f"{found.message}; a foot moves {1000 * np.abs(slip).max():.2g} mm"
    row("kinetree, feet held", f"{found.value:.5f}", seconds, f"{found.iterations} steps, {note}")
    softly = [kt.Hold(hold.frame, weight=1e3) for hold in feet]
    for name, hold in (("feet free", []), ("feet held softly", softly)):
        best, seconds = timed(lambda hold=hold: robot.transition(*ends, 0.6, hold=hold, **how), 2)
        row(f"kinetree, {name}", f"{best.value:.5f}", seconds, f"{best.evaluations} values")
        slow = {**how, "method": "l-bfgs", "iterations": 3000}
        other = robot.transition(*ends, 0.6, hold=hold, **slow)
        note = (
            f"{other.evaluations} values, {other.evaluations / best.evaluations:.0f} times as many"
        )
        row(
            f"SciPy L-BFGS, {name}", f"{other.value:.5f}", other.seconds, f"{note}; {other.message}"
        )


WEIGHTS = (10.0, 0.1, 1e-3)
FREE = {"lower": -np.inf, "upper": np.inf}


def crocoddyl(python: str, spec: dict) -> dict:
    """The same problem solved by Crocoddyl on one thread; see `crocoddyl_solver`."""
    script = Path(__file__).with_name("crocoddyl_solver.py")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(spec, file, default=lambda x: x.tolist())
        file.flush()
        done = subprocess.run(
            [python, str(script), file.name],
            capture_output=True,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": ""},
        )
    if done.returncode:
        raise SystemExit(f"Crocoddyl did not solve it:\n{done.stderr}")
    return json.loads(done.stdout)


def duel(name: str, reach: ControlProblem, u: np.ndarray, spec: dict, python: str | None) -> float:
    """An iteration of both on one thread, the same optimum to 1e-6; seconds of the faster peer."""
    q0, still = spec["q0"], np.zeros(reach.robot.nv)
    before, peer = kt.get_threads(), np.inf
    kt.set_threads(1)
    found, seconds = timed(lambda: reach.solve(q0, still, u), spec["runs"])
    assert found.converged, found.message
    if python is not None:
        given = {"u": u, "steps": reach.steps, "dt": reach.dt, "weights": WEIGHTS, "stop": 1e-9}
        other = crocoddyl(python, spec | given | {"iterations": 100})
        assert abs(found.value / other["cost"] - 1.0) < 1e-6
        peer = other["seconds"]
        note = f"{other['iterations']} iterations"
        row(f"Crocoddyl, {name}", f"{other['cost']:.6f}", peer, note)
        found, again = timed(lambda: reach.solve(q0, still, u), spec["runs"])
        seconds = min(seconds, again)
    each = seconds / int(found.iterations)
    ratio = "" if python is None else f", {peer / each:.2f} x faster"
    note = f"{found.iterations} iterations{ratio}"
    row(f"kinetree, {name}", f"{found.value:.6f}", each, note)
    kt.set_threads(before)
    return peer


def bench_control(python: str | None = None) -> None:
    robot = panda()
    target = Q0 + 0.8 * SIGNS[:7] * (np.arange(7) != 3)
    costs = quadratic_cost(robot, target, *WEIGHTS)
    reach = robot.optimal_control(*costs, steps=100, dt=0.01, **FREE)
    print("\n| optimal control, an iteration | cost | time | |\n|-|-|-|-|")
    fingers = ["panda_finger_joint1", "panda_finger_joint2"]
    spec = {"file": str(PANDA), "floating": False, "locked": fingers, "runs": 30}
    u = np.tile(robot.gravity_forces(Q0), (100, 1))
    peer = duel("Panda, 100 knots", reach, u, spec | {"q0": Q0, "target": target}, python)
    starts = Q0 + 0.1 * np.random.default_rng(0).standard_normal((100, 7))
    before = kt.get_threads()
    kt.set_threads(os.cpu_count() or 1)
    many, seconds = timed(lambda: reach.solve(starts, np.zeros(7)), 3)
    kt.set_threads(before)
    each = seconds / float(many.iterations.sum())
    ratio = f", {peer / each:.1f} x faster than Crocoddyl" if python else ""
    share = f"{many.converged.mean():.0%} converged{ratio}"
    row("kinetree, 100 problems at once on all cores, of each one", "", each, share)
    walker = without_drives(kt.load(G1, base="floating"))
    q0 = walker.neutral()
    target = q0.copy()
    target[7:] += 0.3 * SIGNS[: walker.nv - 6]
    costs = quadratic_cost(walker, target, *WEIGHTS)
    motors = np.arange(walker.nv) >= 6
    reach = walker.optimal_control(*costs, steps=50, dt=0.01, actuated=motors, **FREE)
    spec = {"file": str(G1), "floating": True, "locked": [], "runs": 5}
    u = np.zeros((50, walker.nv - 6))
    duel("floating G1, 50 knots", reach, u, spec | {"q0": q0, "target": target}, python)


def bench_mpc() -> None:
    robot = panda()
    print("\n| model-predictive control | last state | time | |\n|-|-|-|-|")
    cart = kt.robots.cart_pole()

    def cost(t, q, v, tau, pose):
        upright = 5.0 * (1.0 - cos(q[1]))
        return upright + 0.5 * q[0] ** 2 + 0.05 * (v[0] ** 2 + v[1] ** 2) + 0.005 * tau[0] ** 2

    def final(q, v, pose):
        return 200.0 * (1.0 - cos(q[1])) + 20.0 * q[0] ** 2 + 5.0 * (v[0] ** 2 + v[1] ** 2)

    how = {"actuated": [True, False], "lower": -20.0, "upper": 20.0}
    swing = cart.optimal_control(cost, final, steps=150, dt=0.01, **how)
    arm = robot.optimal_control(
        *quadratic_cost(robot, Q0 + 0.3, 50.0, 1.0, 1e-3), steps=30, dt=0.01
    )
    loops = [
        ("cart-pole swing-up, ilqr", swing.mpc(), [0.0, np.pi], np.zeros(2)),
        (
            "cart-pole swing-up, mppi",
            swing.mpc(method="mppi", samples=128),
            [0.0, np.pi],
            np.zeros(2),
        ),
        ("Panda, ilqr", arm.mpc(), Q0, np.zeros(7)),
    ]
    for name, loop, q0, v0 in loops:
        nudge = np.sin(np.arange(loop.u.shape[0]) / 8.0)[:, None] * np.ones(loop.u.shape[1])
        loop.control(np.asarray(q0, float), v0)  # compiles
        loop.reset(nudge)
        run = loop.run(q0, v0, 5.0)
        away = np.abs(run.v[-1]).max()
        note = f"99th percentile of 500 plans; speed at the end {away:.1e}"
        row(name, np.array2string(run.q[-1], precision=3), run.percentile(), note)


BENCHES = {"panda": bench_panda, "g1": bench_g1, "human": bench_human, "mpc": bench_mpc}
BENCHES["supports"] = bench_supports
BENCHES["reaching"] = reaching.bench


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "names", nargs="*", choices=[*BENCHES, "control", "contact", []], default=[]
    )
    parser.add_argument("--crocoddyl", metavar="PYTHON", help="an interpreter that has Crocoddyl")
    given = parser.parse_args()
    for name in given.names or [*BENCHES, "control", "contact"]:
        if name == "control":
            bench_control(given.crocoddyl)
        elif name == "contact":
            everything = ["g1", "trot", "batch"]
            motion_contact.main(everything, duel, row, given.crocoddyl, panda(), Q0)
        else:
            BENCHES[name]()


if __name__ == "__main__":
    main()
