"""The document that MuJoCo compiles: the MJCF file, checked and written out again.

MuJoCo never sees the file itself, so its parser and ours cannot disagree. Includes are inserted in
place. Named files are read here, if they lie in the folder, and passed in memory under a hash of
their content as name: MuJoCo caches meshes by name, and some releases return the cached mesh for
another file of the same name.

Parts that only cost time are left out or switched off: solver settings, buffers, contacts (whose
parameters are still read), sensors, and the length ranges of muscles. MuJoCo finds the last by a
simulation that it restarts whenever it diverges, so that it may never end. The rest is bounded:
numbers, counts, pictures and convex hulls (`mjcf_limits`).
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kinetree.model.formats.files import read_file
from kinetree.model.formats.mjcf_limits import (
    bounded,
    check_elements,
    check_expansion,
    check_picture,
)
from kinetree.model.formats.write_xml import quoted
from kinetree.model.formats.xml import DEEPEST, LARGEST, Element, brief, parse

LARGEST_ASSET = 1 << 28  # bytes of a mesh, a picture, a skin
MOST_MODELS = 1000  # attached
DEEPEST_MODEL = 50  # depth of attached models
FOLDERS = {
    "mesh": "meshdir",
    "hfield": "meshdir",
    "skin": "meshdir",
    "flexcomp": "meshdir",
    "texture": "texturedir",
}
"""The elements that name files, and the setting with the folder of each."""
SIDES = ("right", "left", "up", "down", "front", "back")
NAMING = {"file", *(f"file{side}" for side in SIDES)}
PATHS = ("assetdir", "meshdir", "texturedir", "strippath")
ITERATIONS = (
    *(f"{kind}iterations" for kind in ("", "ls_", "noslip_", "ccd_", "mpr_", "sdf_")),
    "sdf_initpoints",
)
LEFT_OUT = {"compiler": PATHS, "option": ITERATIONS, "texture": ("embed",)}
"""Attributes that are not passed on: files are renamed, no state is solved for, and textures are
embedded."""
LARGEST_HULL = 5000  # vertices: the time for a hull may grow with the square of their number
SMALL_MESH = 6 * LARGEST_HULL  # bytes: a smaller file has fewer vertices
SMALL_HULLS = f'<default><mesh maxhullvert="{LARGEST_HULL}"/></default>'
"""Put before everything else in a document with large meshes: the hull has no effect on a model,
unless its inertia is asked for."""
OFF = (
    '<compiler><lengthrange mode="none"/></compiler>'
    '<option><flag contact="disable" sensor="disable"/></option>'
)
"""Put after everything else in a document."""
LINE = re.compile(r"\bline (\d+)\b")


@dataclass(frozen=True)
class Source:
    """A document as it is passed to MuJoCo.

    main: the name of the file.
    text: of the main document.
    assets: the other files, by the names they have in it.
    files: maps each of these names to the original one.
    lines: the element on each line, of all documents: no two of them share a line number.
    contact: whether the file leaves contacts switched on.
    length_ranges: the elements <lengthrange> of the main document, which are not in the text.
    """

    main: str
    text: str
    assets: Mapping[str, bytes]
    files: Mapping[str, str]
    lines: list[Element]
    contact: bool
    length_ranges: Sequence[Element]

    def translated(self, message: str) -> str:
        """A message of MuJoCo with the names and lines of the original files."""
        for name, file in self.files.items():
            message = message.replace(name, file)
        return LINE.sub(self._place, message)

    def _place(self, match: re.Match[str]) -> str:
        number = int(match[1])
        if not 1 <= number <= len(self.lines):
            return match[0]
        element = self.lines[number - 1]
        return f"line {element.line}" + (f" of {element.file}" if element.file != self.main else "")


def source(document: Element, folder: Path | None) -> Source:
    """A document and the files it names, as they are passed to MuJoCo.

    Arguments:
        folder: where every file must lie; None if the document may name none.
    """
    writer = _Writer(folder)
    text, _ = writer.document(document)
    return Source(
        document.file,
        text,
        writer.assets,
        writer.files,
        writer.lines,
        writer.contact,
        writer.length_ranges,
    )


@dataclass
class _Settings:
    """The folders of a document's files: the settings of all its compilers; later ones override."""

    main: Path
    meshdir: str = ""
    texturedir: str = ""
    strippath: str = ""

    def take(self, compiler: Mapping[str, str]) -> None:
        """Add the settings of one more compiler."""
        for key in ("meshdir", "texturedir"):
            before = compiler.get("assetdir", getattr(self, key))
            setattr(self, key, compiler.get(key, before))
        self.strippath = compiler.get("strippath", self.strippath)

    def places(self, element: Element, file: str) -> list[Path]:
        """The paths at which MuJoCo looks for a file, in this order."""
        name = _last(file) if self.strippath == "true" else file.replace("\\", "/")
        folder = getattr(self, FOLDERS[element.tag]).replace("\\", "/")
        return [self.main / folder / name, Path(element.file).parent / name]


