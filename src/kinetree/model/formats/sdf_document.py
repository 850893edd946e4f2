"""An SDF document, converted to the newest version, with its includes inserted.

Included files must lie in the folders of the robot or in a package (`packages.py`); their number,
depth and size are bounded. Older versions differ in two ways that matter here: before SDF 1.5 an
axis was given in the model's frame, and before 1.7 if the flag use_parent_model_frame was set.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from kinetree.model.formats.files import read_file
from kinetree.model.formats.packages import SCHEMES, Finder, is_file, robot_folders
from kinetree.model.formats.sdf_frames import DEEPEST_MODEL, MODEL
from kinetree.model.formats.sdf_merge import merged
from kinetree.model.formats.sdf_values import is_true, text, version_of
from kinetree.model.formats.xml import LARGEST, MOST_ELEMENTS, TEXT, Element, brief, parse


def whole_document(root: Element, finder: Finder) -> Element:
    """A document in the newest version, with its includes.

    Arguments:
        root: its <sdf>.
        finder: of the files that it names.
    """
    return _Includes(finder).expanded(_upgraded(root), 0)


def _upgraded(root: Element) -> Element:
    """The same document in the newest version of the format."""
    version = version_of(root)
    if version >= (1, 7):
        return root
    for element in root.walk():
        if element.tag in ("axis", "axis2"):
            xyz, given = element.first("xyz"), element.first("use_parent_model_frame")
            in_model = version < (1, 5) if given is None else is_true(given, given.content)
            if xyz is not None and in_model:
                xyz.attributes.setdefault("expressed_in", MODEL)
    return root


@dataclass
class _Includes:
    """Replaces <include> elements by the included ones.

    Arguments:
        finder: of files.
        documents: those that were read.
        elements: the number inserted so far.
    """

    finder: Finder
    documents: dict[Path, Element] = field(default_factory=dict)
    elements: int = 0

    def expanded(self, element: Element, depth: int) -> Element:
        """An element with the includes below it expanded; only models and worlds include."""
        children = []
        for child in element.children:
            self._count(child)
            if child.tag == "include" and element.tag in ("model", "world", "sdf"):
                children += self._included(child, element, depth + 1)
            elif child.tag in ("model", "world"):
                if depth >= DEEPEST_MODEL:
                    raise child.error(f"models are nested more than {DEEPEST_MODEL} deep")
                children.append(self.expanded(child, depth + 1))
            else:
                children.append(child)
        return replace(element, children=children)

    def _count(self, element: Element) -> None:
        self.elements += 1 if element.tag in ("model", "world") else sum(1 for _ in element.walk())
        if self.elements > MOST_ELEMENTS:
            raise element.error(f"more than {MOST_ELEMENTS} elements, with what is included")

    def _included(self, include: Element, around: Element, depth: int) -> list[Element]:
        """The model that an element includes, or its contents."""
        if depth >= DEEPEST_MODEL:
            raise include.error(f"files include one another more than {DEEPEST_MODEL} deep")
        merges = is_true(include, include.attributes.get("merge", ""))
        if merges and around.tag != "model":
            raise include.error("only a model can merge the contents of another one")
        path = self._file(include)
        if path not in self.documents:
            document = parse(read_file(path, LARGEST), str(path))
            if document.tag != "sdf":
                raise include.error(f"{path.name} is a <{brief(document.tag)}>, not an <sdf>")
            self.documents[path] = _upgraded(document)
        models = list(self.documents[path].all("model"))
        if len(models) != 1:
            raise include.error(f"{path.name} has {len(models)} models; one is expected")
        model = self.expanded(_overridden(models[0], include), depth)
        return merged(model, include) if merges else [model]

    def _file(self, include: Element) -> Path:
        """The file that an element includes."""
        uri = text(include, "uri")
        found = self._at(include, uri)
        if found is None:  # the folder of a model
            folder = uri.rstrip("/")
            config = self._at(include, f"{folder}/model.config")
            names = ["model.sdf"]
            if config is not None:
                listed = parse(read_file(config, LARGEST), str(config)).all("sdf")
                names += [" ".join(x.words()) for x in listed]
            found = next(
                (x for n in reversed(names) if (x := self._at(include, f"{folder}/{n}"))), None
            )
        if found is None:
            raise include.error(
                f"<uri> {brief(uri)!r}: there is no such file in the robot's folder or its "
                "packages; nothing else is read. packages= of kinetree.load names folders"
            )
        return found

    def _at(self, include: Element, uri: str) -> Path | None:
        if uri.startswith(SCHEMES):
            return self.finder.find(uri)
        name = uri.removeprefix("file://")
        if include.file == TEXT or "\0" in name:
            return None
        near = Path(os.path.realpath(Path(include.file).parent / name))
        own = [*robot_folders(self.finder.folder), *robot_folders(Path(include.file).parent)]
        inside = any(near.is_relative_to(home) for home in own)
        return near if inside and is_file(near) else None


def _overridden(model: Element, include: Element) -> Element:
    """A model with the overrides of its <include>."""
    attributes = dict(model.attributes)
    for tag in ("name", "placement_frame"):
        child = include.first(tag)
        if child is not None:
            attributes[tag] = text(include, tag)
    said = {child.tag: child for child in include.children if child.tag in ("pose", "static")}
    children = [child for child in model.children if child.tag not in said]
    return replace(model, attributes=attributes, children=[*said.values(), *children])
