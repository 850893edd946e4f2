"""Simulations of many environments, beside mujoco.rollout (and mjbatch).

python -m benchmarks.rollouts [--environments 1000] [--steps 100]

One thread each, contacts and limits off, 1 ms steps: semi-implicit Euler under PD control, and RK4
under given joint forces, which MuJoCo's servos would change within a step. Both start from the same
states, and where both end is compared before anything is timed. On a floating base MuJoCo
integrates the velocity of the base in the world's axes and Kinetree in the base's own, so that
there they differ by the order of a step.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
from rich.console import Console
from rich.table import Table

import kinetree as kt
from benchmarks.diverging import DT, diverging_runs, held
from benchmarks.pinocchio_rows import ROBOTS
from benchmarks.timing import on_the_quietest, seconds_in_turn
from kinetree.equipment import motor

INTEGRATORS = {"euler": mujoco.mjtIntegrator.mjINT_EULER, "rk4": mujoco.mjtIntegrator.mjINT_RK4}


@dataclass(frozen=True)
class Case:
    """A robot, and the gains of its joints; those of a free base are zero."""

    name: str
    robot: kt.Robot
    kp: float
    kd: float
    tolerance: float


@dataclass(frozen=True)
class Row:
    """Microseconds a step of one environment."""

    name: str
    method: str
    ours: float
    peers: dict[str, float]

    @property
    def ratio(self) -> float:
        return min(self.peers.values()) / self.ours


def panda() -> kt.Robot:
    """The arm of seven joints, its fingers locked."""
    fingers = dict.fromkeys(("panda_finger_joint1", "panda_finger_joint2"), 0.0)
    return kt.load(ROBOTS / "panda_description/urdf/panda.urdf", locked=fingers)


def cases() -> list[Case]:
    g1 = ROBOTS / "g1_description/urdf/g1_29dof_rev_1_0.urdf"
    loads = [panda(), kt.load(g1, base="floating")]
    arm, humanoid = (robot.without("damping", "friction", "limits") for robot in loads)
    return [Case("Panda", arm, 20.0, 0.5, 1e-9), Case("G1, floating", humanoid, 5.0, 0.02, 1e-2)]


def peer_model(case: Case, method: str) -> mujoco.MjModel:
    """The robot in MuJoCo, with a servo (or, for RK4, a motor) on every joint of one coordinate."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.xml"
        case.robot.save(path)
        spec = mujoco.MjSpec.from_file(str(path))
    for joint in spec.joints:
        if joint.type in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
            drive = spec.add_actuator(target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            drive.gaintype = mujoco.mjtGain.mjGAIN_FIXED
            drive.gainprm[0] = 1.0
            if method == "euler":
                drive.biastype = mujoco.mjtBias.mjBIAS_AFFINE
                drive.gainprm[0], drive.biasprm[1:3] = case.kp, [-case.kp, -case.kd]
    m = spec.compile()
    m.opt.timestep, m.opt.integrator = DT, INTEGRATORS[method]
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    return m


def their_states(case: Case, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Our states as MuJoCo's: quaternions (w x y z), linear velocities in the world's axes."""
    if case.robot.nq != case.robot.nv:
        R = case.robot.pose(q, case.robot.bodies[0])[:, :3, :3]
        linear = np.einsum("kij,kj->ki", R, v[:, :3])
        q = np.concatenate([q[:, :3], q[:, 6:7], q[:, 3:6], q[:, 7:]], axis=-1)
        v = np.concatenate([linear, v[:, 3:]], axis=-1)
    return np.concatenate([np.zeros((len(q), 1)), q, v], axis=-1)


def contestants(
    case: Case, method: str, environments: int, steps: int
) -> tuple[Callable[[], Any], dict[str, Callable[[], Any]]]:
    """Ours and theirs, each giving the joint coordinates at the end, (environments, n)."""
    robot, rng = case.robot, np.random.default_rng(0)
    base = robot.nq - robot.nv + (6 if robot.nq != robot.nv else 0)
    first = 6 if base else 0
    q, v = robot.random(rng, environments), 0.1 * rng.standard_normal((environments, robot.nv))
    q[:, base:] = np.clip(q[:, base:], -1.0, 1.0)
    target = np.clip(robot.random(rng, environments)[:, base:], -1.0, 1.0)
    on = np.r_[np.zeros(first), np.ones(robot.nv - first)]
    rest = np.broadcast_to(robot.neutral()[:base], (environments, base))
    servo = kt.control.pd(robot, kp=case.kp * on, kd=case.kd * on, gravity=False)
    if method == "euler":
        controller, p = servo, servo.pack(target=np.concatenate([rest, target], axis=-1))
    else:
        controller, p = _given, np.concatenate([0.0 * v[:, :first], target], axis=-1)

    def ours() -> np.ndarray:
        time: dict[str, Any] = {"time": steps * DT, "dt": DT, "every": steps, "method": method}
        return robot.simulate(q, v, controller, p=p, **time).q[:, -1, base:]

    m = peer_model(case, method)
    start = their_states(case, q, v)
    control = np.repeat(target[:, None], steps, axis=1)
    data = mujoco.MjData(m)

    def by_mujoco() -> np.ndarray:
        states, _ = mujoco.rollout.rollout(m, data, start, control)
        return states[:, -1, 1 + base : 1 + robot.nq]

    peers = {"mujoco.rollout": by_mujoco}
    if importlib.util.find_spec("mjbatch") is not None:
        peers["mjbatch"] = _by_mjbatch(m, start, target, steps, base)
    return ours, peers


def _given(t: Any, q: Any, v: Any, p: Any) -> Any:
    """Joint forces as they are given."""
    return p


def _by_mjbatch(
    m: mujoco.MjModel, start: np.ndarray, target: np.ndarray, steps: int, base: int
) -> Callable[[], Any]:
    import mjbatch

    batch = mjbatch.Batch(m, len(start), num_threads=1)
    q, v, control = (batch.bind(name) for name in ("qpos", "qvel", "ctrl"))

    def run() -> np.ndarray:
        batch.reset()
        q[:], v[:], control[:] = start[:, 1 : 1 + m.nq], start[:, 1 + m.nq :], target
        batch.step(nstep=steps)
        return np.array(q[:, base:])

    return run


def rows(environments: int, steps: int) -> Iterator[Row]:
    for case in cases():
        for method in INTEGRATORS:
            ours, peers = contestants(case, method, environments, steps)
            end = ours()
            for name, peer in peers.items():
                apart = np.abs(peer() - end).max()
                assert apart < case.tolerance, f"{case.name}, {method}, {name}: {apart}"
            with on_the_quietest(ours):
                mine, *theirs = seconds_in_turn([ours, *peers.values()], repeats=3)
            scale = 1e6 / (environments * steps)
            listed = {name: t * scale for name, t in zip(peers, theirs, strict=True)}
            yield Row(case.name, method, mine * scale, listed)


def table(measured: list[Row]) -> Table:
    found = Table(title="µs a step of one environment, one thread")
    for column in ("robot", "method", "kinetree", "peers", "faster by"):
        found.add_column(column)
    for row in measured:
        listed = ", ".join(f"{name} {t:.3g}" for name, t in row.peers.items())
        found.add_row(row.name, row.method, f"{row.ours:.3g}", listed, f"{row.ratio:.1f} ×")
    return found


def inverse_kinematics(targets: int = 10_000) -> str:
    """How long Panda takes to reach random poses, and how many of them it reaches."""
    robot = panda()
    poses = robot.pose(robot.random(1, batch=targets), "panda_hand")
    solver = kt.control.InverseKinematics(robot, "panda_hand")
    found = solver.solve(poses)
    reached = robot.pose(found.q[found.success], "panda_hand")
    assert np.abs(reached - poses[found.success]).max() < 1e-7
    (seconds,) = seconds_in_turn([lambda: solver.solve(poses)], repeats=3)
    return (
        f"inverse kinematics of Panda: {targets} random poses in {seconds:.2f} s, "
        f"{found.success.mean():.2%} reached to 1e-8 within the limits"
    )


def gradient(environments: int = 64, steps: int = 1000) -> str:
    """The gradient of a rollout of Panda by all joint forces, beside the rollout itself."""
    robot, rng = panda().without("friction", "limits"), np.random.default_rng(0)
    rollout = robot.rollout(held, steps, DT, p_length=robot.nv, series=True)
    q, v = 0.2 * rng.standard_normal((environments, robot.nq)), np.zeros((environments, robot.nv))
    u, du = rng.standard_normal((2, environments, steps, robot.nv))
    weights = {"q": rng.standard_normal((environments, steps + 1, robot.nq))}
    found = np.einsum("bti,bti->b", rollout.gradient(q, v, weights, u)["p"], du)
    h = 1e-5
    ends = [np.einsum("bti,bti->b", rollout(q, v, u + s * du).q, weights["q"]) for s in (h, -h)]
    apart = np.abs((ends[0] - ends[1]) / (2.0 * h) - found).max() / np.abs(found).max()
    assert apart < 1e-6, apart
    ways = [lambda: rollout(q, v, u), lambda: rollout.gradient(q, v, weights, u)]
    forward, both = seconds_in_turn(ways, repeats=5)
    step = forward / (environments * steps) * 1e6
    return (
        f"gradient of {steps} steps of Panda by all joint forces: {both / forward:.1f} × the "
        f"rollout ({step:.2f} µs a step), {apart:.0e} from differences"
    )


def recording(environments: int = 1000, steps: int = 200) -> str:
    """What it costs to keep q, v and tau of every step, beside writing as much memory."""
    robot, rng = panda().without("friction", "limits"), np.random.default_rng(0)
    servo = kt.control.pd(robot, kp=20.0, kd=0.5, gravity=False)
    q, v = robot.random(rng, environments), np.zeros((environments, robot.nv))
    last = robot.rollout(servo, steps, DT, every=steps)
    all_ = robot.rollout(servo, steps, DT)
    assert np.array_equal(last(q, v).q[:, -1], all_(q, v).q[:, -1])
    kept = environments * (steps + 1) * (robot.nq + 2 * robot.nv)
    ways = [lambda: last(q, v), lambda: all_(q, v), lambda: np.empty(kept).fill(1.0)]
    none, everything, writing = seconds_in_turn(ways, repeats=7)
    return (
        f"keeping q, v and tau of {steps} steps of {environments} arms: {1e3 * none:.0f} ms "
        f"without, {1e3 * everything:.0f} ms with; writing as much new memory takes "
        f"{1e3 * writing:.0f} ms: {(everything - none) / writing:.2f} × that"
    )


def diverging(environments: int = 4000, steps: int = 100) -> str:
    """What it costs that all environments diverge: calls of functions, and time."""
    robot = panda().without("friction", "limits")
    (few,) = diverging_runs(robot, 10, steps, [1.0])
    calm, many = diverging_runs(robot, environments, steps, [0.0, 1.0])
    calls = [_calls(run) for run in (few, many)]
    none, all_ = seconds_in_turn([calm, many], 5)
    return (
        f"environments that diverge: {calls[0]} calls of functions for 10, {calls[1]} for "
        f"{environments}; {1e3 * all_:.0f} ms, and {1e3 * none:.0f} ms if none does"
    )


def _calls(run: Callable[[], Any]) -> int:
    """How many functions are called, those in C included."""
    calls = 0

    def seen(frame: Any, event: str, arg: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


def actuated(environments: int = 1000, steps: int = 200) -> str:
    """What controls of actuators cost, against the same joint forces given as torques."""
    gear = 20.0
    found = []
    for case in cases():
        robot, rng = case.robot, np.random.default_rng(0)
        driven = [b for b in robot.model.bodies if b.joint.nv == 1]
        motors = [motor(b.joint_name, b.joint_name, gear) for b in driven]
        equipped = robot.edit.equip(*motors)
        ctrl = 0.01 * rng.standard_normal((environments, len(motors)))
        tau = np.zeros((environments, robot.nv))
        for k, b in enumerate(driven):
            tau[:, robot.model.v_slices[robot.model.bodies.index(b)]] = gear * ctrl[:, k : k + 1]
        q, v = robot.random(rng, environments), 0.1 * rng.standard_normal((environments, robot.nv))
        run: dict[str, Any] = {"time": steps * DT, "dt": DT, "every": steps, "method": "euler"}

        def by_torques(robot=robot, q=q, v=v, tau=tau, run=run) -> np.ndarray:  # type: ignore[no-untyped-def]
            return robot.simulate(q, v, _given, p=tau, **run).q

        def by_controls(robot=equipped, q=q, v=v, ctrl=ctrl, run=run) -> np.ndarray:  # type: ignore[no-untyped-def]
            return robot.simulate(q, v, ctrl=ctrl, **run).q

        assert np.allclose(by_torques(), by_controls(), atol=1e-8)
        torques, controls = seconds_in_turn([by_torques, by_controls], repeats=5)
        found.append(f"{controls / torques:.2f} × with torques ({case.name}, {len(motors)} motors)")
    return f"controls of actuators: {', '.join(found)}"


def threads(environments: int = 4000, steps: int = 100) -> str:
    """What a second thread gains."""
    case = cases()[0]
    ours, _ = contestants(case, "euler", environments, steps)

    def on(count: int) -> Callable[[], Any]:
        def run() -> Any:
            kt.set_threads(count)
            try:
                return ours()
            finally:
                kt.set_threads(1)

        return run

    one, two = seconds_in_turn([on(1), on(2)], repeats=5)
    return f"two threads: {one / two:.2f} × one ({environments} environments of Panda)"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rollouts", description=__doc__)
    parser.add_argument("--environments", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args()
    console = Console(highlight=False)
    console.print(table(list(rows(options.environments, options.steps))))
    console.print(inverse_kinematics())
    console.print(gradient())
    console.print(recording())
    console.print(diverging())
    console.print(actuated())
    console.print(threads())


if __name__ == "__main__":
    main()
