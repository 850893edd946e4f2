"""The robot files of the package: an arm with a mesh, and a quadruped, written by our own writers.

python tools/robot_files.py
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import kinetree as kt
from kinetree.model.formats.write_urdf import write_urdf
from kinetree.robots.files import FOLDER
from kinetree.show.view.geometry import turned

LIGHT, DARK = (0.86, 0.88, 0.91), (0.25, 0.28, 0.32)
PROFILE = {
    "dark": [(0.0, 0.62), (0.55, 0.6), (0.85, 0.54), (1.0, 0.44), (1.0, 0.4)],
    "light": [(1.0, 0.4), (0.94, 0.38), (0.94, -0.38), (1.0, -0.4)],
    "dark_end": [(1.0, -0.4), (1.0, -0.44), (0.85, -0.54), (0.55, -0.6), (0.0, -0.62)],
}
"""Half of the section of a link of length and radius one, from its top to its bottom."""


def segment() -> str:
    """The mesh of a link, along z and about the origin: a light tube between dark ends."""
    lines, count = ["mtllib segment.mtl"], 1
    for name, points in PROFILE.items():
        surface = turned(np.array(points))
        lines.append(f"usemtl {name.removesuffix('_end')}")
        lines += [f"v {x:.5g} {y:.5g} {z:.5g}" for x, y, z in surface.vertices]
        lines += ["f " + " ".join(str(count + i) for i in face) for face in surface.faces]
        count += len(surface.vertices)
    return "\n".join(lines) + "\n"


def materials() -> str:
    """The materials of that mesh."""
    colors = {"light": LIGHT, "dark": DARK}
    return "".join(f"newmtl {name}\nKd {' '.join(map(str, c))}\n" for name, c in colors.items())


def files() -> dict[str, str]:
    """The text of each file, by its name."""
    model = kt.robots.arm().model
    shapes = [
        replace(
            s,
            kind="mesh",
            size=(s.size[0], s.size[0], s.size[1] + s.size[0]),
            file="meshes/segment.obj",
        )
        if s.kind == "capsule"
        else s
        for s in model.shapes
    ]
    return {
        "arm.urdf": write_urdf(replace(model, shapes=tuple(shapes))),
        "quadruped.urdf": write_urdf(kt.robots.quadruped("fixed").model),
        "meshes/segment.obj": segment(),
        "meshes/segment.mtl": materials(),
    }


if __name__ == "__main__":
    for name, text in files().items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(path)
