"""How far the ball joints of the human figure turn.

Source: American Academy of Orthopaedic Surgeons, Joint Motion: Method of Measuring and Recording
(1965), as in C. C. Norkin & D. J. White, Measurement of Joint Motion (2016), appendix. Two joints
share the ranges of the thoracic and lumbar spine.

differs: dorsiflexion of the ankle is that under load with a bent knee, 45 degrees instead of 20 (R.
Bennell et al., Intra-rater and inter-rater reliability of a weight-bearing lunge measure of ankle
dorsiflexion (1998)); the shank turns over the foot by 25 degrees; the shoulder is adducted by 30.

An elliptic cone goes through the four ranges of two opposite pairs, its middle between them: hips
that are flexed and abducted at once reach less far than each way alone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinetree.model.limits import BallRange


class Turns(NamedTuple):
    """Ranges of a joint of the left side, in degrees, about the axes of the figure at rest.

    x: about the forward axis, from and to; it leads downward limbs to the left.
    y: about the axis to the left; it leads downward limbs backward, and upward ones forward.
    twist: about the upward axis; it leads the front to the left.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    twist: tuple[float, float]

    def left(self) -> BallRange:
        """The range of the joint on the left side, or in the middle."""
        (x, a), (y, b) = (_middle(given) for given in (self.x, self.y))
        low, high = (math.radians(angle) for angle in self.twist)
        return BallRange((a, b), (low, high), center=(x, y, 0.0))

    def right(self) -> BallRange:
        """The mirror image: about x and z the other way."""
        return Turns(_mirrored(self.x), self.y, _mirrored(self.twist)).left()


def _middle(given: tuple[float, float]) -> tuple[float, float]:
    low, high = given
    return math.radians(0.5 * (low + high)), math.radians(0.5 * (high - low))


def _mirrored(given: tuple[float, float]) -> tuple[float, float]:
    return -given[1], -given[0]


SPINE = Turns(x=(-17.5, 17.5), y=(-12.5, 40.0), twist=(-22.5, 22.5))
"""Half of: bent to the side by 35, forward by 80, backward by 25, turned by 45."""
NECK = Turns(x=(-45.0, 45.0), y=(-45.0, 45.0), twist=(-60.0, 60.0))
SHOULDER = Turns(x=(-30.0, 180.0), y=(-180.0, 60.0), twist=(-70.0, 90.0))
"""Adduction and abduction; flexion and extension; inward and outward rotation."""
WRIST = Turns(x=(-80.0, 70.0), y=(-20.0, 30.0), twist=(-80.0, 80.0))
"""Flexion and extension; towards thumb and little finger; pronation and supination."""
HIP = Turns(x=(-30.0, 45.0), y=(-120.0, 30.0), twist=(-45.0, 45.0))
"""Adduction and abduction; flexion and extension; inward and outward rotation."""
KNEE = Turns(x=(-10.0, 10.0), y=(-5.0, 143.0), twist=(-25.0, 25.0))
ELBOW = Turns(x=(-20.0, 20.0), y=(-143.0, 5.0), twist=(-90.0, 90.0))
"""Of skeletons whose knees and elbows are ball joints: as far as the figure's hinges, and a little
otherwise; the forearm's pronation and supination."""
ANKLE = Turns(x=(-35.0, 15.0), y=(-45.0, 50.0), twist=(-25.0, 25.0))
"""Inversion and eversion; dorsiflexion and plantarflexion."""
