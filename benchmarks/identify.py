"""Identification beside Pinocchio: regressors, and a model from a million samples.

OPENBLAS_NUM_THREADS=1 python -m benchmarks.identify [samples]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np
import pinocchio as pin

import kinetree as kt
from benchmarks.pinocchio_rows import ROBOTS, cases
from benchmarks.timing import seconds_in_turn, write_bandwidth
from kinetree.identify import Log, Parameters, fit, to_order

BATCH, LOOPED = 10_000, 1_000
G1 = ROBOTS / "g1_description/urdf/g1_29dof_rev_1_0.urdf"


def robots() -> dict[str, tuple[kt.Robot, pin.Model]]:
    """Each robot, as Kinetree and as Pinocchio have it."""
    panda = cases()[0]
    free = pin.buildModelFromUrdf(str(G1), pin.JointModelFreeFlyer())
    return {
        "Panda": (panda.robot, panda.peer),
        "G1, floating": (kt.load(G1, base="floating"), free),
    }


def regressor_row(name: str, robot: kt.Robot, model: pin.Model) -> str:
    """Both regressors at the same states, checked against each other, then timed in turn."""
    data = model.createData()
    rng = np.random.default_rng(0)
    q = robot.random(rng, BATCH)
    v, a = rng.standard_normal((2, BATCH, robot.nv))
    Y = robot.regressor(q, v, a)
    phi = robot.inertial_parameters
    bare = robot.without("armature", "damping", "friction", "springs")
    scale = np.abs(bare.inverse_dynamics(q, v, a)).max()
    assert np.abs(Y @ phi - bare.inverse_dynamics(q, v, a)).max() < 1e-10 * scale
    theirs = pin.computeJointTorqueRegressor(model, data, q[0], v[0], a[0])
    forces = theirs @ to_order(phi, "pinocchio")
    assert np.abs(forces - bare.inverse_dynamics(q[0], v[0], a[0])).max() < 1e-9 * scale

    def peer() -> None:
        for k in range(LOOPED):
            pin.computeJointTorqueRegressor(model, data, q[k], v[k], a[k])

    ours, loop = seconds_in_turn([lambda: robot.regressor(q, v, a, out=Y), peer], repeats=5)
    ours, loop = ours / BATCH, loop / LOOPED
    share = Y.nbytes / BATCH / ours / write_bandwidth(Y.nbytes)
    return (
        f"| {name} ({robot.nv} x {Y.shape[-1]}) | {ours * 1e9:.0f} ns | {loop * 1e9:.0f} ns | "
        f"{loop / ours:.0f} x | {share:.0%} |"
    )


def from_states_to_a_model(samples: int) -> Iterator[str]:
    """Panda: states and noisy forces to base parameters and to a consistent model."""
    robot = cases()[0].robot
    rng = np.random.default_rng(0)
    drives = ("damping", "friction")
    parameters = Parameters(robot, drives)
    theta = parameters.nominal
    theta[parameters.inertial_count :] = 0.3
    real = parameters.applied(theta)
    t = np.arange(samples) * 1e-3
    w = 2.0 * np.pi * rng.uniform(0.05, 0.4, robot.nv)
    q = np.sin(t[:, None] * w)
    v, a = w * np.cos(t[:, None] * w), -w * w * q
    tau = real.inverse_dynamics(q, v, a) + 0.1 * rng.standard_normal(q.shape)
    log = Log(robot, t, q, tau, v, a)
    fit(robot, log.part(slice(0, 2000)))  # compiled
    for method in ("base", "log-cholesky", "lmi"):
        started = time.perf_counter()
        try:
            found = fit(robot, log, method=method)  # type: ignore[arg-type]
        except kt.errors.MissingExtraError as e:
            yield f"| {method} | {e} |"
            continue
        taken = time.perf_counter() - started
        yield f"| {samples} samples, {method} | {taken:.2f} s | impossible: {found.impossible} |"


def main() -> None:
    """Print the tables."""
    warnings.simplefilter("ignore")
    print("| regressor | Kinetree, a state of a batch | Pinocchio, looped | | of write bandwidth |")
    print("|-|-|-|-|-|")
    for name, (robot, model) in robots().items():
        print(regressor_row(name, robot, model))
    for line in from_states_to_a_model(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000):
        print(line)


if __name__ == "__main__":
    main()
