"""The features of SDF that are honoured, row by row, and the elements that are not read.

The page for Gazebo's users has the rows, and tests check them against the reader. `unread` names
each kind of ignored element once, with its line and what is lost.
"""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.model.formats.honoured import Feature
from kinetree.model.formats.xml import Element, brief
from kinetree.model.problem import Problem

HONOURED = (
    Feature("`model`, nested `model`", True, "links and joints; names are `inner::link`"),
    Feature(
        "`world` with several models", True, "one robot, each model with a free joint of its own"
    ),
    Feature(
        "`include`", True, "the model in that file, if it is in the robot's folders or a package"
    ),
    Feature("`include` with `merge`", True, "its contents, in the model around it"),
    Feature(
        "`pose`: `relative_to`, `degrees`, `rotation_format`", True, "poses, by the frame semantics"
    ),
    Feature("`frame`, `attached_to`, `placement_frame`, `canonical_link`", True, "named frames"),
    Feature("`static`", True, "links that stand still"),
    Feature(
        "`inertial`: `mass`, `pose`, `inertia`", True, "inertias; 1 kg, 1 kg m² where it is missing"
    ),
    Feature("`inertial` with `auto`, `density`", True, "inertias of the collision shapes"),
    Feature(
        "`joint`: `revolute`, `continuous`, `prismatic`, `fixed`",
        True,
        "joints, one coordinate each",
    ),
    Feature("`joint`: `ball`", True, "`Ball`"),
    Feature("`joint`: `screw`", True, "`Screw`: an angle, and its pitch along the axis"),
    Feature("`joint`: `universal`, `revolute2`", True, "two hinges, `name` and `name_2`"),
    Feature("`joint`: `gearbox`", True, "`Coupling` of the hinges between its links"),
    Feature("a joint that closes a loop", True, "`LoopJoint`"),
    Feature(
        "`parent`, `child`: links, frames, `world`", True, "a joint with the world fixes the base"
    ),
    Feature("`axis`, `axis2`: `xyz` with `expressed_in`", True, "axes"),
    Feature("`limit`: `lower`, `upper`, `effort`, `velocity`", True, "limits"),
    Feature("`dynamics`: `damping`, `friction`", True, "damping and dry friction"),
    Feature("`dynamics`: `spring_stiffness`, `spring_reference`", True, "a spring"),
    Feature("`mimic`", True, "the joint follows another and has no coordinate of its own"),
    Feature("`drake:rotor_inertia`, `drake:gear_ratio`", True, "armature"),
    Feature(
        "`visual`, `collision`: `box`, `sphere`, `cylinder`, `capsule`, `ellipsoid`, `mesh`",
        True,
        "shapes, colliders",
    ),
    Feature("`plane` of a link that stands still", True, "a collider of the world"),
    Feature("`sensor` of type `imu`", True, "`Sensor`s: an accelerometer and a gyro"),
    Feature("`sensor` of type `force_torque` of a joint", True, "`Sensor`s: a force and a torque"),
    Feature("`gravity` of a world", True, "gravity"),
    Feature("`gravity` of a link", True, "`Compensation`: its weight is carried"),
    Feature(
        "`stiffness`, `dissipation` of a limit",
        False,
        "limits are rigid or as soft as `contact` says, with a note",
    ),
    Feature("other sensors", False, "left out, with a note"),
    Feature("`plugin`", False, "left out, with a note: plugins are not run"),
    Feature("`fluid_added_mass`", False, "left out, with a warning"),
    Feature(
        "`self_collide`, `surface`", False, "pairs that touch are chosen by `kt.load`, with a note"
    ),
    Feature("`heightmap`, `polyline`, `cone` and other shapes", False, "left out, with a note"),
    Feature(
        "`light`, `actor`, `physics`, `scene` and other parts of a world",
        False,
        "left out, with a note",
    ),
)
"""The rows, in the order of the page."""


