"""A reaching motion with minimum joint forces: dynamics compiled for CasADi, solved by Ipopt."""

import sys
from pathlib import Path

import casadi as cs
import numpy as np

import kinetree as kt

arm = kt.robots.arm()
DURATION = 1.5


def solve(start: np.ndarray, target: np.ndarray, knots: int) -> dict[str, np.ndarray]:
    """The motion from rest at a configuration to rest with the tool at a point.

    Returns:
        q and v at the knots, a and tau between them, and the status of the solver.
    """
    n, dt = arm.nv, DURATION / knots
    torques = arm.kernel("inverse_dynamics").casadi(compiled=True)
    pose = arm.kernel("pose", frame="tool").casadi()
    problem = cs.Opti()
    q, v = problem.variable(n, knots + 1), problem.variable(n, knots + 1)
    a = problem.variable(n, knots)
    tau = [torques(q[:, k], v[:, k], a[:, k]) for k in range(knots)]
    problem.minimize(dt * sum(cs.sumsqr(x) for x in tau) + 1e-6 * cs.sumsqr(a))
    problem.subject_to(v[:, 1:] == v[:, :-1] + dt * a)
    problem.subject_to(q[:, 1:] == q[:, :-1] + dt * (v[:, 1:] + v[:, :-1]) / 2.0)
    limits = arm.limits
    problem.subject_to(problem.bounded(limits.lower, q[:, 1:], limits.upper))
    problem.subject_to(problem.bounded(-limits.velocity, v, limits.velocity))
    problem.subject_to(q[:, 0] == start)
    problem.subject_to(v[:, 0] == 0.0)
    problem.subject_to(v[:, -1] == 0.0)
    problem.subject_to(pose(q[:, -1])[:3, 3] == target)
    problem.set_initial(q, np.repeat(start[:, None], knots + 1, axis=1))
    problem.solver("ipopt", {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}})
    found = problem.solve()
    values = {"q": q, "v": v, "a": a, "tau": cs.horzcat(*tau)}
    return {name: np.asarray(found.value(x)).T for name, x in values.items()}


def main(folder: Path, knots: int = 30) -> tuple[float, float]:
    """Solve and draw; return the tool's error and the effort relative to a straight line."""
    start = np.array([0.2, 0.4, -0.1, -1.5, 0.1, 1.2, 0.0])
    goal = start + np.array([0.8, 0.3, 0.2, 0.6, -0.3, 0.2, 0.1])
    target = arm.pose(goal, "tool")[:3, 3]
    found = solve(start, target, knots)
    off = float(np.abs(arm.pose(found["q"][-1], "tool")[:3, 3] - target).max())
    s = np.linspace(0.0, 1.0, knots + 1)[:-1, None]
    quintic = 10 * s**3 - 15 * s**4 + 6 * s**5
    rate = (30 * s**2 - 60 * s**3 + 30 * s**4) / DURATION
    change = (60 * s - 180 * s**2 + 120 * s**3) / DURATION**2
    way = goal - start
    straight = arm.inverse_dynamics(start + quintic * way, rate * way, change * way)
    ratio = float((found["tau"] ** 2).sum() / (straight**2).sum())
    print(f"the tool is {off:.1e} m off; the effort is {ratio:.0%} of a straight line's")
    draw(folder / "reach.svg", found["tau"], straight)
    return off, ratio


def draw(path: Path, found: np.ndarray, straight: np.ndarray) -> None:
    """Joint forces over time; dashed lines are those of the straight line."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.subplots()
    times = np.linspace(0.0, DURATION, len(found), endpoint=False)
    for k in range(4):
        (line,) = axes.plot(times, found[:, k], label=arm.joints[k])
        axes.plot(times, straight[:, k], "--", color=line.get_color(), alpha=0.5)
    axes.set(xlabel="time in s", ylabel="joint force in N m")
    axes.legend()
    figure.savefig(path)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
