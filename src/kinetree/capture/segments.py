"""The segments of a human figure in the joints of a recorded skeleton, recognised by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

SIDES = ("left", "right")
NAMES: dict[str, tuple[str, ...]] = {
    "lower_trunk": ("hips", "hip", "pelvis", "root", "lowertrunk"),
    "middle_trunk": ("spine", "lowerback", "abdomen", "spine1", "torso", "chest", "middletrunk"),
    "upper_trunk": (
        *("spine3", "spine2", "chest", "thorax", "upperchest", "uppertrunk", "spine1", "spine"),
    ),
    "head": ("neck", "neck1", "head"),
    "upper_arm": ("arm", "upperarm", "shldr", "shoulder", "humerus", "uparm"),
    "forearm": ("forearm", "lowerarm", "elbow", "radius", "lowarm"),
    "hand": ("hand", "wrist"),
    "thigh": ("upleg", "thigh", "hip", "femur", "upperleg"),
    "shank": ("leg", "shin", "knee", "tibia", "lowleg", "lowerleg", "calf", "shank"),
    "foot": ("foot", "ankle"),
}
"""What skeletons call the joint at which a segment begins, the commonest names first."""
TRUNK = ("lower_trunk", "middle_trunk", "upper_trunk", "head")
LIMBS = tuple(part for part in NAMES if part not in TRUNK)
SEGMENTS = (*TRUNK, *(f"{side}_{part}" for side in SIDES for part in LIMBS))


def recognised(joints: Sequence[str], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The joint at which each segment begins; segments without one are left out.

    Arguments:
        joints: the names of the skeleton's joints.
        given: joints of segments that are known.
    """
    known = given or {}
    by_name = {plain(name): name for name in reversed(joints)}
    matched = {}
    for segment in SEGMENTS:
        side, _, part = segment.partition("_") if segment not in TRUNK else ("", "", segment)
        wanted = [f"{s}{name}" for name in NAMES[part] for s in _prefixes(side)]
        matches = [known[segment]] if segment in known else []
        matches += [by_name[name] for name in wanted if name in by_name]
        if matches:
            matched[segment] = matches[0]
    return matched


def _prefixes(side: str) -> tuple[str, ...]:
    return (side, side[:1]) if side else ("",)


def plain(name: str) -> str:
    """A joint's name without its name space, in lower case, without signs."""
    return "".join(c for c in name.rpartition(":")[2].lower() if c.isalnum())
