"""BVH files written for these tests, with the names and the T-pose that recorded ones have."""

import numpy as np

ARM = """\
HIERARCHY
ROOT Hips
{
  OFFSET 0.0 0.0 0.0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Chest
  {
    OFFSET 0.0 50.0 0.0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT Elbow
    {
      OFFSET 30.0 20.0 0.0
      CHANNELS 1 Yrotation
      End Site
      {
        OFFSET 25.0 0.0 0.0
      }
    }
  }
  JOINT Leg
  {
    OFFSET 10.0 -80.0 0.0
    CHANNELS 2 Xrotation Zrotation
    End Site { OFFSET 0.0 -40.0 0.0 }
  }
}
MOTION
Frames: 3
Frame Time: 0.04
0 90 0 0 0 0 0 0 0 0 0 0
1 91 2 10 20 30 40 50 60 70 15 25
2 92 4 20 40 60 80 100 120 140 30 50
"""

BONES = [
    ("Hips", "", (0, 0, 0)),
    ("Spine", "Hips", (0, 10, 0)),
    ("Spine1", "Spine", (0, 20, 0)),
    ("Neck", "Spine1", (0, 22, 0)),
    ("Head", "Neck", (0, 8, 1)),
    *(
        (f"{side}{name}", f"{side}{parent}" if parent in LIMB else parent, (s * x, y, z))
        for LIMB in [("Shoulder", "Arm", "ForeArm", "UpLeg", "Leg")]
        for side, s in (("Left", 1), ("Right", -1))
        for name, parent, (x, y, z) in (
            ("Shoulder", "Spine1", (4, 18, 0)),
            ("Arm", "Shoulder", (14, 0, 0)),
            ("ForeArm", "Arm", (29, 0, 0)),
            ("Hand", "ForeArm", (26, 0, 0)),
            ("UpLeg", "Hips", (9, -4, 0)),
            ("Leg", "UpLeg", (0, -43, 0)),
            ("Foot", "Leg", (0, -42, -2)),
        )
    ),
]
ENDS = {"Head": (0, 20, 0), "LeftHand": (9, 0, 0), "RightHand": (-9, 0, 0)}
ENDS |= {"LeftFoot": (0, -5, 15), "RightFoot": (0, -5, 15)}


def walker(frames=40):
    """A figure in a T-pose, in centimetres and with y up, that swings its arms and legs."""
    lines, order = ["HIERARCHY"], []

    def bone(name, offset, depth):
        order.append(name)
        tab = "  " * depth
        lines.append(f"{tab}{'JOINT' if depth else 'ROOT'} {name}")
        lines.append(f"{tab}{{\n{tab}  OFFSET {offset[0]} {offset[1]} {offset[2]}")
        place = "6 Xposition Yposition Zposition" if not depth else "3"
        lines.append(f"{tab}  CHANNELS {place} Zrotation Xrotation Yrotation")
        for child, parent, way in BONES:
            if parent == name:
                bone(child, way, depth + 1)
        if name in ENDS:
            x, y, z = ENDS[name]
            lines.append(f"{tab}  End Site\n{tab}  {{\n{tab}    OFFSET {x} {y} {z}\n{tab}  }}")
        lines.append(f"{tab}}}")

    bone("Hips", (0, 0, 0), 0)
    times = np.arange(frames) / 30.0
    swing = np.sin(2 * np.pi * times)
    angles = {name: np.zeros((frames, 3)) for name in order}
    angles["LeftArm"][:, 0], angles["RightArm"][:, 0] = -75.0, 75.0  # arms down
    angles["LeftForeArm"][:, 2], angles["RightForeArm"][:, 2] = -25.0, 25.0
    for side, s in (("Left", 1.0), ("Right", -1.0)):
        angles[f"{side}UpLeg"][:, 1] = s * 25.0 * swing
        angles[f"{side}Leg"][:, 1] = 20.0 + 15.0 * swing * s
        angles[f"{side}Arm"][:, 1] = -s * 20.0 * swing
    angles["Hips"][:, 2] = 10.0 * swing
    place = np.c_[np.zeros(frames), 95.0 + swing, 120.0 * times]
    rows = np.hstack([place, *(angles[name] for name in order)])
    lines += ["MOTION", f"Frames: {frames}", f"Frame Time: {1 / 30.0!r}"]
    lines += [" ".join(f"{x:.8f}" for x in row) for row in rows]
    return "\n".join(lines) + "\n"
