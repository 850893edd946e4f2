"""A robot in a scene of viser: its surfaces, frames, masses and torques, at a configuration."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.model.formats.meshes import Triangles
from kinetree.model.model import WORLD
from kinetree.robot import Robot
from kinetree.show.constraint_ends import constraint_ends
from kinetree.show.view.colliders import collider_surfaces
from kinetree.show.view.contacts import ContactNodes, Contacts
from kinetree.show.view.geometry import box, cylinder, ellipsoid, inertia_box
from kinetree.show.view.parts import Surface, along, center, extent, parts
from kinetree.typing import Array

LAYERS = (
    *("surfaces", "constraints", "contacts", "colliders"),
    *("frames", "axes", "centers", "ellipsoids", "torques"),
)
"""The layers that can be shown and hidden."""
SHOWN = ("surfaces", "constraints")
"""The layers that are visible at first."""
COLORS = ((214, 220, 228), (58, 110, 165))
SIDES = {"left": (58, 110, 165), "right": (196, 98, 58)}
"""Colours of inertia boxes and bones, by a word in a body's name."""
BONES, CENTERS, ELLIPSOIDS = (120, 128, 138), (235, 160, 20), (80, 170, 120)
AXES, CONSTRAINTS, COLLIDERS = (40, 44, 52), (217, 115, 13), (126, 87, 194)
POSITIVE, NEGATIVE = (178, 24, 43), (33, 102, 172)
BOX = box(1.0, 1.0, 1.0)


