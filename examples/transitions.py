"""Transitions of least effort between motions of the human figure, as Rose et al. made them.

B. Guenter & C. F. Rose minimise the integral of squared joint torques over B-splines; so does this,
by Newton's method with band matrices. The feet stay where they are when the transition starts.
"""

import sys
from pathlib import Path

import numpy as np

import kinetree as kt
from kinetree.motion import human

robot = kt.robots.human()
FEET = [kt.Hold("left_foot"), kt.Hold("right_foot")]


def main(folder: Path) -> float:
    """Salute after standing up half-way, draw it, and give P over that of the start."""
    sit, salute = human.sit_down(robot), human.salute(robot)
    found = robot.transition(
        (sit, 0.0), (salute, 1.0), 0.6, coefficients=12, root=0.0, hold=FEET, tolerance=1e-6
    )
    print(f"P = {found.value:.4g} (start: {found.start_value:.4g}), {found.message}")
    print(f"{found.iterations} iterations, {found.seconds:.2f} s")
    motion = found.motion()
    slip = np.abs(robot.pose(motion.q, "left_foot") - robot.pose(motion.q[0], "left_foot")).max()
    print(f"the left foot moves by {1000.0 * slip:.3g} mm")
    found.plot(folder / "transition.png")
    motion.figures(folder / "transition_figures.png", count=6, axes="yz")
    return float(found.value / found.start_value)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
