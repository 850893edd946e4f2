"""Pictures with Matplotlib (extra `view`): each function returns the figure, and shows no window.

import kinetree as kt

figure = kt.plot.trajectory(robot, robot.simulate(q0, v0, time=2.0))
figure.savefig("motion.png")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinetree._lazy import listing
from kinetree.errors import KinetreeError, among, unknown
from kinetree.kinds import instance, texts
from kinetree.model import Model
from kinetree.model.model import WORLD
from kinetree.robot import Robot, checks
from kinetree.robot.checks import finite_state, real_array
from kinetree.robot.core import check_robot
from kinetree.show.constraint_ends import End, constrained_bodies, constraint_ends
from kinetree.show.offscreen import picture, video
from kinetree.simulate.figures import new_figure
from kinetree.typing import Array, ArrayLike

__all__ = ["energy", "picture", "skeleton", "sparsity", "torque_map", "trajectory", "tree", "video"]
__dir__ = listing(__all__)

PALETTE = ("#0b6e99", "#d9730d", "#448361", "#ad1a72", "#9065b0", "#cb912f", "#64473a", "#787774")
LIMIT = {"linestyle": (0, (4, 3)), "linewidth": 0.9, "alpha": 0.55}
COLUMNS = 20
"""The largest number of curves with a legend."""
BONE, GROUND, CONSTRAINT = "#0b6e99", "#787774", "#d9730d"
VIEWS = {"space": "xyz", "xy": "xy", "xz": "xz", "yz": "yz"}


def trajectory(
    robot: Robot, motion: Mapping[str, ArrayLike], names: Sequence[str] = ("q", "v", "tau")
) -> Any:
    """Coordinates, velocities and joint forces over time, with the limits of joints dashed.

    Arguments:
        robot: whose motion it is.
        motion: a `Simulation`, or arrays by name: times (T,), q (T, nq), v and tau (T, nv), and any
            others (T,) or (T, ...).
        names: which of them to draw, a panel each.

    Returns:
        Matplotlib's figure.
    """
    check_robot(robot)
    names = texts("names", names)
    if not names:
        raise KinetreeError("names is empty: the name of one array or more is expected")
    limits = robot.limits
    rows = {
        "q": (robot.labels.q, "q, rad or m", (limits.lower, limits.upper)),
        "v": (robot.labels.v, "v, rad/s or m/s", (-limits.velocity, limits.velocity)),
        "tau": (robot.labels.v, "τ, N m or N", (-limits.effort, limits.effort)),
    }
    times = _array(motion, "times", 1)
    figure = new_figure(8.0, 0.6 + 2.2 * len(names))
    panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for panel, name in zip(panels, names, strict=True):
        if name in rows:
            labels, title, bounds = rows[name]
            _curves(panel, times, _array(motion, name, 2), labels, bounds)
            panel.set_ylabel(title)
        else:
            _others(panel, times, motion, name)
    panels[-1].set_xlabel("time, s")
    _legend(figure, panels[0], robot.nv)
    return figure


def energy(robot: Robot, motion: Mapping[str, ArrayLike]) -> Any:
    """Kinetic, potential and total energy over time.

    Arguments:
        robot, motion: as in `trajectory`.

    Returns:
        Matplotlib's figure.
    """
    check_robot(robot)
    times, q, v = _array(motion, "times", 1), _array(motion, "q", 2), _array(motion, "v", 2)
    kinetic, potential = robot.kinetic_energy(q, v), robot.potential_energy(q)
    figure = new_figure(8.0, 3.4)
    axes = figure.subplots()
    curves = {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}
    for k, (name, values) in enumerate(curves.items()):
        axes.plot(times, values, color=PALETTE[k], label=name, linewidth=2.2 if k == 2 else 1.4)
    axes.set(xlabel="time, s", ylabel="energy, J")
    _tidy(axes)
    axes.legend(frameon=False)
    return figure


def torque_map(
    robot: Robot,
    joints: tuple[str, str],
    torque: str,
    q: ArrayLike | None = None,
    count: int = 201,
) -> Any:
    """The gravity torque of one joint over the positions of two.

    Where the joint has an effort limit, a line shows where the torque reaches it.

    Arguments:
        robot: its other joints stay where q has them.
        joints: the names of two coordinates, along x and y; within their limits.
        torque: the name of the velocity whose force is drawn.
        q: configuration, (nq,); neutral by default.
        count: of points along each axis.

    Returns:
        Matplotlib's figure.
    """
    check_robot(robot)
    count = checks.count("count", count)
    joints = _two(joints)
    x, y = (_index(robot.labels.q, "coordinate", name, robot) for name in joints)
    which = _index(robot.labels.v, "velocity", torque, robot)
    at = robot.neutral() if q is None else finite_state("q", q, robot.nq)
    ranges = [_range(robot, k, count) for k in (x, y)]
    states = np.tile(at, (count, count, 1))
    states[..., x], states[..., y] = np.meshgrid(*ranges)
    forces = robot.gravity_forces(states)[..., which]
    figure = new_figure(6.0, 5.0)
    axes = figure.subplots()
    largest = np.abs(forces).max() or 1.0
    image = axes.pcolormesh(
        *ranges, forces, cmap="RdBu_r", vmin=-largest, vmax=largest, shading="nearest"
    )
    unit = "N m" if robot.labels.v_units[which].startswith("rad") else "N"
    figure.colorbar(image, label=f"gravity torque of {torque}, {unit}")
    limit = robot.limits.effort[which]
    if limit < largest:
        axes.contour(*ranges, np.abs(forces), levels=[limit], colors="black", linewidths=1.2)
    units = [robot.labels.q_units[k] for k in (x, y)]
    axes.set(xlabel=f"{joints[0]}, {units[0]}", ylabel=f"{joints[1]}, {units[1]}")
    return figure


def sparsity(robot: Robot) -> Any:
    """Which entries of the mass matrix, and of its factor L in M = LᵀL, can be other than zero.

    Arguments:
        robot: whose matrices they are.

    Returns:
        Matplotlib's figure.
    """
    check_robot(robot)
    figure = new_figure(9.0, 4.6)
    panels = figure.subplots(1, 2)
    for panel, name, title in zip(
        panels, ("mass_matrix", "mass_matrix_factor"), ("M", "L"), strict=True
    ):
        (pattern,) = robot.kernel(name).sparsity.values()
        panel.imshow(pattern, cmap="Blues", vmin=0.0, vmax=1.4, interpolation="nearest")
        share = pattern.sum() / pattern.size
        panel.set_title(f"{title}: {pattern.sum():,} of {pattern.size:,} entries ({share:.0%})")
        if robot.nv <= COLUMNS:
            ticks = range(robot.nv)
            panel.set_xticks(ticks, robot.labels.v, rotation=90, fontsize=7)
            panel.set_yticks(ticks, robot.labels.v, fontsize=7)
    return figure


def skeleton(robot: Robot, q: ArrayLike | None = None, view: str = "space") -> Any:
    """A robot as lines: from the frame of each body to its joints, and to its constraints.

    A dot marks where a constraint acts on a frame; a line joins its two dots, and shows a rod or a
    loop that is open. Bodies are blue, what is fixed in the world is grey, constraints are orange.

    Arguments:
        robot: what is drawn.
        q: configuration, (nq,); neutral by default.
        view: "space", or the plane that it is drawn in: "xy", "xz" or "yz".

    Returns:
        Matplotlib's figure.
    """
    check_robot(robot)
    at = robot.neutral() if q is None else finite_state("q", q, robot.nq)
    if not among(view, VIEWS):
        raise unknown("view", view, VIEWS, "kinetree.plot.skeleton")
    shown = ["xyz".index(axis) for axis in VIEWS[view]]
    figure = new_figure(4.8, 4.2)
    axes = figure.add_subplot(projection="3d" if view == "space" else None)
    poses = robot.poses(at)
    ends = constraint_ends(robot.model)
    for body, points in _bones(robot.model, ends).items():
        start = End(body, np.zeros(3)).at(poses)
        color, width = (GROUND, 2.0) if body == WORLD else (BONE, 2.6)
        for end in points:
            line = np.array([start, end.at(poses)])[:, shown]
            axes.plot(*line.T, color=color, linewidth=width, solid_capstyle="round")
            axes.plot(*line[:1].T, "o", color=color, markersize=4.0)
    for pair in ends:
        line = np.array([end.at(poses) for end in pair])[:, shown]
        axes.plot(*line.T, "o-", color=CONSTRAINT, linewidth=1.6, markersize=6.0, zorder=4)
    for name, axis in zip(VIEWS[view], "xyz", strict=False):
        getattr(axes, f"set_{axis}label")(f"{name}, m")
    _equal_scales(figure, axes, len(shown))
    return figure


def _equal_scales(figure: Any, axes: Any, count: int) -> None:
    """Draw metres equally long along all axes, and leave little of the figure empty."""
    names = "xyz"[:count]
    bounds = np.array([getattr(axes, f"get_{axis}lim")() for axis in names])
    half = np.ptp(bounds, axis=1) / 2
    share = 0.3 if count == 2 else 0.5  # room for the numbers along a short axis
    half = np.maximum(half, share * half.max())
    for axis, center, reach in zip(names, bounds.mean(axis=1), half, strict=True):
        getattr(axes, f"set_{axis}lim")(center - reach, center + reach)
    if count == 2:
        axes.set_aspect("equal")
        axes.locator_params(axis="x", nbins=6)
        _tidy(axes)
        figure.set_size_inches(4.8, min(0.7 + 4.1 * half[1] / half[0], 6.0))
    else:
        axes.set_box_aspect(half, zoom=0.85)
        axes.locator_params(nbins=3)
        axes.tick_params(labelsize=8)


def _bones(model: Model, ends: list[tuple[End, ...]]) -> dict[int, list[End]]:
    """What a line leads to from the frame of each body: joints, and the ends of constraints.

    A body that has neither ends at its centre of mass.
    """
    bones: dict[int, list[End]] = {i: [] for i in (WORLD, *range(len(model.bodies)))}
    for body in model.bodies:
        if body.joint.nv < 6:
            bones[body.parent].append(End.on(body.parent, body.placement))
    for end in (end for pair in ends for end in pair):
        bones[end.body].append(end)
    for i, body in enumerate(model.bodies):
        if not bones[i] and float(body.inertia.mass) > 0.0:
            point, _ = body.inertia.center_and_rotational()
            bones[i].append(End(i, np.array([float(x) for x in point])))
    return bones


def tree(robot: Robot) -> Any:
    """The bodies as a tree: the base on the left, the area of a circle proportional to its mass.

    A dashed line joins the bodies that a constraint is between.

    Arguments:
        robot: whose tree it is.

    Returns:
        Matplotlib's figure.
    """
    check_robot(robot)
    bodies = robot.model.bodies
    places = _layout([body.parent for body in bodies])
    depth = max((x for x, _ in places.values()), default=0)
    rows = len({y for _, y in places.values()})
    figure = new_figure(1.6 + 1.35 * depth, 1.2 + 0.62 * rows)
    axes = figure.subplots()
    heaviest = max((float(body.inertia.mass) for body in bodies), default=0.0) or 1.0
    for i, body in enumerate(bodies):
        start, end = places[body.parent], places[i]
        axes.plot(*zip(start, end, strict=True), color="#b8b8b8", linewidth=1.4, zorder=1)
        middle = (start[0] + 0.62 * (end[0] - start[0]), start[1] + 0.62 * (end[1] - start[1]))
        axes.annotate(
            body.joint_name, middle, ha="center", va="bottom", fontsize=6, color="#666666"
        )
        size = 30.0 + 270.0 * float(body.inertia.mass) / heaviest
        color = PALETTE[0] if body.follows is None else PALETTE[1]
        axes.scatter(*end, s=size, color=color, zorder=2)
        below = -3.0 - 0.5 * np.sqrt(size)
        text = {"ha": "center", "va": "top", "fontsize": 7, "textcoords": "offset points"}
        axes.annotate(body.name, end, (0.0, below), **text)
    for constraint in robot.model.constraints:
        joined = [places[i] for i in constrained_bodies(robot.model, constraint)]
        dashes = {"linestyle": (0, (4, 3)), "linewidth": 1.2, "zorder": 1}
        axes.plot(*zip(*joined, strict=True), color=CONSTRAINT, label=constraint.name, **dashes)
    axes.scatter(*places[WORLD], marker="s", s=60, color="black", zorder=2)
    axes.margins(0.08, 0.12)
    axes.set_axis_off()
    return figure


def _layout(parents: Sequence[int]) -> dict[int, tuple[float, float]]:
    """Depth to the right; leaves one below another, a parent beside the middle of its children."""
    children: dict[int, list[int]] = {i: [] for i in (WORLD, *range(len(parents)))}
    for i, parent in enumerate(parents):
        children[parent].append(i)
    depths = {WORLD: 0}
    heights: dict[int, float] = {}
    for i, parent in enumerate(parents):
        depths[i] = depths[parent] + 1
    leaves = [i for i in range(len(parents)) if not children[i]]
    heights |= {i: -float(k) for k, i in enumerate(leaves)}
    for i in (*reversed(range(len(parents))), WORLD):
        if i not in heights:
            below = [heights[k] for k in children[i]]
            heights[i] = (min(below) + max(below)) / 2 if below else 0.0
    return {i: (float(depths[i]), heights[i]) for i in depths}


def _curves(
    panel: Any, times: Array, values: Array, names: Sequence[str], bounds: tuple[Array, Array]
) -> None:
    """A curve a column; limits dashed in its colour, where they are near."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = 0.5 * (high - low) or 1.0
    for k, name in enumerate(names):
        color = PALETTE[k % len(PALETTE)]
        panel.plot(times, values[:, k], color=color, linewidth=1.4, label=name)
        for bound in bounds:
            if low - margin <= bound[k] <= high + margin:
                panel.axhline(bound[k], color=color, **LIMIT)
    _tidy(panel)


