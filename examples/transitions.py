"""Minimum-effort transitions between motions of the human figure, as in Rose et al.

B. Guenter & C. F. Rose minimise the integral of squared joint torques over B-splines. This script
does the same by Newton's method with banded matrices. Where both feet stand on the ground, they are
held in place. Ground forces are not unknowns: with root=0.0 any force on the pelvis costs nothing,
as if the figure hung from it. The table has the largest such force.

    python examples/transitions.py FOLDER     prints a table, and draws the first transition there
"""

import sys
from pathlib import Path

import numpy as np

import kinetree as kt
from kinetree.motion import human

robot = kt.robots.human()
FEET = [kt.Hold("left_foot"), kt.Hold("right_foot")]
HOW = {"coefficients": 12, "root": 0.0, "tolerance": 1e-6}


def transition(first, second, hold):
    """The transition between two motions at given times, computed twice: the first compiles."""
    for _ in range(2):
        found = robot.transition(first, second, 0.6, hold=hold, **HOW)
    return found


def row(name: str, found) -> str:
    """A row of the table: P before and after, force, limit violation, steps and time."""
    effort = f"{float(found.start_value):.4g} | {float(found.value):.4g}"
    q = found.motion(1000.0).q
    beyond = max((q - robot.limits.upper).max(), (robot.limits.lower - q).max(), 0.0)
    carried = f"{float(found.root_force):.0f} N | {1000.0 * beyond:.2g} mrad"
    return f"| {name} | {effort} | {carried} | {int(found.iterations)} | {found.seconds:.2f} s |"


def main(folder: Path, walking: bool = True) -> float:
    """Print the table, draw the first transition, and return its P relative to the initial P."""
    walk, salute, sit = human.walk(robot), human.salute(robot), human.sit_down(robot)
    weight = 9.81 * robot.total_mass
    print(f"The figure weighs {weight:.0f} N.\n")
    print(
        "| transition of 0.6 s | P before | P after | force at the pelvis | limit violation |",
        end="",
    )
    print(" steps | time |\n|-|-|-|-|-|-|-|")
    found = transition((sit, 0.0), (salute, 1.0), FEET)
    print(row("standing to a salute, feet held", found))
    if walking:
        print(row("walking to a salute", transition((walk, 0.5), (salute, 1.0), ())))
    motion = found.motion()
    slip = np.abs(robot.pose(motion.q, "left_foot") - robot.pose(motion.q[0], "left_foot")).max()
    print(f"\n{found.message}; the left foot moves by {1000.0 * slip:.3g} mm")
    found.plot(folder / "transition.png")
    motion.figures(folder / "transition_figures.png", count=6, axes="yz")
    return float(found.value / found.start_value)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
