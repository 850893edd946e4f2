"""The model: a tree of bodies, frozen, with exact numbers.

Bodies are numbered depth first; body i moves relative to its parent by joint i, and the parent of
a body that hangs on the world is `WORLD`. A link behind a fixed joint has no body: it is part of
the body that carries it, and only its frame remains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, is_dataclass, replace

from kinetree._lazy import cached_property
from kinetree.errors import ModelError, among, unknown
from kinetree.kinds import texts
from kinetree.model.constraints import Constraint
from kinetree.model.digest import digest
from kinetree.model.equipment import NOTHING, Equipment, check_equipment
from kinetree.model.geometry import Collider, ContactOptions, ContactPair
from kinetree.model.geometry.options import OPTIONS
from kinetree.model.joints import Joint, Label
from kinetree.model.limits import UNLIMITED
from kinetree.model.limits import Limits as Limits
from kinetree.model.softness import USUAL, JointSoftness
from kinetree.model.touch_validity import check_colliders, check_contacts
from kinetree.model.unread import Unread
from kinetree.model.validity import check_constraints, check_finite, check_followers, check_rest
from kinetree.spatial import Inertia, Transform, Vector3

WORLD = -1
NO_INERTIA = Inertia.zero()
STANDARD_GRAVITY = Vector3(0.0, 0.0, -9.81)


@dataclass(frozen=True)
class Drive:
    """The rotor, friction and spring of a joint, the same for each of its velocities.

    Arguments:
        armature: the rotor inertia at the joint, kg m^2 (or kg). At a floating joint it resists the
            rate of the linear velocity in the parent's axes.
        damping: viscous friction, N m s (or N s/m).
        friction: dry (Coulomb) friction, N m (or N); zero while the joint stands still.
        stiffness: of the spring, N m/rad (or N/m).
        rest: the coordinates at which the spring is relaxed, as many as the joint has; empty for
            the neutral ones. `Joint.displacement` says how far a spring is stretched.
    """

    armature: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    rest: tuple[float, ...] = ()

    def geared(self, ratio: float, offset: float = 0.0) -> Drive:
        """The drive as seen from a coordinate q to which its joint is coupled by ratio q + offset.

        With stiffness k, the force of the spring is ratio k (ratio q + offset - rest), which is
        ratio^2 k (q - (rest - offset) / ratio). A joint of ratio zero does not move, so its drive
        has no effect.

        Arguments:
            ratio, offset: of the transmission.

        Returns:
            A drive.
        """
        stiffness = self.stiffness * ratio * ratio
        return Drive(
            self.armature * ratio * ratio,
            self.damping * ratio * ratio,
            self.friction * abs(ratio),
            stiffness,
            tuple((x - offset) / ratio for x in self.rest) if stiffness else (),
        )


@dataclass(frozen=True)
class Mount:
    """The link on which a description mounts a body or a frame, and the pose there.

    The placement of the body or frame follows from it. It is kept for writers and editing.

    Attributes:
        link: the name of the link.
        placement: the pose of the body's joint frame, or of the frame, in that link.
        joint_name: the name of the joint between them, if there is one.
    """

    link: str
    placement: Transform
    joint_name: str = ""


@dataclass(frozen=True)
class Body:
    """A moving body, and the joint that connects it to its parent.

    Attributes:
        name: that of the link whose frame is the body's frame.
        parent: the parent's number, or WORLD.
        placement: the pose of the joint frame in the parent's frame.
        inertia: of the body with everything that is fixed to it, in the body's frame.
        follows: the number of the body whose coordinates also move this one, if its joint is a
            mimic or depends on others; it takes as many as it has, from that body's first one on.
        joint_name, joint: the joint that connects it to its parent.
        limits, drive, softness: those of the joint.
        mount: where the description mounts it; None if it does not say.
    """

    name: str
    joint_name: str
    parent: int
    placement: Transform
    joint: Joint
    inertia: Inertia
    limits: Limits = UNLIMITED
    drive: Drive = Drive()
    follows: int | None = None
    mount: Mount | None = None
    softness: JointSoftness = USUAL

    @property
    def explicit_drive(self) -> Drive:
        """The drive, with the rest position of its spring written out if it has one."""
        if not self.drive.stiffness or self.drive.rest:
            return self.drive
        return replace(self.drive, rest=self.joint.transmission.joint.neutral())


@dataclass(frozen=True)
class Frame:
    """A named frame fixed in a body (or in the world).

    Attributes:
        name: what it is called.
        body: the number of the body, or WORLD.
        placement: its pose in the body's frame.
        mount: where the description mounts it; None if it does not say.
    """

    name: str
    body: int
    placement: Transform
    mount: Mount | None = None


@dataclass(frozen=True)
class Shape:
    """A visual or collision shape of a link; it is kept and written, but no algorithm reads it.

    Attributes:
        link: the frame in which it is fixed.
        role: "visual" or "collision".
        kind: "mesh", "box", "sphere", "cylinder", "capsule" or "ellipsoid".
        size: the scale of a mesh, the edges of a box, a radius, a radius and a length along z, or
            half axes, m.
        placement: its pose in the link's frame.
        file, texture: the mesh and a picture on it, as the robot file names them, for the viewer.
        folder: that of the robot file that names the mesh; empty if there is none.
        color: red, green, blue and opacity, from 0 to 1; empty if the file gives none.
    """

    link: str
    role: str
    kind: str
    size: tuple[float, ...]
    placement: Transform
    file: str = ""
    folder: str = field(default="", compare=False)
    color: tuple[float, ...] = ()
    texture: str = ""


@dataclass(frozen=True, repr=False)
class Model:
    """A robot, frozen.

    Arguments:
        name: of the robot.
        bodies: the moving bodies, depth first.
        frames: the named frames.
        gravity: the acceleration of free fall in the world's axes, m/s^2.
        coordinate_order: the bodies that have coordinates, in the order of these in q and v; a body
            that follows another has none of its own. By default the order of the bodies.
        base_inertia: of the links that do not move, in the world's frame. It has no effect until
            the robot is attached to another or given another root.
        shapes: of the links, for writers.
        constraints: what the tree's motion is constrained by: loops, held frames, couplings.
        equipment: tendons, actuators, sensors and named states.
        colliders: what it can touch with, and what it can touch in the world.
        contacts: the pairs of colliders that can touch.
        contact_options: the settings of contact that come with the robot.
        unread: elements of its file that no algorithm reads, for writers.
    """

    name: str
    bodies: tuple[Body, ...]
    frames: tuple[Frame, ...]
    gravity: Vector3 = STANDARD_GRAVITY
    coordinate_order: tuple[int, ...] = ()
    base_inertia: Inertia = NO_INERTIA
    shapes: tuple[Shape, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    equipment: Equipment = NOTHING
    colliders: tuple[Collider, ...] = ()
    contacts: tuple[ContactPair, ...] = ()
    contact_options: ContactOptions = OPTIONS
    unread: tuple[Unread, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not self.coordinate_order:
            owners = tuple(i for i, body in enumerate(self.bodies) if body.follows is None)
            object.__setattr__(self, "coordinate_order", owners)
        _check(self)

    @cached_property
    def nq(self) -> int:
        """The number of coordinates."""
        return sum(b.joint.nq for b in self.bodies if b.follows is None)

    @cached_property
    def nv(self) -> int:
        """The number of velocities."""
        return sum(b.joint.nv for b in self.bodies if b.follows is None)

    @cached_property
    def q_slices(self) -> tuple[slice, ...]:
        """The slice of each body's coordinates in q."""
        return self._slices("nq")

    @cached_property
    def v_slices(self) -> tuple[slice, ...]:
        """The slice of each body's velocities in v."""
        return self._slices("nv")

    def _slices(self, count: str) -> tuple[slice, ...]:
        starts, start = {}, 0
        for i in self.coordinate_order:
            starts[i] = start
            start += getattr(self.bodies[i].joint, count)
        firsts = [starts[i if b.follows is None else b.follows] for i, b in enumerate(self.bodies)]
        return tuple(
            slice(first, first + getattr(body.joint, count))
            for first, body in zip(firsts, self.bodies, strict=True)
        )

    @cached_property
    def coordinate_labels(self) -> tuple[Label, ...]:
        """The name and unit of each entry of q: "elbow", or "base.qw" for one of several."""
        bodies = [self.bodies[i] for i in self.coordinate_order]
        return tuple(x for b in bodies for x in _labels(b, b.joint.coordinate_labels()))

    @cached_property
    def velocity_labels(self) -> tuple[Label, ...]:
        """The name and unit of each entry of v: "elbow", or "base.wx" for one of several."""
        bodies = [self.bodies[i] for i in self.coordinate_order]
        return tuple(x for b in bodies for x in _labels(b, b.joint.velocity_labels()))

    @cached_property
    def constraint_labels(self) -> tuple[Label, ...]:
        """The name of each row of the constraints and the unit of its error: "loop.x", "m"."""
        return tuple(
            Label(f"{c.name}.{x.name}", x.unit) for c in self.constraints for x in c.row_labels()
        )

    @cached_property
    def drives(self) -> tuple[Drive, ...]:
        """Each body's drive, as seen from the coordinate that moves it.

        The rest position of a spring is written out.
        """
        return tuple(b.explicit_drive.geared(*b.joint.transmission[1:]) for b in self.bodies)

    @cached_property
    def frame_numbers(self) -> dict[str, int]:
        """Maps a frame's name to its index in `frames`."""
        return {frame.name: i for i, frame in enumerate(self.frames)}

    def frame(self, name: str) -> Frame:
        """The frame that has a name.

        Arguments:
            name: of a link, or of a frame that was added.

        Returns:
            The frame.
        """
        try:
            return self.frames[self.frame_numbers[name]]
        except (KeyError, TypeError):
            raise unknown("frame", name, self.frame_numbers, f"robot {self.name!r}") from None

    @cached_property
    def collider_bodies(self) -> dict[str, int]:
        """Maps a collider's name to the number of the body that carries it, or to WORLD."""
        return {
            c.name: WORLD if c.frame is None else self.frame(c.frame).body for c in self.colliders
        }

    @cached_property
    def digest(self) -> str:
        """A hash of every name and number of the model that affects dynamics."""
        return digest(self)

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {len(self.bodies)} bodies, nq={self.nq}, nv={self.nv}>"

    def reordered(self, joints: Sequence[str]) -> Model:
        """The same robot with its coordinates in another order.

        Arguments:
            joints: the names of all joints that have coordinates, in their new order.

        Returns:
            A new model.
        """
        joints = texts("joints", joints)
        by_name = {b.joint_name: i for i, b in enumerate(self.bodies) if b.follows is None}
        for name in joints:
            if not among(name, by_name):
                raise unknown("moving joint", name, by_name, f"robot {self.name!r}")
        named = set(joints)
        missing = [name for name in by_name if name not in named]
        if missing or len(joints) != len(by_name):
            what = f"{missing[0]!r} is missing" if missing else "one is named twice"
            raise ModelError(
                f"robot {self.name!r}: the order must name each of its {len(by_name)} moving "
                f"joints once; {what}"
            )
        return replace(self, coordinate_order=tuple(by_name[name] for name in joints))


