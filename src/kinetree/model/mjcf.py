"""Reading MJCF through MuJoCo's own parser and compiler.

What MuJoCo has compiled is read, so defaults, includes, and inertias from geometry are its own.
A MuJoCo joint is a joint here: where a body has several, there are links without inertia between
them. Coordinates stand in MuJoCo's order, but quaternions are (x y z w), and the velocity of a
free joint is wholly in the body's own frame; see `docs/conventions.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.errors import FileFormatError, MissingExtraError
from kinetree.model.description import Connection, Description, Link, Mimicry
from kinetree.model.disassemble import fresh
from kinetree.model.joints import Ball, Floating, Joint, Prismatic, Revolute, moved
from kinetree.model.model import Drive, Limits, Shape
from kinetree.model.problem import Problem
from kinetree.model.xml import Element, parse
from kinetree.spatial import Inertia, Rotation, Symmetric3, Transform, Vector3

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
SHAPES = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh"}  # mjtGeom
EQUAL_JOINTS = 2  # mjtEq


def read_mjcf(
    document: Element, data: bytes, folder: Path | None, mimic: bool = True
) -> Description:
    """The links and joints of an MJCF document.

    Arguments:
        document: its root element, `data` the text it was parsed from.
        folder: where its includes and meshes are; nothing is read from outside. None if the text
            came from no file: then it may name none.
        mimic: whether an equality of two joints is taken up as one following the other.
    """
    try:
        import mujoco
    except ImportError:
        raise MissingExtraError(
            f"{document.file}: MJCF is read by the package mujoco, which is not installed: run "
            "pip install 'kinetree[mjcf]'"
        ) from None
    _check_files(document, folder, {document.file})
    try:
        if folder is None:
            m = mujoco.MjModel.from_xml_string(data.decode(errors="replace"))
        else:
            m = mujoco.MjModel.from_xml_path(document.file)
    except (ValueError, RuntimeError) as e:
        reason = " ".join(str(e).split())
        raise FileFormatError(f"{document.file}: MuJoCo cannot compile it: {reason}") from None
    return _Reader(m, document.file).description(mimic)


def _check_files(document: Element, folder: Path | None, seen: set[str]) -> None:
    """Every file a document names lies in the folder, and so do those its includes name."""
    bases = [""]
    for element in document.walk():
        if element.tag == "compiler":
            bases += [v for k, v in element.attributes.items() if k.endswith("dir")]
    for element in document.walk():
        for key, file in element.attributes.items():
            if not key.startswith("file"):
                continue
            if folder is None:
                raise element.error(
                    f"{key}={file!r}: a text that came from no file can name none: load it from "
                    "a file that lies with them"
                )
            for base in bases:
                if not (folder / base / file).resolve().is_relative_to(folder.resolve()):
                    raise element.error(
                        f"{key}={file!r} leads out of the folder {folder}, and nothing is read "
                        "from outside: name a wider one with folder="
                    )
            inner = Path(document.file).parent / file
            if element.tag == "include" and str(inner) not in seen and inner.is_file():
                seen.add(str(inner))
                _check_files(parse(inner.read_bytes(), str(inner)), folder, seen)


class _Reader:
    """The parts of a compiled MuJoCo model, as links and joints."""

    def __init__(self, m: Any, file: str) -> None:
        self.m = m
        self.file = file
        self.remarks: list[Problem] = []
        self.links = _names((m.body(i).name for i in range(m.nbody)), "body")
        owners = (self.links[i] for i in m.jnt_bodyid)
        own = (m.joint(i).name for i in range(m.njnt))
        self.joints = _names((a or f"{b}_joint" for a, b in zip(own, owners, strict=True)), "joint")

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
                connections.append(Connection(f"{name}_fixed", parent, name, at, None))
            for j in range(first, first + count):
                last = j == first + count - 1
                child = name if last else f"{name}:{self.joints[j]}"
                joint, before = self._joint(j)
                at = Transform.identity() if isinstance(joint, Floating) else at @ before
                connections.append(self._connection(j, parent, child, at, joint, mimic))
                if not last:
                    links.append(Link(child, Inertia.zero(), self.file))
                parent, at = child, Transform.identity()
            links.append(Link(name, inertia, self.file))
        names = {link.name for link in links}
        for i in range(m.nsite):
            name = m.site(i).name
            if name:
                name = fresh(name, names)
                names.add(name)
                at = _pose(m.site_pos[i], m.site_quat[i])
                body = self.links[m.site_bodyid[i]]
                links.append(Link(name, Inertia.zero(), self.file))
                connections.append(Connection(f"{name}_site", body, name, at, None))
        self._remark_what_is_left_out()
        return Description(
            m.names[: m.names.index(b"\0")].decode() or "robot",
            links,
            connections,
            gravity=_vector(m.opt.gravity),
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
            return moved(Ball(), anchor), Transform.identity()
        joint = moved(Revolute(axis) if kind == HINGE else Prismatic(axis), anchor)
        reference = float(m.qpos0[m.jnt_qposadr[j]])
        return joint, joint.transform([-reference]) if reference else Transform.identity()

    def _connection(
        self, j: int, parent: str, child: str, at: Transform, joint: Joint, mimic: bool
    ) -> Connection:
        m, dof = self.m, self.m.jnt_dofadr[j]
        limits = Limits()
        if m.jnt_limited[j] and m.jnt_type[j] in (SLIDE, HINGE):
            lower, upper = m.jnt_range[j].tolist()
            limits = Limits(lower, upper)
        if m.jnt_actfrclimited[j]:
            effort = float(np.abs(m.jnt_actfrcrange[j]).max())
            limits = Limits(limits.lower, limits.upper, effort=effort)
        drive = Drive(*(float(x[dof]) for x in (m.dof_armature, m.dof_damping, m.dof_frictionloss)))
        copied = self._mimicries.get(j) if mimic else None
        return Connection(
            self.joints[j], parent, child, at, joint, limits, self.file, drive, copied
        )

    @cached_property
    def _mimicries(self) -> dict[int, Mimicry]:
        """Which joint each one copies: equalities of two joints that are straight lines."""
        m, found = self.m, {}
        for i in range(m.neq):
            if m.eq_type[i] != EQUAL_JOINTS or not m.eq_active0[i] or m.eq_obj2id[i] < 0:
                continue
            first, second = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
            offset, ratio, *bends = m.eq_data[i][:5].tolist()
            if any(bends):
                continue
            start, other = (float(m.qpos0[m.jnt_qposadr[j]]) for j in (first, second))
            found[first] = Mimicry(self.joints[second], ratio, start + offset - ratio * other)
        return found

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
                file = m.paths[start : m.paths.index(b"\0", start)].decode()
            elif kind == "sphere":
                size = (half[0],)
            elif kind in ("capsule", "cylinder"):
                size = (half[0], 2.0 * half[1])
            elif kind == "box":
                size = tuple(2.0 * x for x in half)
            yield Shape(self.links[m.geom_bodyid[i]], role, kind, size, at, file)

    def _remark_what_is_left_out(self) -> None:
        m = self.m
        left = {
            "equality constraints other than joints that follow others": m.neq
            - len(self._mimicries),
            "springs of joints": int(np.count_nonzero(m.jnt_stiffness)),
            "bodies held against gravity (gravcomp)": int(np.count_nonzero(m.body_gravcomp)),
            "tendons": m.ntendon,
            "the fluid around it (density, viscosity)": int(m.opt.density or m.opt.viscosity or 0),
        }
        for what, count in left.items():
            if count:
                message = f"{what}: {count}; they take no part in the dynamics"
                self.remarks.append(Problem("warning", "the model", message, self.file))


def _names(given: Iterator[str], kind: str) -> list[str]:
    """Names for all, those missing made up."""
    names: list[str] = []
    taken: set[str] = set()
    for i, name in enumerate(given):
        names.append(fresh(name or f"{kind}{i}", taken))
        taken.add(names[-1])
    return names


def _vector(values: Any) -> Vector3:
    return Vector3(*(float(x) for x in values))


def _pose(position: Any, quaternion: Any) -> Transform:
    w, x, y, z = (float(v) for v in quaternion)
    return Transform(Rotation.quat_xyzw(x, y, z, w), _vector(position))
