"""A Stewart platform rocks its plate: six cylinders push, all other joints are passive."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

CYLINDERS = [f"slide{k}" for k in range(1, 7)]
TILT, HEAVE, RATE = 0.15, 0.04, 2.0 * np.pi  # rad, m and rad/s
robot = kt.robots.hexapod()


def rocking(times):
    """The plate's tilt goes round while it heaves; the legs follow: q, v and a at each time."""
    q = np.tile(robot.neutral(), (len(times), 1))
    start = robot.nq - 7  # of the plate's pose, (x, y, z, quaternion)
    swell = 1.0 - np.cos(RATE * times)  # it starts and ends at rest
    q[:, start + 2] += HEAVE * swell
    q[:, start + 3] = TILT / 4.0 * swell * np.sin(RATE * times)
    q[:, start + 4] = TILT / 4.0 * swell
    q = robot.constraints.assemble(robot.normalize(q), held="plate_pose")  # in one batch
    v = robot.charts.velocities_along(times, q)
    return q, v, np.gradient(v, times, axis=0)


def main(folder: Path, time: float = 1.0, dt: float = 2e-3) -> tuple[float, float, float]:
    """Rock; return the errors of the plate and of the loops, and the weight that is not carried."""
    times = dt * np.arange(round(time / dt))
    q, v, a = rocking(times)
    law = kt.control.computed_torque(robot, kp=900.0, kd=60.0, actuated=CYLINDERS)
    run = robot.simulate(
        q[0],
        v[0],
        law,
        time=time,
        dt=dt,
        p=law.pack(target=q, velocity=v, acceleration=a),
        series=True,
        record=["constraint_errors"],
    )
    off = float(np.abs(run.q[:-1, -7:-4] - q[:, -7:-4]).max())
    loops = float(np.abs(run["constraint_errors"]).max())
    driven = [robot.labels.v.index(name) for name in CYLINDERS]
    pushes = run.tau[:, driven]
    # at rest, the six cylinders hold what is above them: the power of a slow lift is m g z'
    still = np.zeros(robot.nv)
    hold = robot.constraints.inverse_dynamics(q[0], still, still, actuated=CYLINDERS)[0]
    lift = robot.constraints.project_velocity(q[0], np.eye(robot.nv)[-4])
    missing = float(abs((hold - robot.gravity_forces(q[0])) @ lift) / (hold @ lift))
    print(f"the plate is off by up to {off:.1e} m, the loops by {loops:.1e} m")
    print(f"cylinders push with {pushes.min():.0f} to {pushes.max():.0f} N")
    print(f"the power of a lift differs from that of gravity by {missing:.1e} of it")
    figure = Figure(figsize=(8.0, 3.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(run.times, run.q[:, driven] * 1e3)
    left.set(xlabel="time, s", ylabel="strokes of the cylinders, mm")
    right.plot(run.times[:-1], pushes[:-1])
    right.set(xlabel="time, s", ylabel="forces of the cylinders, N")
    figure.savefig(folder / "hexapod_rocking.svg")
    return off, loops, missing


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