class Scene:
    """The nodes of a robot: one a body, with child nodes for everything fixed in it.

    Arguments:
        scene: viser's, or anything with its methods.
        robot: what is drawn.
        folder: where meshes are looked for; by default in the folder of the robot file.

    surfaces: the number from each source, as in `parts.Surface`.
    failed: the meshes that are not drawn, each with the reason.
    clickable: the nodes of links, each with the link's name.
    joint_axes: the axes of joints, each with the name of the link that the joint moves.
    """

    def __init__(self, scene: Any, robot: Robot, folder: Path | None = None) -> None:
        self.robot, self._scene = robot, scene
        self.size = extent(robot.model)
        self._layers: dict[str, list[Any]] = {layer: [] for layer in LAYERS}
        self._hidden = set(LAYERS) - set(SHOWN)
        self.surfaces: dict[str, int] = {}
        self.clickable: list[tuple[str, Any]] = []
        self.joint_axes: list[tuple[str, Any]] = []
        self._corners: list[tuple[int, Array]] = []
        names = [f"/robot/{k} {_safe(name)}" for k, name in enumerate(robot.bodies)]
        self._names = {WORLD: "/robot/world", **dict(enumerate(names))}
        self._bodies = {
            i: scene.add_frame(name, show_axes=False) for i, name in self._names.items()
        }
        self._add_surfaces(folder)
        self._add_frames()
        self._add_axes()
        for i in range(len(robot.bodies)):
            self._add_inertia(i)
        self._bars = self._add_torques()
        self._ends = constraint_ends(robot.model)
        self._lines = self._add_constraints()
        self._add_colliders()
        self._contacts = ContactNodes(scene, Contacts(robot, self.size), self.size)
        self._layers["contacts"] += self._contacts.handles
        for layer in LAYERS:
            self.show(layer, layer in SHOWN)

    def show(self, layer: str, visible: bool) -> None:
        """Show or hide a layer.

        Arguments:
            layer: one of LAYERS.
            visible: whether it is shown.
        """
        (self._hidden.discard if visible else self._hidden.add)(layer)
        for handle in self._layers[layer]:
            handle.visible = visible

    def shows(self, layer: str) -> bool:
        """Whether a layer is shown.

        Arguments:
            layer: one of LAYERS.
        """
        return layer not in self._hidden

    def update(self, q: Array, contact_forces: Array | None = None) -> None:
        """Move everything to a configuration.

        Arguments:
            q: configuration, (nq,).
            contact_forces: as `robot.contact.forces` gives them, (ntouches, 3), N; contacts are not
                redrawn if None.
        """
        poses = self.robot.poses(q)
        for i, pose in enumerate(poses):
            handle = self._bodies[i]
            handle.wxyz, handle.position = quat_wxyz(pose[:3, :3]), pose[:3, 3]
        if self._lines is not None:
            self._lines.points = self._gaps(poses)
        if contact_forces is not None:
            self._contacts.update(q, contact_forces)
        if self.shows("torques"):
            self._update_torques(self.robot.gravity_forces(q))

    def bounds(self, q: Array) -> tuple[Array, Array]:
        """The smallest and the largest coordinates of all surfaces in the world, (3,) each, m.

        Arguments:
            q: configuration, (nq,).
        """
        poses = {WORLD: np.eye(4), **dict(enumerate(self.robot.poses(q)))}
        corners = [poses[body] @ corner for body, corner in self._corners] or [np.zeros((4, 1))]
        points = np.concatenate(corners, axis=1)[:3]
        return points.min(axis=1), points.max(axis=1)

    def _add_surfaces(self, folder: Path | None) -> None:
        found = parts(self.robot.model, folder)
        self.failed = found.failed
        for k, part in enumerate(found.surfaces):
            self._corners.append((part.body, part.pose @ _box_corners(part.triangles)))
            handle = self._add_surface(f"{self._names[part.body]}/surface{k}", part)
            self.surfaces[part.source] = self.surfaces.get(part.source, 0) + 1
            self._layers["surfaces"].append(handle)
            if part.body != WORLD:
                self.clickable.append((self.robot.bodies[part.body], handle))

    def _add_surface(self, name: str, part: Surface) -> Any:
        vertices, faces = part.triangles
        if part.texture is not None:
            return self._scene.add_mesh_trimesh(name, _textured(part), **_placed(part.pose))
        color, opacity = self._color(part)
        return self._scene.add_mesh_simple(
            name,
            vertices.astype(np.float32),
            faces.astype(np.uint32),
            color=color,
            opacity=opacity,
            flat_shading=len(faces) == len(BOX.faces),
            side="double",
            **_placed(part.pose),
        )

    def _color(self, part: Surface) -> tuple[tuple[int, ...], float | None]:
        """The colour of a surface, of bytes, and its opacity: None if it is opaque."""
        if part.color:
            *rgb, opacity = part.color
            return tuple(round(255 * x) for x in rgb), opacity if opacity < 1.0 else None
        name = "" if part.body == WORLD else self.robot.bodies[part.body].lower()
        for side, color in SIDES.items():
            if side in name and part.source in ("inertia", "bone"):
                return color, None
        return BONES if part.source == "bone" else COLORS[part.body % 2], None

    def _add_colliders(self) -> None:
        for k, part in enumerate(collider_surfaces(self.robot.model)):
            handle = self._scene.add_mesh_simple(
                f"{self._names[part.body]}/collider{k}",
                part.triangles.vertices.astype(np.float32),
                part.triangles.faces.astype(np.uint32),
                color=COLLIDERS,
                opacity=0.35,
                side="double",
                **_placed(part.pose),
            )
            self._layers["colliders"].append(handle)

    def _add_frames(self) -> None:
        for k, frame in enumerate(self.robot.model.frames):
            handle = self._scene.add_frame(
                f"{self._names[frame.body]}/frame{k}",
                axes_length=0.07 * self.size,
                axes_radius=0.004 * self.size,
                **_placed(np.array(frame.placement.matrix(), float)),
            )
            self._layers["frames"].append(handle)

    def _add_inertia(self, i: int) -> None:
        """The centre of mass as a ball, and an ellipsoid of equal inertia."""
        body = self.robot.model.bodies[i]
        mass = float(body.inertia.mass)
        if mass <= 0.0:
            return
        place, rotational = center(body)
        edges, axes = inertia_box(mass, rotational)
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = axes, place
        half = np.maximum(edges * np.sqrt(5.0 / 12.0), 1e-3 * self.size)  # of equal inertia
        radius = 0.02 * self.size
        for layer, axes_lengths, color, opacity in (
            ("centers", np.full(3, radius), CENTERS, None),
            ("ellipsoids", half, ELLIPSOIDS, 0.45),
        ):
            surface = ellipsoid(*axes_lengths)
            handle = self._scene.add_mesh_simple(
                f"{self._names[i]}/{layer}",
                surface.vertices.astype(np.float32),
                surface.faces.astype(np.uint32),
                color=color,
                opacity=opacity,
                **_placed(pose),
            )
            self._layers[layer].append(handle)

    def _add_axes(self) -> None:
        """A thin rod along each axis of each joint, except those of a free body."""
        rod = cylinder(0.004 * self.size, 0.3 * self.size)
        for i, body in enumerate(self.robot.model.bodies):
            for k, axis in enumerate(self._axes(i) if body.joint.nv <= 3 else ()):
                handle = self._scene.add_mesh_simple(
                    f"{self._names[i]}/axis{k}",
                    rod.vertices.astype(np.float32),
                    rod.faces.astype(np.uint32),
                    color=AXES,
                    **_placed(along(axis)),
                )
                self._layers["axes"].append(handle)
                self.joint_axes.append((self.robot.bodies[i], handle))

    def _axes(self, i: int) -> Iterator[Array]:
        """The directions of a joint's motions in its body's frame: of turning, or of sliding."""
        model, neutral = self.robot.model, self.robot.neutral()
        joint = model.bodies[i].joint
        for motion in joint.subspace([float(x) for x in neutral[model.q_slices[i]]]):
            axis = np.array([float(x) for x in motion.angular])
            axis = axis if axis.any() else np.array([float(x) for x in motion.linear])
            if axis.any():
                yield axis / np.linalg.norm(axis)

    def _add_constraints(self) -> Any:
        """A ball at each end of each constraint; the lines between the ends, or None."""
        surface = ellipsoid(*np.full(3, 0.025 * self.size))
        for k, ends in enumerate(self._ends):
            for side, end in zip(("frame", "base"), ends, strict=False):
                handle = self._scene.add_mesh_simple(
                    f"{self._names[end.body]}/constraint{k} {side}",
                    surface.vertices.astype(np.float32),
                    surface.faces.astype(np.uint32),
                    color=CONSTRAINTS,
                    position=end.point,
                )
                self._layers["constraints"].append(handle)
        gaps = self._gaps(self.robot.poses(self.robot.neutral()))
        if not len(gaps):
            return None
        lines = self._scene.add_line_segments("/robot/constraints", gaps, CONSTRAINTS, line_width=4)
        self._layers["constraints"].append(lines)
        return lines

    def _gaps(self, poses: Array) -> Array:
        """The two ends of each constraint in the world, (lines, 2, 3)."""
        pairs = [[end.at(poses) for end in ends] for ends in self._ends if len(ends) == 2]
        return np.array(pairs, np.float32)

    def _add_torques(self) -> dict[int, Any]:
        """A bar along the axis of each joint with one axis, by the index of its velocity."""
        found = {}
        model = self.robot.model
        bar = cylinder(0.012 * self.size, 1.0)
        for i in model.coordinate_order:
            if model.bodies[i].joint.nv != 1:
                continue
            (axis,) = self._axes(i)
            handle = self._scene.add_mesh_simple(
                f"{self._names[i]}/torque",
                (bar.vertices + np.array([0.0, 0.0, 0.5])).astype(np.float32),
                bar.faces.astype(np.uint32),
                color=POSITIVE,
                side="double",
                **_placed(along(axis)),
            )
            found[model.v_slices[i].start] = handle
            self._layers["torques"].append(handle)
        return found

    def _update_torques(self, forces: Array) -> None:
        """Scale the bars with the forces: at the limit, four fifths of the robot's size."""
        limits = self.robot.limits.effort
        largest = np.abs(forces).max() or 1.0
        full = np.where(np.isfinite(limits) & (limits > 0), limits, largest)
        for k, handle in self._bars.items():
            share = float(forces[k] / full[k])
            handle.scale = (1.0, 1.0, 0.8 * self.size * share or 1e-6)
            handle.color = POSITIVE if share > 0 else NEGATIVE


