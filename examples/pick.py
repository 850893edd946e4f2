"""Inverse kinematics for a batch of targets, then operational-space control to one of them."""

import sys
from pathlib import Path

import numpy as np

import kinetree as kt

arm = kt.robots.arm()


def main(folder: Path) -> float:
    """Solve, move, draw, and return the error of the tool at the end."""
    targets = arm.pose(arm.random(1, batch=1000), "tool")
    found = kt.control.InverseKinematics(arm, "tool").solve(targets)
    print(f"{found.success.mean():.1%} of {len(targets)} poses are reached, all within the limits")
    k = int(np.argmin(np.abs(found.q - 0.3).max(axis=-1) + ~found.success))
    law = kt.control.operational_space(arm, "tool", target=targets[k], posture=found.q[k])
    start = arm.integrate(found.q[k], np.full(7, 0.2))
    run = arm.simulate(start, np.zeros(7), law, time=2.0, every=10, record=[("pose", "tool")])
    off = float(np.abs(run["pose_tool"][-1] - targets[k]).max())
    run.plot(folder / "pick.svg", ["q", "tau"])
    print(f"after {run.times[-1]:g} s the tool is {off:.1e} off")
    return off


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