AXIS = {"xyz", "limit", "dynamics", "mimic", "use_parent_model_frame", "initial_position"}
READ: dict[str, set[str]] = {
    "sdf": {"model", "world"},
    "world": {"model", "joint", "frame", "gravity"},
    "model": {"model", "link", "joint", "frame", "pose", "static", "allow_auto_disable"},
    "frame": {"pose"},
    "link": {"pose", "inertial", "visual", "collision", "sensor", "must_be_base_link"}
    | {"gravity", "kinematic"},
    "inertial": {"mass", "pose", "inertia", "density"},
    "inertia": {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"},
    "joint": {"parent", "child", "pose", "axis", "axis2", "thread_pitch", "screw_thread_pitch"}
    | {"gearbox_ratio", "gearbox_reference_body"}
    | {"drake:rotor_inertia", "drake:gear_ratio", "physics", "sensor"},
    "axis": AXIS,
    "axis2": AXIS,
    "limit": {"lower", "upper", "effort", "velocity"},
    "dynamics": {"damping", "friction", "spring_stiffness", "spring_reference"},
    "mimic": {"multiplier", "offset", "reference"},
    "collision": {"pose", "geometry", "density", "max_contacts", "laser_retro"},
    "visual": {"pose", "geometry", "material", "cast_shadows", "transparency", "meta"}
    | {"laser_retro", "visibility_flags"},
}
"""The children of each element that are read, or have no effect on what a robot does. Elements
that are not named here are not looked into."""
LOST: dict[str, tuple[str, str]] = {
    "plugin": ("note", "plugins are not run"),
    "sensor": ("note", "what it measures is left out"),
    "fluid_added_mass": ("warning", "the inertia of the fluid around the link is lost"),
    "enable_wind": ("note", "there is no wind"),
    "wind": ("note", "there is no wind"),
    "self_collide": ("note", "self_collision= of kinetree.load says whether links touch"),
    "surface": ("note", "contact= of kinetree.load says what can touch, and how"),
    "light": ("note", "it has no effect on motion"),
    "actor": ("note", "what it does is left out"),
    "velocity_decay": ("warning", "its damping is lost"),
    "kinematic": ("warning", "the link moves by its dynamics"),
    "battery": ("note", "it has no effect on motion"),
    "particle_emitter": ("note", "it has no effect on motion"),
    "gripper": ("warning", "what it grasps is not held"),
    "projector": ("note", "it has no effect on motion"),
    "audio_source": ("note", "it has no effect on motion"),
    "audio_sink": ("note", "it has no effect on motion"),
    "contact": ("note", "contact= of kinetree.load says what can touch, and how"),
    "stiffness": ("note", "limits are rigid, or as soft as those of contact"),
    "dissipation": ("note", "limits are rigid, or as soft as those of contact"),
    "static": ("warning", "only models can be static"),
}
"""The loss with an element that is not read."""
WORLD_PARTS = {
    "physics", "scene", "atmosphere", "magnetic_field", "spherical_coordinates", "gui", "audio",
    "road", "population", "state", "wind", "light", "actor", "plugin",
}  # fmt: skip


def unread(root: Element) -> Iterator[Problem]:
    """A remark for each kind of ignored element, at the first of them.

    Arguments:
        root: the <sdf>.
    """
    seen: set[tuple[str, str]] = set()
    pending = [root]
    while pending:
        element = pending.pop()
        known = READ[element.tag]
        for child in element.children:
            if child.tag not in known and (element.tag, child.tag) not in seen:
                seen.add((element.tag, child.tag))
                yield _remark(element, child)
        pending += [x for x in reversed(element.children) if x.tag in known and x.tag in READ]


def _remark(parent: Element, child: Element) -> Problem:
    severity, lost = LOST.get(
        child.tag, ("warning", "the element is unknown, and its content is lost")
    )
    if parent.tag in ("world", "sdf") and child.tag in WORLD_PARTS:
        severity, lost = "note", "of a world, only its models, joints, frames and gravity are read"
    message = f"<{brief(child.tag)}> is not read: {lost}"
    return Problem(severity, f"<{parent.tag}>", message, child.where)