def _box_corners(surface: Triangles) -> Array:
    """The corners of a surface's axis-aligned bounding box, as columns (x, y, z, 1)."""
    low, high = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
    inside = BOX.vertices + 0.5
    return np.concatenate([(low + inside * (high - low)).T, np.ones((1, len(inside)))])


def _safe(name: str) -> str:
    """A name that viser does not take as a path."""
    return name.replace("/", "_")


def _textured(part: Surface) -> Any:
    """A textured surface as a mesh of trimesh."""
    import trimesh

    assert part.texture is not None
    visuals: Any = trimesh.visual
    picture = visuals.TextureVisuals(uv=part.texture.places, image=part.texture.image)
    return trimesh.Trimesh(*part.triangles, visual=picture, process=False)


def _placed(pose: Array) -> dict[str, Array]:
    return {"wxyz": quat_wxyz(pose[:3, :3]), "position": pose[:3, 3]}


def quat_wxyz(R: Array) -> Array:
    """The quaternion of a rotation matrix, w first, of length one.

    Arguments:
        R: (3, 3).
    """
    xx, yy, zz = np.diag(R)
    # each row is 4 times the quaternion times one of its entries; the largest is well conditioned
    rows = np.array(
        [
            [1 + xx + yy + zz, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], 1 + xx - yy - zz, R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], 1 - xx + yy - zz, R[1, 2] + R[2, 1]],
            [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], 1 - xx - yy + zz],
        ]
    )
    best = rows[np.argmax(np.diag(rows))]
    return best / np.linalg.norm(best)
