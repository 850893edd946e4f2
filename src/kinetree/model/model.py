"""The model: a tree of bodies, frozen, with exact numbers.

Bodies are numbered depth first; body i moves relative to its parent by joint i, and the parent of
a body that hangs on the world is `WORLD`. A link behind a fixed joint has no body: it is part of
the body that carries it, and only its frame remains.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from numbers import Real

from kinetree._lazy import cached_property
from kinetree.errors import ModelError, among, unknown
from kinetree.kinds import texts
from kinetree.model.joints import Joint, Label
from kinetree.spatial import Inertia, Rotation, Transform, Vector3

WORLD = -1
NO_INERTIA = Inertia.zero()
STANDARD_GRAVITY = Vector3(0.0, 0.0, -9.81)


@dataclass(frozen=True)
class Limits:
    """The limits of a joint, the same for each of its coordinates; infinite where there is none.

    Arguments:
        lower, upper: of the coordinates, rad or m.
        velocity: rad/s or m/s.
        effort: of the joint force, N m or N.
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf


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
        follows: the number of the body whose coordinate also moves this one, if its joint is a
            mimic.
        joint_name, joint: the joint that connects it to its parent.
        limits, drive: those of the joint.
        mount: where the description mounts it; None if it does not say.
    """

    name: str
    joint_name: str
    parent: int
    placement: Transform
    joint: Joint
    inertia: Inertia
    limits: Limits = Limits()
    drive: Drive = Drive()
    follows: int | None = None
    mount: Mount | None = None

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
        file: the mesh, as the robot file names it; only the viewer opens it.
        folder: that of the robot file that names the mesh; empty if there is none.
    """

    link: str
    role: str
    kind: str
    size: tuple[float, ...]
    placement: Transform
    file: str = ""
    folder: str = field(default="", compare=False)


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
    """

    name: str
    bodies: tuple[Body, ...]
    frames: tuple[Frame, ...]
    gravity: Vector3 = STANDARD_GRAVITY
    coordinate_order: tuple[int, ...] = ()
    base_inertia: Inertia = NO_INERTIA
    shapes: tuple[Shape, ...] = ()

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
        slices, start = {}, 0
        for body in self.coordinate_order:
            stop = start + getattr(self.bodies[body].joint, count)
            slices[body] = slice(start, stop)
            start = stop
        return tuple(
            slices[i if body.follows is None else body.follows]
            for i, body in enumerate(self.bodies)
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
    def drives(self) -> tuple[Drive, ...]:
        """Each body's drive, as seen from the coordinate that moves it.

        The rest position of a spring is written out.
        """
        return tuple(_reflected_drive(body) for body in self.bodies)

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
    def digest(self) -> str:
        """A hash of every name and number of the model that affects dynamics."""
        h = hashlib.sha256()
        for part in _content(self):
            h.update(part.encode() + b";")
        return h.hexdigest()

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


def _reflected_drive(body: Body) -> Drive:
    """The drive of a body, as the coordinate that moves the body feels it."""
    _, ratio, offset = body.joint.transmission
    return body.explicit_drive.geared(ratio, offset)


NOT_DYNAMICS = ("mount", "shapes")


def _content(value: object) -> Iterator[str]:
    """Every leaf of a model as text, each number exact."""
    if isinstance(value, Rotation):
        yield from _content(value.rows)  # whatever its form
    elif is_dataclass(value):
        yield type(value).__name__ + getattr(value, "code_token", "")
        for part in fields(value):
            if part.name not in NOT_DYNAMICS:
                yield from _content(getattr(value, part.name))
    elif isinstance(value, tuple):
        yield str(len(value))
        for item in value:
            yield from _content(item)
    elif isinstance(value, Real):
        yield (float(value) + 0.0).hex()
    else:
        yield repr(value)


def _check(model: Model) -> None:
    """Refuse a model that no algorithm could use."""
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
            _check_finite(getattr(body, what), f"the {what} of body {body.name!r}")
        if not is_dataclass(body.joint):
            raise ModelError(
                f"joint {body.joint_name!r} is a {type(body.joint).__name__}, which is not a "
                "dataclass: decorate the class with @dataclass(frozen=True)"
            )
        _check_rest(body)
    seen.clear()
    for frame in model.frames:
        if frame.name in seen:
            raise ModelError(f"two frames are named {frame.name!r}: names must be unique")
        seen.add(frame.name)
        if not WORLD <= frame.body < len(model.bodies):
            raise ModelError(f"frame {frame.name!r} is on body {frame.body}, which does not exist")
        _check_finite(frame.placement, f"the placement of frame {frame.name!r}")
    _check_finite(model.gravity, "gravity")
    _check_finite(model.base_inertia, "the inertia of the base")
    owners = [i for i, body in enumerate(model.bodies) if body.follows is None]
    if sorted(model.coordinate_order) != owners:
        raise ModelError("coordinate_order must name each body that follows no other once")
    _check_followers(model, set(owners))


def _check_followers(model: Model, owners: set[int]) -> None:
    """Refuse a body that cannot follow another, or only with numbers that overflow."""
    for i, body in enumerate(model.bodies):
        if body.follows is None:
            continue
        if body.follows not in owners or model.bodies[body.follows].joint.nq != body.joint.nq:
            raise ModelError(
                f"body {body.name!r} follows body {body.follows}: one with as many coordinates "
                "of its own is expected"
            )
        leader, (_, ratio, offset) = model.bodies[body.follows], body.joint.transmission
        ends = (abs(x) for x in (leader.limits.lower, leader.limits.upper) if math.isfinite(x))
        farthest = max(ends, default=0.0) + math.pi
        if not math.isfinite(abs(ratio) * farthest + abs(offset)):
            raise ModelError(
                f"joint {body.joint_name!r} mimics {leader.joint_name!r} with multiplier "
                f"{ratio:g} and offset {offset:g}: within the limits of {leader.joint_name!r} its "
                "coordinate becomes too large for a number"
            )
        what = f"the drive of joint {body.joint_name!r}, seen through its multiplier {ratio:g},"
        _check_finite(model.drives[i], what)


def _check_rest(body: Body) -> None:
    """Refuse a rest position that is not a configuration of its joint."""
    rest, nq = body.drive.rest, body.joint.nq
    if not rest:
        return
    where = f"joint {body.joint_name!r}: its spring is relaxed at {rest!r}"
    if len(rest) != nq:
        raise ModelError(
            f"{where}: {nq} coordinates are expected, or none for the neutral position"
        )
    try:
        body.joint.coordinates(rest)
    except ValueError as e:
        raise ModelError(f"{where}: {e}") from None


def _check_finite(value: object, what: str) -> None:
    kind = type(value)
    if kind is float and value - value == 0.0:  # type: ignore[operator]
        return  # the usual case, first
    if is_dataclass(kind):
        for name in _field_names(kind):
            _check_finite(getattr(value, name), what)
    elif kind is tuple:
        for item in value:  # type: ignore[attr-defined]
            _check_finite(item, what)
    elif isinstance(value, (float, Real)) and not math.isfinite(value):
        raise ModelError(f"{what} holds {value}: every number must be finite")


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
