"""How soft what holds a robot is: MuJoCo's solref and solimp of limits, friction, constraints."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.model.checked import Checked

SOLREF = (0.02, 1.0)
SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)


@dataclass(frozen=True)
class Softness(Checked):
    """MuJoCo's parameters of a soft constraint.

    Arguments:
        solref: the time constant (s) and damping ratio; or, both negative, stiffness and damping.
        solimp: the impedance: smallest, largest, width, midpoint, power.
    """

    solref: tuple[float, float] = SOLREF
    solimp: tuple[float, float, float, float, float] = SOLIMP


@dataclass(frozen=True)
class SoftLimit(Softness):
    """The softness of a joint's limits.

    Arguments:
        solref, solimp: as in `Softness`.
        margin: how far before the limit the constraint begins to act, rad or m.
    """

    margin: float = 0.0


@dataclass(frozen=True)
class JointSoftness:
    """How soft the limits and the dry friction of a joint are; by default as MuJoCo has them.

    Arguments:
        limit: of the limits.
        friction: of the dry friction.
        reference: the coordinates at which the robot's inertia scales its softness; empty for the
            neutral ones.
    """

    limit: SoftLimit = SoftLimit()
    friction: Softness = Softness()
    reference: tuple[float, ...] = ()


USUAL = JointSoftness()
"""What joints have that say nothing else."""