@dataclass
class _Writer:
    """Writes documents out again, the main one and the models it attaches.

    models: the written ones, by file: the name of each, and its number of elements.
    pending: those being written, each attached by the one before.
    contact: whether the document last written leaves contacts switched on.
    length_ranges: its elements <lengthrange>, which MuJoCo is not given.
    """

    folder: Path | None
    assets: dict[str, bytes] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    lines: list[Element] = field(default_factory=list)
    models: dict[Path, tuple[str, int]] = field(default_factory=dict)
    pending: list[Path] = field(default_factory=list)
    contact: bool = True
    length_ranges: list[Element] = field(default_factory=list)

    def document(self, root: Element) -> tuple[str, int]:
        """The text of a document, and its number of elements after all repetitions."""
        whole = self._with_includes(root)
        check_elements(whole, len(self.lines))
        settings = _Settings(Path(root.file).parent)
        for element in whole.all("compiler"):
            settings.take(element.attributes)
        self.length_ranges = [y for x in whole.all("compiler") for y in x.all("lengthrange")]
        attached: dict[int, tuple[str, int]] = {}
        for element in whole.walk():
            if element.tag == "model":
                attached[id(element)] = self._model(element, settings.main)
        flags = [flag for option in whole.all("option") for flag in option.all("flag")]
        said = [flag.attributes["contact"] for flag in flags if "contact" in flag.attributes]
        self.contact = said[-1:] != ["disable"]
        largest = max((size for _, size in attached.values()), default=0)
        size = check_expansion(whole, largest)
        return self._written(whole, settings, {k: name for k, (name, _) in attached.items()}), size

    # files

    def _found(self, element: Element, key: str, places: list[Path]) -> Path | None:
        """The first of these places at which there is a file; all must be in the folder."""
        file = brief(element.attributes[key])
        if self.folder is None:
            raise element.error(
                f"{key}={file!r}: a model given as text cannot refer to files; load it from a file "
                "in the folder of the others"
            )
        home = Path(os.path.realpath(self.folder))
        real = [Path(os.path.realpath(place)) for place in places]
        if not all(path.is_relative_to(home) for path in real):
            raise element.error(
                f"{key}={file!r} points outside the folder {self.folder}, from which nothing is "
                "read; allow a larger folder with folder="
            )
        return next((path for path in real if os.path.isfile(path)), None)

    def _document_at(self, element: Element, main: Path) -> tuple[Path, Path]:
        """The path of the document that an element names: the real one, and one for messages."""
        file = element.text("file").replace("\\", "/")
        places = [main / file, Path(element.file).parent / file]
        path = self._found(element, "file", places)
        if path is None:
            shown = brief(element.attributes["file"])
            raise element.error(f"file={shown!r}: there is no such file in {main}")
        return path, next(place for place in places if Path(os.path.realpath(place)) == path)

    def _with_includes(self, root: Element) -> Element:
        """A document with all its includes inserted, recursively."""
        main, seen = Path(root.file).parent, {Path(os.path.realpath(root.file))}
        whole = replace(root, children=[])
        # a stack of elements to insert, the element to insert each into, and its depth
        pending = [(child, whole, 1) for child in reversed(root.children)]
        while pending:
            element, parent, depth = pending.pop()
            if depth >= DEEPEST:
                raise element.error(
                    f"elements are nested {DEEPEST} deep, the limit for a robot file"
                )
            if element.tag == "include":
                inner = self._included(element, main, seen)
                pending += [(child, parent, depth) for child in reversed(inner.children)]
                continue
            copy = replace(element, children=[])
            parent.children.append(copy)
            pending += [(child, copy, depth + 1) for child in reversed(element.children)]
        return whole

    def _included(self, element: Element, main: Path, seen: set[Path]) -> Element:
        """The document that an element includes."""
        if element.children:
            raise element.error("an include has no children")
        path, shown = self._document_at(element, main)
        file = brief(element.attributes["file"])
        if path in seen:
            raise element.error(f"file={file!r} is included a second time")
        seen.add(path)
        inner = parse(read_file(path, LARGEST), str(shown))
        if not inner.children:
            raise element.error(f"file={file!r}: the document has no elements to include")
        return inner

    def _model(self, element: Element, main: Path) -> tuple[str, int]:
        """The name of a model that may be attached, and its number of elements."""
        path, shown = self._document_at(element, main)
        file = brief(element.attributes["file"])
        if path in self.pending:
            raise element.error(f"file={file!r}: the model attaches itself")
        if path not in self.models:
            if len(self.models) == MOST_MODELS or len(self.pending) == DEEPEST_MODEL:
                raise element.error(
                    f"more than {MOST_MODELS} models are attached, or attachments are nested more "
                    f"than {DEEPEST_MODEL} deep"
                )
            root = parse(read_file(path, LARGEST), str(shown))
            if root.tag != "mujoco":
                raise element.error(f"file={file!r}: an MJCF file is expected, not {root}")
            self.pending.append(path)
            text, size = self.document(root)
            self.pending.pop()
            self.models[path] = self._named(file, ".xml", text.encode()), size
        return self.models[path]

    def _asset(self, element: Element, key: str, settings: _Settings) -> str:
        """The name of a file that is passed in memory.

        A missing file gets a name, too: MuJoCo does not open every file.
        """
        file = element.attributes[key]
        if element.tag not in FOLDERS or key not in NAMING:
            raise element.error(f"{key}={brief(file)!r}: a <{brief(element.tag)}> names no file")
        path = self._found(element, key, settings.places(element, file))
        suffix = re.sub(r"[^.\w]", "", Path(_last(file)).suffix, flags=re.ASCII)[:9]
        if path is None:
            return self._named(file, suffix, None)
        data = read_file(path, LARGEST_ASSET)
        if len(data) > LARGEST_ASSET:
            raise element.error(f"{key}={brief(file)!r} is larger than {LARGEST_ASSET >> 20} MiB")
        check_picture(element, key, data)
        return self._named(file, suffix, data)

    def _named(self, file: str, suffix: str, data: bytes | None) -> str:
        """A name for a file, unique by name and content."""
        content = hashlib.sha256(repr((file, data is None)).encode() + (data or b""))
        name = f"kinetree-{content.hexdigest()[:40]}{suffix}"
        self.files[name] = file
        if data is not None:
            self.assets[name] = data
        return name

    # writing

    def _written(self, root: Element, settings: _Settings, models: Mapping[int, str]) -> str:
        """The text of a document: each element on a line of its own, below those of others."""
        text: list[str] = ["\n" * len(self.lines), "", ""]  # the root is inserted here at the end
        large = False
        # a stack of elements to write and of end tags
        pending: list[Element | str] = [root]
        while pending:
            element = pending.pop()
            if isinstance(element, str):
                text.append(element)
                continue
            self.lines.append(element)
            given = self._attributes(element, settings, models)
            large |= element.tag == "mesh" and self._is_large(given)
            pairs = "".join(f' {key}="{quoted(value)}"' for key, value in given.items())
            children = [c for c in element.children if c.tag not in ("size", "lengthrange")]
            end = f"</{element.tag}>"
            if element is root:
                text[1], end = f"<{element.tag}{pairs}>", OFF + end
            else:
                text.append(f"\n<{element.tag}{pairs}>")
            pending += [end, *reversed(children)]
        text[2] = SMALL_HULLS if large else ""
        return "".join(text)

    def _is_large(self, mesh: Mapping[str, str]) -> bool:
        """Whether a mesh may have many vertices, by its attributes."""
        size = len(mesh.get("vertex", "")), len(self.assets.get(mesh.get("file", ""), b""))
        return max(size) > SMALL_MESH

    def _attributes(
        self, element: Element, settings: _Settings, models: Mapping[int, str]
    ) -> dict[str, str]:
        left_out = LEFT_OUT.get(element.tag, ())
        given = {k: v for k, v in element.attributes.items() if k not in left_out}
        if id(element) in models:
            return given | {"file": models[id(element)]}
        for key in [k for k in given if k.startswith("file")]:
            if key == "file" and element.tag in ("mesh", "hfield", "texture"):
                given["name"] = given.get("name") or _last(given[key]).rsplit(".", 1)[0]
            given[key] = self._asset(element, key, settings)
        if "maxhullvert" in given and self._is_large(given):
            given["maxhullvert"] = bounded(given["maxhullvert"], LARGEST_HULL)
        return given


def _last(file: str) -> str:
    """The last part of a path, with either separator."""
    return re.split(r"[/\\]", file)[-1]
