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
        count: the number of figures.
        axes: the two axes of the world that are seen, such as "xz".
    """
    times, lines, colors = _figures(motion, count, axes)
    low = float(lines[..., 1].min())
    middles = 0.5 * (lines[..., 0].max(axis=(1, 2)) + lines[..., 0].min(axis=(1, 2)))
    step = 1.15 * float(np.ptp(lines[..., 0] - middles[:, None, None]))
    figure = new_figure(max(1.2 * len(times), 4.0), 3.2)
    panel = figure.subplots()
    for k, (t, drawn) in enumerate(zip(times, lines, strict=True)):
        for line, color in zip(drawn, colors, strict=True):
            panel.plot(
                line[:, 0] - middles[k] + k * step, line[:, 1], "o-", color=color, markersize=2
            )
        panel.annotate(
            f"{t:.2f} s",
            (k * step, low),
            (0, -8),
            textcoords="offset points",
            va="top",
            ha="center",
            fontsize=7,
        )
    _stand(panel, axes, low)
    return _saved(figure, path)


def strobe(
    motion: Motion, path: str | Path | None = None, count: int = 12, axes: Any = "xz"
) -> Any:
    """Stick figures at their positions, as in a strobe photograph, later ones darker.

    Arguments:
        motion: what is drawn.
        path: where to save it; not saved if None.
        count: the number of figures.
        axes: the two axes of the world that are seen, such as "xz".
    """
    times, lines, colors = _figures(motion, count, axes)
    size = np.ptp(lines[..., 0]) / max(float(np.ptp(lines[..., 1])), 1e-9)
    figure = new_figure(float(np.clip(3.0 * size, 3.0, 12.0)), 3.2)
    panel = figure.subplots()
    for k, drawn in enumerate(lines):
        shade = 0.25 + 0.75 * k / max(len(times) - 1, 1)
        for line, color in zip(drawn, colors, strict=True):
            panel.plot(line[:, 0], line[:, 1], "-", color=color, alpha=shade, linewidth=1.2)
    _stand(panel, axes, float(lines[..., 1].min()))
    return _saved(figure, path)


def _figures(motion: Motion, count: int, axes: Any) -> tuple[Array, Array, list[str]]:
    """Figures at equal intervals: their times, their lines in the drawing plane, the colours."""
    count = checks.count("count", count)
    seen = _checked_axes(axes)
    times = np.linspace(motion.times[0], motion.times[-1], count)
    lines = segments(motion.robot, motion.at(times).q)[..., seen]
    return times, lines, [_side_color(name) for name in segment_names(motion.robot)]


def _stand(panel: Any, axes: str, low: float) -> None:
    """Draw the ground under upright figures, and hide the axes."""
    if axes[1] == "z":
        panel.axhline(low, color="0.6", linewidth=0.8, zorder=0)
    panel.set_aspect("equal")
    panel.set_axis_off()


def _checked_axes(axes: Any) -> list[int]:
    """The indices of two axes of the world."""
    if not isinstance(axes, str) or len(axes) != 2 or not set(axes) <= set("xyz"):
        raise KinetreeError(f"axes={axes!r}: two of x, y and z are expected, such as 'xz'")
    return ["xyz".index(axis) for axis in axes]


def segment_names(robot: Robot) -> list[str]:
    """The body of each line of `segments`."""
    bodies = robot.model.bodies
    parents = [body.parent for body in bodies]
    ends = [
        body.name
        for i, body in enumerate(bodies)
        if i not in parents and float(body.inertia.mass) > 0.0
    ]
    return [body.name for body in bodies if body.parent >= 0] + ends


def _side_color(name: str) -> str:
    """Blue on the left, orange on the right, grey in the middle."""
    plain = name.rpartition(":")[2].lower()
    if plain.startswith(("left", "l_")):
        return "C0"
    return "C1" if plain.startswith(("right", "r_")) else "0.35"
