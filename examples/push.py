"""A standing human is pushed and keeps its balance: model-predictive control with forces in cones.

Plans hold both feet; they keep the ground's forces unilateral, within friction, and the centre of
pressure inside each sole. The figure that moves stands on soft ground, and nothing holds its feet.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.constraints import HeldFrame

BALLS = ("head", "left_hand", "right_hand", "middle_trunk")
LOCKED = {f"{name}_joint": [0.0, 0.0, 0.0, 1.0] for name in BALLS}
LOCKED |= {"left_forearm_joint": 0.0, "right_forearm_joint": 0.0}
FEET = ("left_foot", "right_foot")
FRICTION, HEEL, TOE, SIDE, SOLE = 0.6, -0.05, 0.14, 0.04, -0.08  # m, from the ankle
STEP, PUSH = 0.02, 0.35  # s, m/s

figure = kt.robots.human().edit.lock(LOCKED)
human = figure.constrain(*(HeldFrame(f, f, anywhere=True) for f in FEET))
STANDING = human.neutral()
STANDING[2] -= human.pose(STANDING, "left_foot")[2, 3] + SOLE
WEIGHT = human.gravity_forces(STANDING)[2]


def cost(t, q, v, tau, pose, force):
    """What is squared: distance from standing upright, speeds, joint torques."""
    upright = [*(8.0 * (q[:2] - STANDING[:2])), 4.0 * (q[2] - STANDING[2]), *(6.0 * q[3:6])]
    posture = [0.6 * (x - x0) for x, x0 in zip(q[7:], STANDING[7:], strict=True)]
    return [*upright, *posture, *(1.0 * v[:6]), *(0.15 * v[6:]), *(0.004 * tau[6:])]


def final(q, v, pose):
    """The same of the last state, without torques."""
    return [*(3.0 * (q[:2] - STANDING[:2])), *(3.0 * q[3:6]), *(1.5 * v[:6]), *(0.15 * v[6:])]


def cones(t, q, v, tau, pose, force):
    """What must not be positive: forces of each foot outside of its cone and its sole."""
    rows = {}
    for foot in FEET:
        x, y, z, mx, my, _ = (part / WEIGHT for part in force(foot))
        ahead, aside = SOLE * x - my, mx + SOLE * y  # centre of pressure times z
        rows[f"load of {foot}"] = 0.05 - z
        rows[f"friction of {foot}"] = [x - FRICTION * z, -x - FRICTION * z]
        rows[f"side friction of {foot}"] = [y - FRICTION * z, -y - FRICTION * z]
        rows[f"pressure under {foot}"] = [ahead - TOE * z, HEEL * z - ahead]
        rows[f"side pressure under {foot}"] = [aside - SIDE * z, -aside - SIDE * z]
    return rows


def problem(steps=30):
    """The horizon of the controller."""
    motors = np.arange(human.nv) >= 6
    return human.optimal_control(
        cost, final, steps=steps, dt=STEP, actuated=motors, inequalities=cones
    )


def pushed(speed=PUSH):
    """The velocity of a figure that moves forward as a whole, its feet at rest."""
    v = np.zeros(human.nv)
    v[0] = speed
    return human.constraints.project_velocity(STANDING, v)


def main(folder: Path, seconds: float = 2.0) -> float:
    """Balance after a push, draw it, and return how far the pelvis is from where it was, m."""
    control = problem().mpc(iterations=2)
    ground = figure.on_ground(friction=0.8)
    run = control.run(STANDING, pushed(), seconds, plant=ground, substeps=10)
    away = float(np.abs(run.q[-1, :2] - STANDING[:2]).max())
    sway = np.abs(run.q[:, 0] - STANDING[0]).max()
    print(
        f"pushed at {PUSH} m/s, it sways by {100 * sway:.1f} cm and is {100 * away:.1f} cm from "
        f"upright after {seconds:g} s, at {np.abs(run.v[-1, :2]).max():.3f} m/s"
    )
    draw(run, ground, folder / "push.png")
    return away


def draw(run, ground, path):
    """Figures over time, the way of the centre of mass, and the forces under both feet."""
    picture = Figure((9.0, 7.0), layout="constrained")
    above, below = picture.subplots(2, 1, height_ratios=(1.3, 1.0))
    for count, k in enumerate(np.linspace(0, len(run.times) - 1, 9).astype(int)):
        poses = human.poses(run.q[k])[:, :3, 3] + [0.9 * count, 0.0, 0.0]
        for i, body in enumerate(human.model.bodies):
            if body.parent >= 0:
                ends = poses[[body.parent, i]]
                above.plot(ends[:, 0], ends[:, 2], "C0" if "left" in body.name else "k", lw=1.5)
        for foot in FEET:
            pose = human.pose(run.q[k], foot)
            sole = [
                (pose @ [x, 0.0, SOLE, 1.0])[:3] + np.array([0.9 * count, 0, 0])
                for x in (HEEL, TOE)
            ]
            above.plot([x[0] for x in sole], [x[2] for x in sole], "k", lw=2.5)
        above.text(0.9 * count, 1.75, f"{run.times[k]:.2f} s", ha="center", fontsize=8)
    above.axhline(0.0, color="k", lw=0.5)
    above.set(aspect="equal", xlabel="x (m)", ylabel="z (m)", ylim=(-0.1, 1.9))
    com = human.center_of_mass(run.q)[:, 0] - human.center_of_mass(STANDING)[0]
    below.plot(run.times, 100.0 * com, label="centre of mass, forward (cm)")
    tau = run.problem.forces(run.q[:-1], run.v[:-1], run.u)
    forces = ground.contact.forces(run.q[:-1], run.v[:-1], tau)[..., 2]
    names = ground.contact.touch_names
    for foot in FEET:
        load = sum(forces[:, k] for k, name in enumerate(names) if foot in name)
        below.plot(run.times[:-1], load / 10.0, label=f"load of the {foot} (10 N)", lw=1)
    below.set(xlabel="time (s)")
    below.legend(fontsize=8)
    picture.savefig(path, dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