def _others(panel: Any, times: Array, motion: Mapping[str, ArrayLike], name: str) -> None:
    """A recorded array: a curve for each of its entries."""
    values = _found(motion, name)
    if values.shape[:1] != times.shape:
        raise KinetreeError(
            f"{name} has shape {values.shape}; ({len(times)}, ...) is expected, as of one motion"
        )
    for k, curve in enumerate(values.reshape(len(times), -1).T):
        panel.plot(times, curve, color=PALETTE[k % len(PALETTE)], linewidth=1.4)
    panel.set_ylabel(name)
    _tidy(panel)


def _tidy(axes: Any) -> None:
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _legend(figure: Any, panel: Any, count: int) -> None:
    if count <= COLUMNS:
        handles, names = panel.get_legend_handles_labels()
        figure.legend(handles, names, loc="outside right upper", frameon=False, fontsize=8)


def _found(motion: Mapping[str, ArrayLike], name: str) -> Array:
    """An array of a motion."""
    if not among(name, instance("motion", motion, Mapping, "a simulation, or arrays by name")):
        raise unknown("array", name, list(motion), "the motion")
    return real_array(name, motion[name])


def _array(motion: Mapping[str, ArrayLike], name: str, axes: int) -> Array:
    """An array of a motion of one robot."""
    array = _found(motion, name)
    if array.ndim != axes:
        raise KinetreeError(
            f"{name} has shape {array.shape}: one motion is drawn, with {axes} "
            f"{'axis' if axes == 1 else 'axes'}; choose one environment"
        )
    return array


def _two(joints: Any) -> tuple[str, str]:
    names = texts("joints", joints)
    if len(names) != 2:
        raise KinetreeError(f"joints: the names of two coordinates are expected, got {joints!r}")
    return names[0], names[1]


def _index(names: Sequence[str], kind: str, name: str, robot: Robot) -> int:
    if not among(name, names):
        raise unknown(kind, name, names, f"robot {robot.name!r}")
    return names.index(name)


def _range(robot: Robot, k: int, count: int) -> Array:
    """The range of a coordinate: its limits, or a turn (a metre to either side) without any."""
    free = np.pi if robot.labels.q_units[k] == "rad" else 1.0
    lower, upper = robot.limits.lower[k], robot.limits.upper[k]
    start, stop = max(lower, -free), min(upper, free)
    return np.linspace(start, stop, count)
