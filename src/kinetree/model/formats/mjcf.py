"""Reading MJCF through MuJoCo's own parser and compiler.

The compiled model is read, so defaults, includes and inertias from geometry are as MuJoCo has them.
Each MuJoCo joint becomes a joint here. If a body has several, links without inertia are put between
them. Coordinates are in MuJoCo's order, but quaternions are (x y z w), and the velocity of a free
joint is entirely in the body's frame; see `docs/conventions.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from kinetree._lazy import cached_property
from kinetree._optional import optional
from kinetree.errors import FileFormatError
from kinetree.model.description import Connection, Description, Link, Mimicry
from kinetree.model.disassemble import fresh
from kinetree.model.formats.mjcf_remarks import remarks
from kinetree.model.formats.mjcf_source import source
from kinetree.model.formats.xml import TEXT, Element, brief
from kinetree.model.joints import Ball, Floating, Joint, Prismatic, Revolute
from kinetree.model.model import Drive, Limits, Shape
from kinetree.model.problem import Problem
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
SHAPES = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh"}  # mjtGeom
EQUAL_JOINTS = 2  # mjtEq
MINVAL = 1e-15  # mjMINVAL
CONSTRAINTS = ("CONSTRAINT", "EQUALITY", "FRICTIONLOSS")
PASSIVE = ("DAMPER", "SPRING", "PASSIVE")  # the last one, of older releases, for both others
FLAGS = ("ACTUATION", "GRAVITY", *CONSTRAINTS, *PASSIVE)  # mjtDisableBit


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
    said: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(said.append)  # it would write a log into the working directory
    try:
        m = in_own_thread(mujoco.MjModel.from_xml_string, given.text, dict(given.assets))
    except (ValueError, RuntimeError, MemoryError) as e:
        reason = given.translated(str(e) or type(e).__name__)
        reason = brief(" ".join(reason.split()), 300)
        raise FileFormatError(f"{document.file}: MuJoCo cannot compile it: {reason}") from None
    finally:
        mujoco.set_mju_user_warning(before)
    bits = {flag: int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}", 0)) for flag in FLAGS}
    off = {flag for flag, bit in bits.items() if m.opt.disableflags & bit}
    reader = _Reader(m, document.file, off, given.files)
    for warning in said:
        message = given.translated(warning).strip()
        reader.remarks.append(Problem("warning", "the model", message, document.file))
    return reader.description(mimic)


def in_own_thread(compiler: Callable[..., Any], *arguments: Any) -> Any:
    """What MuJoCo's compiler returns or raises, in a thread that ends with it.

    MuJoCo keeps its error handler per thread. A document on which the compiler fails in a way that
    it does not expect leaves the handler behind, and the next call in that thread never ends.
    """
    with ThreadPoolExecutor(1, "kinetree MJCF") as pool:
        return pool.submit(compiler, *arguments).result()


class _Reader:
    """The parts of a compiled MuJoCo model, as links and joints.

    off: its disabled flags.
    files: the names of files as they were written, by those that MuJoCo knows.
    """

    def __init__(self, m: Any, file: str, off: set[str], files: Mapping[str, str]) -> None:
        self.m, self.file, self.off, self.files = m, file, off, files
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
        for i in range(m.nsite):
            name = m.site(i).name
            if name:
                name = _new(name, self.link_names)
                at = _pose(m.site_pos[i], m.site_quat[i])
                body = self.links[m.site_bodyid[i]]
                links.append(Link(name, Inertia.zero(), self.file))
                connection = _new(f"{name}_site", self.joint_names)
                connections.append(Connection(connection, body, name, at, None))
        taken = self._followers.values()
        self.remarks += remarks(m, self.joints, self.off, taken, self.file)
        return Description(
            m.names[: m.names.index(b"\0")].decode() or "robot",
            links,
            connections,
            gravity=Vector3(0.0, 0.0, 0.0) if "GRAVITY" in self.off else _vector(m.opt.gravity),
            shapes=list(self._shapes()),
            order=self.joints,
            remarks=self.remarks,
            gives_base=True,
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
        """A joint, and what comes before it: MuJoCo counts its coordinate from a reference."""
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
        if m.jnt_actfrclimited[j]:
            effort = float(np.abs(m.jnt_actfrcrange[j]).max())
            limits = Limits(limits.lower, limits.upper, effort=effort)
        copied = self._mimicry(self._followers[j]) if mimic and j in self._followers else None
        drive = self._drive(j, joint)
        return Connection(
            self.joints[j], parent, child, at, joint, limits, self.file, drive, copied
        )

    def _drive(self, j: int, joint: Joint) -> Drive:
        m, dof = self.m, self.m.jnt_dofadr[j]
        stiffness = 0.0 if self.off & {"SPRING", "PASSIVE"} else float(m.jnt_stiffness[j])
        return Drive(
            float(m.dof_armature[dof]),
            0.0 if self.off & {"DAMPER", "PASSIVE"} else float(m.dof_damping[dof]),
            0.0 if self.off & {"FRICTIONLOSS", "CONSTRAINT"} else float(m.dof_frictionloss[dof]),
            stiffness,
            self._rest(j, joint) if stiffness else (),
        )

    def _rest(self, j: int, joint: Joint) -> tuple[float, ...]:
        """Where the spring of a joint is relaxed; empty if that is the neutral position."""
        start = self.m.jnt_qposadr[j]
        rest = tuple(self.m.qpos_spring[start : start + joint.nq].tolist())
        if joint.nq > 1:  # the quaternion, scalar first
            *place, w, x, y, z = rest
            rest = (*place, x, y, z, w)
        return () if rest == joint.neutral() else rest

    @cached_property
    def _followers(self) -> dict[int, int]:
        """Maps a joint that follows another to its equality constraint, if that is linear."""
        m = self.m
        if self.off & {"EQUALITY", "CONSTRAINT"}:
            return {}
        return {
            int(m.eq_obj1id[i]): i
            for i in np.flatnonzero(m.eq_active0).tolist()
            if m.eq_type[i] == EQUAL_JOINTS and m.eq_obj2id[i] >= 0 and not m.eq_data[i][2:5].any()
        }

    def _mimicry(self, i: int) -> Mimicry:
        """How one joint follows another by an equality; coordinates count from references there."""
        m, (offset, ratio) = self.m, self.m.eq_data[i][:2].tolist()
        pair = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
        start, other = (float(m.qpos0[m.jnt_qposadr[j]]) for j in pair)
        return Mimicry(self.joints[pair[1]], ratio, start + offset - ratio * other)

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
                start = m.mesh_pathadr[mesh]
                name = m.paths[start : m.paths.index(b"\0", start)].decode()
                file = self.files.get(name, name)
            elif kind == "sphere":
                size = (half[0],)
            elif kind in ("capsule", "cylinder"):
                size = (half[0], 2.0 * half[1])
            elif kind == "box":
                size = tuple(2.0 * x for x in half)
            yield Shape(self.links[m.geom_bodyid[i]], role, kind, size, at, file)


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
    zero = math.hypot(w, x, y, z) < MINVAL  # which MuJoCo takes for the identity
    turned = Rotation.identity() if zero else Rotation.quat_xyzw(x, y, z, w)
    return Transform(turned, _vector(position))
