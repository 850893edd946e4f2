"""The rows of a contact: their axes, reference accelerations and law.

Source: MuJoCo's documentation, "Computation", sections "Contact" and "Friction cones".

    R_j mu_j^2 = R_1 mu_1^2,    R_1 = R_0 / impratio            elliptic cones                (11)
    R = 2 mu_1^2 / impratio (1 + mu_1^2) A (1 - d) / d          pyramids: every edge          (12)

    MuJoCo         code             meaning
    dist           touch.distance   of the surfaces; contacts act if it is below the margin
    frame          axes             the normal and two tangents
    diagApprox     A                of `weights`, the sum for both bodies

Cost: a few operations for each row.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.algorithms.contact.couple import Contact
from kinetree.algorithms.contact.elliptic import Ellipse
from kinetree.algorithms.contact.laws import Law, OneSided, Pyramid
from kinetree.algorithms.contact.reference import Reference, impedance, reference, regularisation
from kinetree.algorithms.contact.touch import UNIT_X, Touch, direction
from kinetree.model.geometry import ContactPair
from kinetree.scalar import Scalar, absolute, less, maximum, select
from kinetree.spatial import Twist, Vector3

LEAST_FRICTION = 1e-5  # MuJoCo's mjMINMU


@dataclass(frozen=True)
class Meeting:
    """Two shapes at a touch.

    r: its point, from o, at which the motion of their bodies is taken.
    V: the velocity of the second body relative to the first, at o.
    A: of `weights`.
    references: k and b along the normal and along the tangents.
    friction: that of the pair if it is an argument of the program; empty if it is a constant.
    """

    touch: Touch
    r: Vector3
    V: Twist
    A: Scalar
    references: tuple[Reference, Reference]
    friction: tuple[Scalar, ...] = ()


@dataclass(frozen=True)
class ContactLaws:
    """The laws of a robot's contacts.

    cone: "elliptic" or "pyramidal".
    impratio: friction's impedance relative to that of the normal.
    shortest: the shortest time constant of a contact, s.
    """

    cone: str
    impratio: float
    shortest: Scalar

    def numbers(self, pair: ContactPair) -> tuple[tuple[Reference, Reference], tuple[Scalar, ...]]:
        """The references and the friction of a `Meeting`."""
        elliptic = self.cone == "elliptic" and any(pair.solreffriction)
        sliding = pair.solreffriction if elliptic else pair.solref
        references = (
            reference(pair.solref, pair.solimp, self.shortest),
            reference(sliding, pair.solimp, self.shortest),
        )
        return references, varied_friction(pair)

    def is_isotropic(self, pair: ContactPair) -> bool:
        """Whether contacts resist all motions along their tangents alike."""
        if pair.condim == 1:
            return True
        if self.cone != "elliptic" or varied_friction(pair):
            return False
        slide, across, _, roll, over = pair.friction
        return slide == across and (pair.condim < 6 or roll == over)

    def rows(self, pair: ContactPair, at: Meeting) -> Contact:
        """The rows of a contact, and their law."""
        touch, (normal, tangent) = at.touch, at.references
        r = touch.distance - reach(pair)
        d = impedance(pair.solimp, r)
        axes = tangent_frame(touch.normal, touch.axis)[: 1 if pair.condim == 1 else 3]
        blank = Contact(at.r, axes, (0,) * pair.condim, OneSided(0))
        rates = blank.rows(at.V)
        aref = [-tangent.b * rate for rate in rates]
        aref[0] = -normal.b * rates[0] - normal.k * d * r
        return Contact(blank.r, axes, tuple(aref), self._law(pair, at, d, less(r, 0.0)))

    def _law(self, pair: ContactPair, at: Meeting, d: Scalar, acts: Scalar) -> Law:
        """The law of a contact, without force where it does not act."""
        A, coefficients = at.A, at.friction or pair.friction
        if pair.condim == 1:
            return OneSided(select(acts, 1 / regularisation(d, A), 0.0))
        friction = [maximum(mu, LEAST_FRICTION) for mu in coefficients[: pair.condim - 1]]
        if self.cone == "pyramidal":
            mu = friction[0]
            R = regularisation(d, A * (1 + mu * mu)) * (2 * mu * mu / self.impratio)  # (12)
            return Pyramid(select(acts, 1 / R, 0.0), tuple(friction))
        R_0 = regularisation(d, A)
        ratios = [1.0, *(self.impratio * (mu / friction[0]) ** 2 for mu in friction)]  # (11)
        D = [select(acts, ratio / R_0, 0.0) for ratio in ratios]
        return Ellipse(tuple(D), friction[0] / self.impratio**0.5, tuple(friction))


def tangent_frame(normal: Vector3, axis: Vector3 | None) -> tuple[Vector3, Vector3, Vector3]:
    """The normal and two tangents; the first tangent is as near to a given axis as it can be.

    By default that is y, or z where the normal is near y, as in MuJoCo.
    """
    if axis is None:
        upright = less(absolute(normal.y), 0.5)
        axis = Vector3(0, select(upright, 1.0, 0.0), select(upright, 0.0, 1.0))
    _, t = direction(axis - normal * normal.dot(axis), UNIT_X)
    return normal, t, normal.cross(t)


def reach(pair: ContactPair) -> float:
    """The distance below which a pair acts."""
    return pair.margin


def varied_friction(pair: ContactPair) -> tuple[Scalar, ...]:
    """The friction of a pair if it is an argument of the program; empty if it is a constant."""
    fixed = all(isinstance(mu, float) for mu in pair.friction)
    return () if fixed else tuple(pair.friction)


def fixed_numbers(pair: ContactPair) -> tuple[object, ...]:
    """The constants that the rows of a pair depend on, besides a `Meeting`."""
    friction = () if varied_friction(pair) else pair.friction
    return pair.condim, friction, pair.solref, pair.solimp, pair.solreffriction, reach(pair)
