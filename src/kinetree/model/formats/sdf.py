"""Reading SDF: the models of a document as links and joints, with loops closed by constraints.

The names and poses of SDF follow its frame semantics (`sdf_frames.py`); `sdf_elements.py` has the
table of what is honoured. A document with one model leaves its base to the user, unless a joint
holds it on the world. In a world, or if several parts are not connected, each part is free, as in a
simulator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from kinetree.errors import FileFormatError
from kinetree.model.description import Connection, Description, Link
from kinetree.model.disassemble import fresh
from kinetree.model.equipment import Equipment
from kinetree.model.formats.packages import Finder
from kinetree.model.formats.sdf_document import whole_document
from kinetree.model.formats.sdf_elements import unread
from kinetree.model.formats.sdf_frames import DEEPEST_MODEL, KINDS, WORLD, Frames, Node, Scope
from kinetree.model.formats.sdf_joints import read_joint
from kinetree.model.formats.sdf_links import Links
from kinetree.model.formats.sdf_sensors import JointSensors
from kinetree.model.formats.sdf_tree import Tree
from kinetree.model.formats.sdf_values import flag
from kinetree.model.formats.xml import Element
from kinetree.model.keyframe import REFERENCE, Keyframe
from kinetree.model.model import STANDARD_GRAVITY
from kinetree.model.orientation import quaternion
from kinetree.model.problem import Problem
from kinetree.model.rounding import is_identity, snapped_transform
from kinetree.spatial import Inertia, Vector3


def read_sdf(
    root: Element, finder: Finder, mimic: bool = True, from_geometry: bool = False
) -> Description:
    """The links and joints of an SDF document.

    Arguments:
        root: its <sdf>.
        finder: of the files that it names.
        mimic: whether <mimic> is read, or ignored.
        from_geometry: whether links without inertia stay without, instead of getting SDF's default.
    """
    document = whole_document(root, finder)
    world = _world(document)
    assert world.inside is not None  # the world
    frames = Frames()
    reader = Links(frames, finder, from_geometry)
    nodes = list(world.inside.all("link"))
    if not nodes:
        raise FileFormatError(f"{root.where}: the document has no link: at least one is expected")
    static = [node for node in nodes if node.scope is not None and node.scope.static]
    still = set(static)
    tree = Tree(frames, world, static, alone=document.first(WORLD) is None)
    links = [reader.add(node, node in still) for node in nodes]
    joints = [read_joint(node, frames, mimic) for node in world.inside.all("joint")]
    models = list(world.inside.nodes["model"].values())
    tree.build(nodes, joints, [frames.link(model) for model in models if model.inside])
    gives_base = tree.root is world
    if gives_base:
        links.insert(0, Link(WORLD, Inertia.zero(), root.where))
    named, fixed = _named_frames(world.inside, frames, {x.name for x in (*links, *tree.between)})
    all_links, connections = [*links, *tree.between, *named], [*tree.connections, *fixed]
    sensed = JointSensors(frames, all_links, connections, reader.sensors)
    for joint in joints:
        sensed.add(joint)
    said = (reader.remarks, tree.remarks, sensed.remarks)
    remarks = [*_document_remarks(document), *chain.from_iterable(said)]
    return Description(
        models[0].element.name() if len(models) == 1 else world.element.name(default="world"),
        all_links,
        connections,
        root=_mount(tree, frames),
        gravity=_gravity(document),
        shapes=reader.shapes,
        order=[name for joint in joints for name in joint.names],
        remarks=remarks,
        gives_base=gives_base,
        constraints=tree.constraints,
        equipment=Equipment(
            sensors=tuple(reader.sensors.values()),
            keyframes=tuple(_reference(tree)),
            body_forces=tuple(reader.weightless.values()),
        ),
        colliders=list(reader.colliders.values()),
    )


def _world(document: Element) -> Node:
    """The world of a document with its content; a single model gets an empty world."""
    worlds, models = list(document.all("world")), list(document.all("model"))
    if len(worlds) + len(models) != 1:
        what = f"{len(worlds)} worlds and {len(models)} models"
        raise FileFormatError(
            f"{document.where}: the document has {what}; one world or one model is expected"
        )
    element = worlds[0] if worlds else replace(document, tag=WORLD)
    world = Node(WORLD, WORLD, element, None)
    world.inside = Scope(world)
    several = sum(1 for _ in element.all("model")) > 1
    _fill(world.inside, 0, several)
    return world


def _fill(scope: Scope, depth: int, prefixed: bool) -> None:
    """Enter the content of a model or of the world under its names.

    Arguments:
        scope: of the model or the world.
        depth: of the model in others.
        prefixed: whether names in its models start with theirs.
    """
    if depth > DEEPEST_MODEL:
        raise scope.node.element.error(f"models are nested more than {DEEPEST_MODEL} deep")
    for child in scope.node.element.children:
        if child.tag not in KINDS or (
            child.tag == "link" and child.attributes.get("name") == WORLD
        ):
            continue
        node = scope.add(child.tag, child)
        if child.tag == "model":
            static = scope.static or flag(child, "static")
            node.inside = Scope(node, static, f"{node.name}::" if prefixed else "")
            _fill(node.inside, depth + 1, True)


def _mount(tree: Tree, frames: Frames) -> Connection | None:
    """The mounting of a fixed base's root in the world; None at its origin."""
    at = snapped_transform(frames.pose(tree.root))
    if is_identity(at):
        return None
    name = fresh(f"{tree.root.name}_mount", {c.name for c in tree.connections})
    return Connection(name, "", tree.root.name, at, None)


def _reference(tree: Tree) -> Iterator[Keyframe]:
    """Where the file puts the links that are free, if that is not at the origin."""
    if all(is_identity(at) for at in tree.placed.values()):
        return
    coordinates = (
        (name, tuple(map(float, (*at.translation, *quaternion(at.rotation)))))
        for name, at in tree.placed.items()
    )
    yield Keyframe(name=REFERENCE, coordinates=tuple(coordinates))


def _named_frames(
    scope: Scope, frames: Frames, taken: set[str]
) -> tuple[list[Link], list[Connection]]:
    """The <frame>s of a document, as links without inertia."""
    links, connections = [], []
    for node in scope.all("frame"):
        carrier = frames.link(node)
        name = fresh(node.name, taken)
        taken.add(name)
        if carrier.name not in taken:
            continue  # on the world, which is no link of this robot
        at = snapped_transform(frames.pose(carrier).inverse() @ frames.pose(node))
        links.append(Link(name, Inertia.zero(), node.element.where))
        where = node.element.where
        connections.append(Connection(f"{name}:frame", carrier.name, name, at, None, where=where))
    return links, connections


def _gravity(document: Element) -> Vector3:
    world = document.first("world")
    gravity = None if world is None else world.first("gravity")
    return STANDARD_GRAVITY if gravity is None else Vector3(*gravity.values(3))


def _document_remarks(document: Element) -> list[Problem]:
    found = list(unread(document))
    for element in document.walk():
        if element.tag == "link" and element.attributes.get("name") == WORLD:
            message = "a link of this name is the world itself: what is on it is left out"
            found.append(Problem("warning", "link 'world'", message, element.where))
    return found
