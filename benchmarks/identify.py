"""Identification beside Pinocchio: regressors, and a model from a million samples.

OPENBLAS_NUM_THREADS=1 python -m benchmarks.identify
OPENBLAS_NUM_THREADS=1 python -m benchmarks.identify --samples 1e8

More than two million samples are streamed: made piece by piece, as a file would be read, and never
in memory together. The time of making them is not counted; the peak of memory is that of the whole
process.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

import kinetree as kt
from benchmarks.pinocchio_rows import ROBOTS, cases
from benchmarks.timing import seconds_in_turn, write_bandwidth
from kinetree.identify import Log, Parameters, fit, to_order

BATCH, LOOPED = 10_000, 1_000
MOST, PIECE = 2_000_000, 200_000
"""Samples that are in memory together, and of a piece of a stream."""
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
    phi = robot.regressors.parameters
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


@dataclass
class Recording:
    """A motion of a robot that rubs, with noise in its forces, piece by piece.

    samples: of all pieces together, one each millisecond.
    seconds: how long it took to make them.
    """

    robot: kt.Robot
    samples: int
    seconds: float = 0.0

    def __post_init__(self) -> None:
        parameters = Parameters(self.robot, ("damping", "friction"))
        theta = parameters.nominal
        theta[parameters.inertial_count :] = 0.3
        self.real = parameters.applied(theta)
        self.w = 2.0 * np.pi * np.random.default_rng(0).uniform(0.05, 0.4, self.robot.nv)

    def piece(self, start: int, count: int) -> Log:
        """Some of the samples."""
        rng, w = np.random.default_rng(start), self.w
        t = np.arange(start, start + count) * 1e-3
        q = np.sin(t[:, None] * w)
        v, a = w * np.cos(t[:, None] * w), -w * w * q
        tau = self.real.inverse_dynamics(q, v, a) + 0.1 * rng.standard_normal(q.shape)
        return Log(self.robot, t, q, tau, v, a)

    def __iter__(self) -> Iterator[Log]:
        for start in range(0, self.samples, PIECE):
            began = time.perf_counter()
            made = self.piece(start, min(PIECE, self.samples - start))
            self.seconds += time.perf_counter() - began
            yield made


def from_a_stream_to_a_model(samples: int) -> Iterator[str]:
    """Panda: more samples than memory has room for."""
    recording = Recording(cases()[0].robot, samples)
    fit(recording.robot, recording.piece(0, 2000))  # compiled
    before, started = peak_memory(), time.perf_counter()
    found = fit(recording.robot, recording)
    taken = time.perf_counter() - started - recording.seconds
    yield (
        f"| {samples} samples, streamed | {taken:.1f} s, {samples / taken:.3g} samples a second | "
        f"peak memory {peak_memory():.0f} MiB ({before:.0f} before) | impossible: "
        f"{found.impossible} |"
    )


def peak_memory() -> float:
    """The most memory that this process has used, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def from_states_to_a_model(samples: int) -> Iterator[str]:
    """Panda: states and noisy forces to base parameters and to a consistent model."""
    recording = Recording(cases()[0].robot, samples)
    robot, log = recording.robot, recording.piece(0, samples)
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=float, default=1e6)
    samples = int(parser.parse_args().samples)
    warnings.simplefilter("ignore")
    if samples > MOST:
        lines = from_a_stream_to_a_model(samples)
    else:
        print("| regressor | Kinetree, a state of a batch | Pinocchio, looped | | of bandwidth |")
        print("|-|-|-|-|-|")
        for name, (robot, model) in robots().items():
            print(regressor_row(name, robot, model))
        lines = from_states_to_a_model(samples)
    for line in lines:
        print(line)


if __name__ == "__main__":
    main()