def _labels(body: Body, labels: Sequence[Label]) -> list[Label]:
    """Labels of a joint with the joint's name before them; that alone if there is only one."""
    name = body.joint_name
    return [Label(name if len(labels) == 1 else f"{name}.{x.name}", x.unit) for x in labels]


def _check(model: Model) -> None:
    """Refuse a model that no algorithm could use."""
    _check_bodies(model)
    _check_frames(model)
    check_finite(model.gravity, "gravity")
    check_finite(model.base_inertia, "the inertia of the base")
    owners = [i for i, body in enumerate(model.bodies) if body.follows is None]
    if sorted(model.coordinate_order) != owners:
        raise ModelError("coordinate_order must name each body that follows no other once")
    check_followers(model, set(owners))
    for check in (check_constraints, check_equipment, check_colliders, check_contacts):
        check(model)


def _check_bodies(model: Model) -> None:
    """Refuse bodies out of order, joints of one name, and values that are not usable."""
    seen: set[str] = set()
    for i, body in enumerate(model.bodies):
        if not WORLD <= body.parent < i:
            raise ModelError(
                f"body {body.name!r} (number {i}) has parent {body.parent}: "
                "a parent comes before its children"
            )
        if body.joint_name in seen:
            raise ModelError(f"two joints are named {body.joint_name!r}: names must be unique")
        seen.add(body.joint_name)
        for what in ("placement", "inertia", "joint", "drive"):
            check_finite(getattr(body, what), f"the {what} of body {body.name!r}")
        if not is_dataclass(body.joint):
            raise ModelError(
                f"joint {body.joint_name!r} is a {type(body.joint).__name__}, which is not a "
                "dataclass: decorate the class with @dataclass(frozen=True)"
            )
        check_rest(body)


def _check_frames(model: Model) -> None:
    """Refuse frames of one name, and frames on bodies that do not exist."""
    seen: set[str] = set()
    for frame in model.frames:
        if frame.name in seen:
            raise ModelError(f"two frames are named {frame.name!r}: names must be unique")
        seen.add(frame.name)
        if not WORLD <= frame.body < len(model.bodies):
            raise ModelError(f"frame {frame.name!r} is on body {frame.body}, which does not exist")
        check_finite(frame.placement, f"the placement of frame {frame.name!r}")
