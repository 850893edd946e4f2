"""Reading MJCF through MuJoCo's own parser and compiler.

The compiled model is read, so defaults, includes and inertias from geometry are as MuJoCo has them.
Each MuJoCo joint becomes a joint here. If a body has several, links without inertia are put between
them. Coordinates are in MuJoCo's order, but quaternions are (x y z w), and the velocity of a free
joint is entirely in the body's frame; see `docs/conventions.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kinetree._lazy import cached_property
from kinetree._optional import optional
from kinetree.errors import FileFormatError
from kinetree.model.description import Connection, Description, Link
from kinetree.model.disassemble import fresh
from kinetree.model.formats.mjcf_contacts import Contacts
from kinetree.model.formats.mjcf_equality import KINDS, Equalities, softness
from kinetree.model.formats.mjcf_equipment import EquipmentReader
from kinetree.model.formats.mjcf_length_ranges import find_length_ranges, length_range_options
from kinetree.model.formats.mjcf_parts import Parts
from kinetree.model.formats.mjcf_places import place
from kinetree.model.formats.mjcf_reflected import reflected
from kinetree.model.formats.mjcf_remarks import remarks
from kinetree.model.formats.mjcf_source import Source, source
from kinetree.model.formats.xml import TEXT, Element, brief
from kinetree.model.joints import Ball, Floating, Joint, Prismatic, Revolute
from kinetree.model.limits import BallRange
from kinetree.model.model import Drive, Limits, Shape
from kinetree.model.problem import Problem
from kinetree.model.softness import JointSoftness, SoftLimit
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
SHAPES = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh"}  # mjtGeom
MINVAL = 1e-15  # mjMINVAL
GREY = (0.5, 0.5, 0.5, 1.0)  # of geoms without a colour
CONSTRAINTS = ("CONSTRAINT", "EQUALITY", "FRICTIONLOSS")
PASSIVE = ("DAMPER", "SPRING", "PASSIVE")  # the last one, of older releases, means both others
TOUCHING = ("CONTACT", "FILTERPARENT", "LIMIT", "REFSAFE", "EULERDAMP")
FLAGS = ("ACTUATION", "CLAMPCTRL", "GRAVITY", *CONSTRAINTS, *PASSIVE, *TOUCHING)  # mjtDisableBit


def read_mjcf(document: Element, folder: Path | None, mimic: bool = True) -> Description:
    """The links and joints of an MJCF document.

    Arguments:
        document: its root element.
        folder: where its includes and meshes are; nothing is read from outside. None for a text
            without a file, which may name no files.
        mimic: whether an equality of two joints makes one a mimic of the other.
    """
    mujoco = optional("mujoco", f"{document.file}: reading MJCF")
    given = source(document, None if document.file == TEXT else folder)
    ranges = length_range_options(mujoco, given.length_ranges)
    said: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(said.append)  # the default writes a log into the working directory
    try:
        m = in_own_thread(mujoco.MjModel.from_xml_string, given.text, dict(given.assets))
        compiled = len(said)
        in_own_thread(find_length_ranges, mujoco, m, ranges)
        del said[compiled:]  # of simulations that diverge
    except (ValueError, RuntimeError, MemoryError) as e:
        reason = given.translated(str(e) or type(e).__name__)
        reason = brief(" ".join(reason.split()), 300)
        raise FileFormatError(f"{document.file}: MuJoCo cannot compile it: {reason}") from None
    finally:
        mujoco.set_mju_user_warning(before)
    bits = {flag: int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}", 0)) for flag in FLAGS}
    off = {flag for flag, bit in bits.items() if m.opt.disableflags & bit} - {"CONTACT"}
    off |= set() if given.contact else {"CONTACT"}
    reader = _Reader(mujoco, m, given, off)
    for warning in said:
        message = given.translated(warning).strip()
        reader.remarks.append(Problem("warning", "the model", message, document.file))
    return reader.description(mimic)


def in_own_thread(compiler: Callable[..., Any], *arguments: Any) -> Any:
    """Run MuJoCo's compiler in a thread of its own; the result or the exception is passed on.

    MuJoCo keeps its error handler per thread. After an unexpected failure of the compiler the
    handler remains, and the next call in that thread never ends.
    """
    with ThreadPoolExecutor(1, "kinetree MJCF") as pool:
        return pool.submit(compiler, *arguments).result()


class _Reader:
    """The parts of a compiled MuJoCo model, as links and joints.

    off: its disabled flags.
    given: the document that MuJoCo compiled.
    """

    def __init__(self, mujoco: Any, m: Any, given: Source, off: set[str]) -> None:
        self.mujoco, self.m, self.file, self.off = mujoco, m, given.main, off
        self.given = given
        self.remarks: list[Problem] = []
        numbers = range(m.nbody)
        self.links = _names([m.body(i).name for i in numbers], [f"body{i}" for i in numbers])
        owners = (self.links[i] for i in m.jnt_bodyid)
        self.joints = _names(
            [m.joint(i).name for i in range(m.njnt)], [f"{owner}_joint" for owner in owners]
        )
        self.link_names, self.joint_names = set(self.links), set(self.joints)

    def description(self, mimic: bool) -> Description:
        m = self.m
        links = [Link(self.links[0], Inertia.zero(), self.file)]
        connections: list[Connection] = []
        for i in range(1, m.nbody):
            parent, name = self.links[m.body_parentid[i]], self.links[i]
            first, count = m.body_jntadr[i], m.body_jntnum[i]
            at = _pose(m.body_pos[i], m.body_quat[i])
            inertia = self._inertia(i)
            if count == 0:
                connection = _new(f"{name}_fixed", self.joint_names)
                connections.append(Connection(connection, parent, name, at, None))
            for j in range(first, first + count):
                last = j == first + count - 1
                child = name if last else _new(f"{name}:{self.joints[j]}", self.link_names)
                joint, before = self._joint(j)
                at = Transform.identity() if m.jnt_type[j] == FREE else at @ before
                connections.append(self._connection(j, parent, child, at, joint, mimic))
                if not last:
                    links.append(Link(child, Inertia.zero(), self.file))
                parent, at = child, Transform.identity()
            links.append(Link(name, inertia, self.file))
        for i, name in self.sites.items():
            at = _pose(m.site_pos[i], m.site_quat[i])
            body = self.links[m.site_bodyid[i]]
            links.append(Link(name, Inertia.zero(), self.file))
            connection = _new(f"{name}_site", self.joint_names)
            connections.append(Connection(connection, body, name, at, None))
        parts = Parts(m, self.links, self.sites, self.joints, self._contacts.names, self.off, _pose)
        equipped = EquipmentReader(parts, self._inertia)
        said = (
            *remarks(m, self.joints, self.off),
            *self._equalities.remarks(),
            *self._contacts.remarks(),
            *equipped.remarks(),
        )
        self.remarks += [Problem(*x, place(self.given.lines, x[1]) or self.file) for x in said]
        return Description(
            m.names[: m.names.index(b"\0")].decode() or "robot",
            links,
            connections,
            gravity=Vector3(0.0, 0.0, 0.0) if "GRAVITY" in self.off else _vector(m.opt.gravity),
            shapes=list(self._shapes()),
            order=self.joints,
            remarks=self.remarks,
            gives_base=True,
            constraints=list(self._equalities.constraints(mimic)),
            equipment=equipped.equipment,
            colliders=list(self._contacts.colliders()),
            contacts=self._contacts.pairs(),
            contact_options=self._contacts.options(),
        )

    def _inertia(self, i: int) -> Inertia:
        m = self.m
        pose = _pose(m.body_ipos[i], m.body_iquat[i])
        xx, yy, zz = m.body_inertia[i].tolist()
        about = Symmetric3(xx, yy, zz, 0.0, 0.0, 0.0)
        return Inertia.about_center(
            float(m.body_mass[i]), pose.translation, pose.rotation.turn_symmetric(about)
        )

    def _joint(self, j: int) -> tuple[Joint, Transform]:
        """A joint, and the pose before it: MuJoCo counts its coordinate from a reference."""
        m = self.m
        kind, axis = m.jnt_type[j], _vector(m.jnt_axis[j])
        anchor = Transform(Rotation.identity(), _vector(m.jnt_pos[j]))
        if kind == FREE:
            return Floating(), Transform.identity()
        if kind == BALL:
            return Ball().relocated(anchor), Transform.identity()
        joint = (Revolute(axis) if kind == HINGE else Prismatic(axis)).relocated(anchor)
        reference = float(m.qpos0[m.jnt_qposadr[j]])
        return joint, joint.transform([-reference]) if reference else Transform.identity()

    def _connection(
        self, j: int, parent: str, child: str, at: Transform, joint: Joint, mimic: bool
    ) -> Connection:
        m, limits = self.m, Limits()
        if m.jnt_limited[j] and m.jnt_type[j] in (SLIDE, HINGE):
            lower, upper = m.jnt_range[j].tolist()
            limits = Limits(lower, upper)
        most = float(m.jnt_range[j].max())
        if m.jnt_limited[j] and m.jnt_type[j] == BALL and 0.0 < most < math.pi:
            limits = Limits(ball=BallRange(angle=most))
        if m.jnt_actfrclimited[j]:
            limits = replace(limits, effort=float(np.abs(m.jnt_actfrcrange[j]).max()))
        follows = mimic and j in self._equalities.followers
        copied = self._equalities.mimicry(j) if follows else None
        drive = self._drive(j, joint)
        soft = self._softness(j)
        return Connection(
            self.joints[j], parent, child, at, joint, limits, self.file, drive, copied, soft
        )

    def _softness(self, j: int) -> JointSoftness:
        m, dof = self.m, self.m.jnt_dofadr[j]
        limit = softness(m.jnt_solref[j], m.jnt_solimp[j])
        start = float(m.qpos0[m.jnt_qposadr[j]]) if m.jnt_type[j] in (SLIDE, HINGE) else 0.0
        return JointSoftness(
            SoftLimit(limit.solref, limit.solimp, float(m.jnt_margin[j])),
            softness(m.dof_solref[dof], m.dof_solimp[dof]),
            (start,) if start else (),
        )

    def _drive(self, j: int, joint: Joint) -> Drive:
        m, dof = self.m, self.m.jnt_dofadr[j]
        stiffness = 0.0 if self.off & {"SPRING", "PASSIVE"} else float(m.jnt_stiffness[j])
        damping = float(m.dof_damping[dof]) + reflected(m, "joint", "damping", j)
        return Drive(
            float(m.dof_armature[dof]) + reflected(m, "joint", "armature", j),
            0.0 if self.off & {"DAMPER", "PASSIVE"} else damping,
            0.0 if self.off & {"FRICTIONLOSS", "CONSTRAINT"} else float(m.dof_frictionloss[dof]),
            stiffness,
            self._rest(j, joint) if stiffness else (),
        )

    def _rest(self, j: int, joint: Joint) -> tuple[float, ...]:
        """The coordinates at which a joint's spring is relaxed; empty for the neutral position."""
        start = self.m.jnt_qposadr[j]
        rest = tuple(self.m.qpos_spring[start : start + joint.nq].tolist())
        if joint.nq > 1:  # the quaternion, scalar first
            *place, w, x, y, z = rest
            rest = (*place, x, y, z, w)
        return () if rest == joint.neutral() else rest

    @cached_property
    def sites(self) -> dict[int, str]:
        """The names of the named sites, distinct from those of links."""
        named = {i: self.m.site(i).name for i in range(self.m.nsite)}
        return {i: _new(name, self.link_names) for i, name in named.items() if name}

    @cached_property
    def _equalities(self) -> Equalities:
        m, numbers = self.m, range(self.m.neq)
        kinds = [KINDS.get(int(kind), "equality") for kind in m.eq_type]
        names = _names([m.equality(i).name for i in numbers], [f"{kinds[i]}{i}" for i in numbers])
        return Equalities(m, names, self.links, self.sites, self.joints, self.off, _pose)

    @cached_property
    def _contacts(self) -> Contacts:
        m, numbers = self.m, range(self.m.ngeom)
        owners = [f"{self.links[m.geom_bodyid[i]]}_geom" for i in numbers]
        names = _names([m.geom(i).name for i in numbers], owners)
        return Contacts(self.mujoco, m, names, self.links, self.off, _pose)

    def _shapes(self) -> Iterator[Shape]:
        m = self.m
        for i in range(m.ngeom):
            kind = SHAPES.get(int(m.geom_type[i]))
            if kind is None:
                continue
            role = "collision" if m.geom_contype[i] or m.geom_conaffinity[i] else "visual"
            at, half = _pose(m.geom_pos[i], m.geom_quat[i]), m.geom_size[i].tolist()
            size, file = tuple(half), ""
            if kind == "mesh":  # MuJoCo moves the frame of a mesh into its principal axes
                mesh = int(m.geom_dataid[i])
                at = at @ _pose(m.mesh_pos[mesh], m.mesh_quat[mesh]).inverse()
                size = tuple(m.mesh_scale[mesh].tolist())
                file = self._file(int(m.mesh_pathadr[mesh]))
            elif kind == "sphere":
                size = (half[0],)
            elif kind in ("capsule", "cylinder"):
                size = (half[0], 2.0 * half[1])
            elif kind == "box":
                size = tuple(2.0 * x for x in half)
            link = self.links[m.geom_bodyid[i]]
            texture = self._texture(i) if kind == "mesh" else ""
            color = self._color(i) if kind == "mesh" else self._mean_color(i)
            yield Shape(link, role, kind, size, at, file, color=color, texture=texture)

    def _file(self, start: int) -> str:
        """The name of a file as written, by its offset among all names; empty if none."""
        if start < 0:
            return ""
        name = self.m.paths[start : self.m.paths.index(b"\0", start)].decode()
        return self.given.files.get(name, name)

    def _texture(self, geom: int) -> str:
        """The file of the picture on a geom; empty if there is none."""
        number = self._texture_number(geom)
        return "" if number < 0 else self._file(int(self.m.tex_pathadr[number]))

    def _texture_number(self, geom: int) -> int:
        """The index of a geom's texture; -1 if none."""
        material = int(self.m.geom_matid[geom])
        role = int(self.mujoco.mjtTextureRole.mjTEXROLE_RGB)
        return -1 if material < 0 else int(self.m.mat_texid[material][role])

    def _color(self, geom: int) -> tuple[float, ...]:
        """The colour of a geom or of its material; empty if it has none of its own."""
        material = int(self.m.geom_matid[geom])
        rgba = self.m.geom_rgba[geom] if material < 0 else self.m.mat_rgba[material]
        color = tuple(round(float(x), 6) for x in rgba)
        return () if color == GREY and material < 0 else color

    def _mean_color(self, geom: int) -> tuple[float, ...]:
        """The colour of a geom; on average over its texture if it has one."""
        color, number = self._color(geom), self._texture_number(geom)
        if number < 0:
            return color
        m, channels = self.m, int(self.m.tex_nchannel[number])
        start, pixels = int(m.tex_adr[number]), int(m.tex_width[number] * m.tex_height[number])
        if channels < 3 or not pixels:
            return color
        picture = m.tex_data[start : start + channels * pixels].reshape(pixels, channels)
        mean = picture[:, :3].mean(axis=0) / 255.0
        return (*(round(float(x), 6) for x in mean * color[:3]), color[3])


def _names(given: list[str], instead: list[str]) -> list[str]:
    """A unique name for each: the given one, or one like `instead`."""
    taken = set(given)
    return [name or _new(other, taken) for name, other in zip(given, instead, strict=True)]


def _new(name: str, taken: set[str]) -> str:
    """A name like this one that is not taken yet; it is added to those taken."""
    name = fresh(name, taken)
    taken.add(name)
    return name


def _vector(values: Any) -> Vector3:
    return Vector3(*(float(x) for x in values))


def _pose(position: Any, quaternion: Any) -> Transform:
    w, x, y, z = (float(v) for v in quaternion)
    zero = math.hypot(w, x, y, z) < MINVAL  # the identity to MuJoCo
    turned = Rotation.identity() if zero else Rotation.quat_xyzw(x, y, z, w)
    return Transform(turned, _vector(position))
