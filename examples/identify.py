"""From a recorded log to a better model: an arm with wrong CAD masses and joint friction."""

import sys
from pathlib import Path

import numpy as np

import kinetree as kt
from kinetree.identify import Parameters, exciting_motion, filtered, fit, read

cad = kt.robots.arm()
RATE, NOISE = 200.0, (1e-5, 0.2)  # Hz; rad and N m


def record(path: Path) -> None:
    """Move the real arm, whose parameters are unknown, and write its sensor readings."""
    rng = np.random.default_rng(0)
    drives = ("damping", "friction")
    theta = Parameters(cad, drives).nominal
    theta[:70] *= np.repeat(rng.uniform(0.7, 1.3, 7), 10)  # links lighter and heavier than in CAD
    theta[70:] = rng.uniform(0.2, 1.0, 14)
    real = Parameters(cad, drives).applied(theta)
    t = np.arange(0.0, 20.0, 1.0 / RATE)
    q, v, a = exciting_motion(cad, duration=20.0, harmonics=8)(t)
    tau = real.inverse_dynamics(q, v, a)
    q, tau = (x + s * rng.standard_normal(x.shape) for x, s in zip((q, tau), NOISE, strict=True))
    names = [f"{kind}_{joint}" for kind in ("q", "tau") for joint in cad.joints]
    table = np.column_stack([t, q, tau])
    np.savetxt(path, table, delimiter=",", header=",".join(["time", *names]), comments="")


def main(folder: Path) -> tuple[float, float]:
    """Identify the arm, and return the errors of its joint forces before and after, N m."""
    record(folder / "log.csv")
    log = filtered(read(folder / "log.csv", cad), cutoff=10.0).without_standstill(0.02)
    train, test = log.split(0.8)
    found = fit(cad, train, validation=test)
    found.save(folder / "better.urdf")
    found.report(folder / "report.md")
    found.plot(folder / "identify.svg")
    before, after = (found.errors(test, robot).rms.mean() for robot in (cad, None))
    print(f"error of joint forces: {before:.3f} N m before, {after:.3f} N m after")
    return float(before), float(after)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
