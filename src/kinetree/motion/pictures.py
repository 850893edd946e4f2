"""Pictures of motions: joint forces over time, costs by iteration, stick figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.motion.arrays import Array
from kinetree.robot import checks
from kinetree.simulate.figures import new_figure, save_figure

if TYPE_CHECKING:
    from kinetree.motion.motion import Motion
    from kinetree.motion.result import Transition
    from kinetree.robot import Robot


def _saved(figure: Any, path: str | Path | None) -> Any:
    if path is not None:
        save_figure(figure, path)
    return figure


def plot_motion(motion: Motion, path: str | Path | None = None) -> Any:
    """q, v and the joint forces over time, a panel each.

    Arguments:
        motion: what is drawn.
        path: where to save it; not saved if None.
    """
    figure = new_figure(7.0, 7.0)
    panels = figure.subplots(3, 1, sharex=True)
    for panel, name in zip(panels, ("q", "v", "tau"), strict=True):
        panel.plot(motion.times, getattr(motion, name), linewidth=1.0)
        panel.set_ylabel(name)
        panel.grid(alpha=0.3)
    panels[-1].set_xlabel("time, s")
    return _saved(figure, path)


def plot_transition(found: Transition, path: str | Path | None = None) -> Any:
    """The joint forces over time, dashed where their limits are, and the cost by iteration.

    Arguments:
        found: what is drawn; of a batch, the first problem.
        path: where to save it; not saved if None.
    """
    first = (0,) * found.value.ndim
    motion = found.motion(index=first)
    figure = new_figure(8.0, 3.5)
    forces, costs = figure.subplots(1, 2)
    lines = forces.plot(motion.times, motion.tau, linewidth=1.0)
    largest = float(np.abs(motion.tau).max())
    for line, limit in zip(lines, found.robot.limits.effort, strict=True):
        if 0.0 < limit < 2.0 * largest:
            for side in (-limit, limit):
                forces.axhline(side, linestyle="--", linewidth=0.6, color=line.get_color())
    forces.set_xlabel("time, s")
    forces.set_ylabel("joint forces")
    history = found.history.reshape(len(found.history), -1)[:, 0]
    costs.plot(history, linewidth=1.0)
    if (history > 0.0).all():
        costs.set_yscale("log")
    costs.set_xlabel("iteration")
    costs.set_ylabel("cost")
    for panel in (forces, costs):
        panel.grid(alpha=0.3)
    return _saved(figure, path)


def segments(robot: Robot, q: Array) -> Array:
    """Lines between the origins of bodies and those of their parents: (..., lines, 2, 3), m.

    A body that carries no other is drawn to its centre of mass.

    Arguments:
        robot: what is drawn.
        q: configurations, (..., nq).
    """
    poses = robot.poses(q)
    bodies = robot.model.bodies
    parents = [body.parent for body in bodies]
    lines = [
        np.stack([poses[..., p, :3, 3], poses[..., i, :3, 3]], axis=-2)
        for i, p in enumerate(parents)
        if p >= 0
    ]
    for i, body in enumerate(bodies):
        mass = float(body.inertia.mass)
        if i not in parents and mass > 0.0:
            center = np.array([float(x) / mass for x in body.inertia.moment])
            tip = poses[..., i, :3, :3] @ center + poses[..., i, :3, 3]
            lines.append(np.stack([poses[..., i, :3, 3], tip], axis=-2))
    return np.stack(lines, axis=-3)


def stick_figures(
    motion: Motion, path: str | Path | None = None, count: int = 8, axes: Any = "xz"
) -> Any:
    """Stick figures at equal intervals of time, side by side.

    Arguments:
        motion: what is drawn.
        path: where to save it; not saved if None.
        count: how many.
        axes: the two axes of the world that are seen, such as "xz".
    """
    count = checks.count("count", count)
    if not isinstance(axes, str) or len(axes) != 2 or not set(axes) <= set("xyz"):
        raise KinetreeError(f"axes={axes!r}: two of x, y and z are expected, such as 'xz'")
    seen = ["xyz".index(axis) for axis in axes]
    times = np.linspace(motion.times[0], motion.times[-1], count)
    lines = segments(motion.robot, motion.at(times).q)[..., seen]
    step = 1.1 * float(np.ptp(lines[..., 0]))
    figure = new_figure(1.2 * count, 3.0)
    panel = figure.subplots()
    for k, (t, drawn) in enumerate(zip(times, lines, strict=True)):
        for line in drawn:
            panel.plot(line[:, 0] + k * step, line[:, 1], "o-", color="C0", markersize=2)
        panel.annotate(f"{t:.2f} s", (k * step, float(lines[..., 1].min())), fontsize=7)
    panel.set_aspect("equal")
    panel.set_axis_off()
    return _saved(figure, path)
