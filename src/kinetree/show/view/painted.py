"""Meshes with the colours of their materials."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinetree.model.formats.files import read_file
from kinetree.model.formats.meshes import LARGEST_MESH, MESHES, Triangles, load_mesh

MATERIALS = (".mtl", ".png", ".jpg", ".jpeg")
"""Endings of files next to a mesh that it may name: materials and textures."""
MOST_COLORS = 24
"""Triangles with more colours than this, as of textures, get rounded ones."""


class Texture(NamedTuple):
    """A picture on a surface.

    places: texture coordinates of the vertices, (vertices, 2), from 0 to 1, from the lower left.
    image: a picture of PIL's.
    colors: the mean colour of each triangle, (triangles, 3), from 0 to 255.
    """

    places: Any
    image: Any
    colors: Any


class Painted(NamedTuple):
    """A part of a mesh that has one colour, or a texture.

    color: red, green, blue and opacity, from 0 to 1; empty if the file gives none.
    texture: None if it has one colour.
    """

    triangles: Triangles
    color: tuple[float, ...] = ()
    texture: Texture | None = None


def painted_mesh(
    path: Path, scale: tuple[float, ...], texture: Path | None = None
) -> list[Painted]:
    """The triangles of a file, grouped by colour; empty if it cannot be read.

    Arguments:
        path: of an STL, OBJ, PLY, GLB or DAE file.
        scale: along x, y and z; one if empty.
        texture: of a picture that replaces the mesh's own colours, if the file has texture
            coordinates.
    """
    kind = path.suffix.lower()
    if kind == ".stl":  # which has no colours
        plain = load_mesh(path, scale)
        return [] if plain is None else [Painted(plain)]
    content = read_file(path, LARGEST_MESH) if kind in MESHES else b""
    if not 0 < len(content) <= LARGEST_MESH:
        return []
    found = _painted(content, kind[1:], path.parent, texture)
    if not all(len(x.faces) and np.isfinite(x.vertices).all() for x, *_ in found):
        return []
    return [x._replace(triangles=_scaled(x.triangles, scale)) for x in found]


def _scaled(triangles: Triangles, scale: tuple[float, ...]) -> Triangles:
    return Triangles(triangles.vertices * (scale or 1.0), triangles.faces)


class _Beside:
    """Gives a reader the materials and textures in the folder of a mesh, and no other file."""

    def __init__(self, folder: Path) -> None:
        self._folder = Path(os.path.realpath(folder))

    def get(self, name: str) -> bytes:
        """The content of a file beside the mesh."""
        path = Path(os.path.realpath(self._folder / name.strip()))
        if path.parent != self._folder or path.suffix.lower() not in MATERIALS:
            raise FileNotFoundError(name)
        return read_file(path, LARGEST_MESH)

    __getitem__ = get


def _painted(content: bytes, kind: str, folder: Path, texture: Path | None) -> list[Painted]:
    import trimesh

    try:  # from memory, so that trimesh opens only files next to this one
        beside: Any = _Beside(folder)
        scene: Any = trimesh.load_scene(io.BytesIO(content), file_type=kind, resolver=beside)
        solids = [x for x in scene.dump() if isinstance(x, trimesh.Trimesh)]
        groups: dict[tuple[int, ...], list[Triangles]] = {}
        textured = list[Painted]()
        for solid in solids:
            skin = _texture(solid, texture)
            if skin is not None:
                solid_triangles = Triangles(np.asarray(solid.vertices, float), solid.faces)
                textured.append(Painted(solid_triangles, texture=skin))
                continue
            for color, faces in _faces_by_color(solid).items():
                used, numbers = np.unique(faces, return_inverse=True)
                vertices = np.asarray(solid.vertices, float)[used]
                part = Triangles(vertices, numbers.reshape(-1, 3))
                groups.setdefault(color, []).append(part)
        return textured + [
            Painted(_joined(parts), tuple(x / 255.0 for x in color))
            for color, parts in groups.items()
        ]
    except Exception:  # whatever a reader of many formats raises
        return []


def _texture(mesh: Any, picture: Path | None) -> Texture | None:
    """The texture of a mesh; None if it has none."""
    visual = mesh.visual
    places = getattr(visual, "uv", None)
    if visual.kind != "texture" or places is None or len(places) != len(mesh.vertices):
        return None
    material = visual.material
    image = getattr(material, "image", None) or getattr(material, "baseColorTexture", None)
    if picture is not None:
        from PIL import Image

        image = Image.open(io.BytesIO(read_file(picture, LARGEST_MESH)))
    if image is None:
        return None
    pixels = np.asarray(image.convert("RGB"), float)
    middle = np.asarray(places)[np.asarray(mesh.faces)].mean(axis=1) % 1.0
    height, width = pixels.shape[:2]
    rows = ((1.0 - middle[:, 1]) * (height - 1)).round().astype(int)
    columns = (middle[:, 0] * (width - 1)).round().astype(int)
    return Texture(np.asarray(places, float), image, pixels[rows, columns])


def _joined(parts: list[Triangles]) -> Triangles:
    starts = np.cumsum([0, *(len(x.vertices) for x in parts)])
    return Triangles(
        np.concatenate([x.vertices for x in parts]),
        np.concatenate([x.faces + at for x, at in zip(parts, starts, strict=False)]),
    )


def _faces_by_color(mesh: Any) -> dict[tuple[int, ...], Any]:
    """The faces of a mesh by colour, in bytes; the empty colour if the file gives none."""
    visual, faces = mesh.visual, np.asarray(mesh.faces)
    if visual.kind is None:
        return {(): faces}
    if visual.kind == "texture":  # a material without a picture
        return {tuple(int(x) for x in visual.material.main_color): faces}
    colors = np.asarray(visual.vertex_colors, np.uint8)[faces].mean(axis=1)
    if len(np.unique(colors, axis=0)) > MOST_COLORS:
        colors = np.minimum(np.round(colors / 51.0) * 51.0, 255.0)
    kinds, which = np.unique(colors.astype(int), axis=0, return_inverse=True)
    return {tuple(int(x) for x in kind): faces[which.ravel() == k] for k, kind in enumerate(kinds)}
