"""The masses of a recorded skeleton: those of the segments of a human figure.

Source: P. de Leva (1996), as in `robots.human`: the share of each segment in the body's mass.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.capture.segments import SEGMENTS, SIDES, recognised
from kinetree.model.formats.bvh_rods import Shares
from kinetree.robots.human import MEAN

FLAT = 0.3
"""A foot without toes reaches down by this share of its length."""


def mass_shares(names: Sequence[str], parents: Sequence[int]) -> Shares | None:
    """The segment of each joint of a skeleton, and the share of this segment in the mass.

    A joint between two that are recognised, such as a collar bone, belongs to the one above.

    Arguments:
        names: of the joints, parents first.
        parents: the number of each joint's parent, negative for the first.

    Returns:
        For each joint the number of the one at which its segment begins, and the share of that
        segment, and its length, for skeletons that do not say where it ends; None if the names of
        some segments are not recognised.
    """
    matched = recognised(names)
    if len(matched) < len(SEGMENTS):
        return None
    shares, lengths = dict.fromkeys(matched.values(), 0.0), dict.fromkeys(matched.values(), 0.0)
    for segment, joint in matched.items():
        part = segment.partition("_")[2] if segment.startswith(SIDES) else segment
        shares[joint] += getattr(MEAN, part).mass / 100.0
        lengths[joint] += getattr(MEAN, part).length * (FLAT if part == "foot" else 1.0)
    first = next(k for k, name in enumerate(names) if name == matched["lower_trunk"])
    owners: list[int] = []
    for k, name in enumerate(names):
        above = owners[parents[k]] if parents[k] >= 0 else first
        owners.append(k if name in shares else above)
    return [(owner, shares[names[owner]], lengths[names[owner]]) for owner in owners]
