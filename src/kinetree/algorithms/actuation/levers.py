"""Transmissions: the length of an actuator and its moment arms.

Source: E. Todorov, T. Erez & Y. Tassa, MuJoCo: A physics engine for model-based control (2012), and
its documentation, "Transmission".

    symbol    code        meaning
    l         length      of the transmission; zero if it has none
    r         row         the joint forces of a unit of the actuator's force
    gear                  units of joint force for a unit of actuator force

Where l is a function of the configuration, r is its gradient along q (+) delta. The rotation
relative to a reference frame counts as a rotation vector.

Cost: O(d) for each actuator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinetree.algorithms.actuation.plane import root
from kinetree.algorithms.actuation.posture import Posture, Row, line
from kinetree.algorithms.actuation.tendons import stretched
from kinetree.algorithms.contact.touches import touches
from kinetree.model.actuators import (
    Adhesion,
    JointTransmission,
    SiteTransmission,
    SliderCrank,
    TendonTransmission,
    Transmission,
)
from kinetree.scalar import Scalar, less, maximum, select
from kinetree.spatial import Force, Rotation, Vector3
from kinetree.spatial.angles import rotation_vector


def lever(posture: Posture, transmission: Transmission) -> tuple[Scalar, Row]:
    """The length of an actuator with this transmission, and its moment arms."""
    return LEVERS[type(transmission)](posture, transmission)


def _joint(posture: Posture, t: JointTransmission) -> tuple[Scalar, Row]:
    i = posture.body_of_joint(t.joint)
    body = posture.model.bodies[i]
    if body.joint.transmission.joint.nv == 1:
        length, row = posture.joint(i)
        return length * t.gear[0], [x * t.gear[0] for x in row]
    at, along = posture.model.q_slices[i], posture.model.v_slices[i]
    R = body.joint.transform(posture.q[at]).rotation
    free = body.joint.nv == 6
    push, twist = _gears(t.gear)
    force, torque = (push, twist) if free else (Vector3.zero(), push)
    torque = R.T @ torque if t.in_parent else torque
    length = 0 if free else rotation_vector(R).dot(torque)
    W, row = Force(R.T @ force, torque), posture.nothing()
    for k, axis in enumerate(body.joint.subspace(posture.q[at]), along.start):
        row[k] = axis.dot(W)
    return length, row


def _tendon(posture: Posture, t: TendonTransmission) -> tuple[Scalar, Row]:
    length, row = stretched(posture, posture.model.equipment.tendon(t.tendon))
    return length * t.gear, [x * t.gear for x in row]


def _site(posture: Posture, t: SiteTransmission) -> tuple[Scalar, Row]:
    X, row = posture.pose(t.frame), posture.nothing()
    push, twist = _gears(t.gear)
    if t.reference is None:
        W = line(X.translation, X.rotation @ push)
        posture.add(row, posture.body(t.frame), _with_torque(W, X.rotation, twist))
        return 0, row
    X_r = posture.pose(t.reference)
    seen, u = X_r.inverse() @ X, X_r.rotation @ push
    # each end has its own moment arm: the reference's does not turn with the site
    there, here = (
        _with_torque(line(p, u), X_r.rotation, twist) for p in (X.translation, X_r.translation)
    )
    posture.add(row, posture.body(t.frame), there, posture.body(t.reference), here)
    length = seen.translation.dot(push) + rotation_vector(seen.rotation).dot(twist)
    return length, row


def _with_torque(W: Force, R: Rotation, twist: Vector3) -> Force:
    return Force(W.linear, W.angular + R @ twist)


def _slider_crank(posture: Posture, t: SliderCrank) -> tuple[Scalar, Row]:
    """l = a.v - sqrt((a.v)^2 + rod^2 - v.v), v from slider to crank, a the slider's axis."""
    S, p, row = posture.pose(t.slider), posture.point(t.crank), posture.nothing()
    a, v = S.rotation @ Vector3(0.0, 0.0, 1.0), p - S.translation
    av = a.dot(v)
    det = av * av + t.rod * t.rod - v.dot(v)
    ok = less(0.0, det)
    s = root(det)
    slope = select(ok, 1.0 - av / select(ok, s, 1.0), 1.0)
    inverse = select(ok, 1.0 / select(ok, s, 1.0), 0.0)
    by_v, by_a = a * slope + v * inverse, v * slope
    crank, slider = posture.body(t.crank), posture.body(t.slider)
    W = line(p, by_v)
    turned = Force(-by_v, -(S.translation.cross(by_v)) + a.cross(by_a))
    posture.add(row, crank, W)
    posture.add(row, slider, turned)
    return (av - s) * t.gear, [x * t.gear for x in row]


def _adhesion(posture: Posture, t: Adhesion) -> tuple[Scalar, Row]:
    """The mean of the joint forces of unit forces along the normals of the link's contacts."""
    model, row = posture.model, posture.nothing()
    colliders = {c.name: c for c in model.colliders}
    count: Scalar = 0.0
    for pair in model.contacts:
        first, second = colliders[pair.first], colliders[pair.second]
        if t.link not in (first.frame, second.frame):
            continue
        X, Y = (c.at if c.frame is None else posture.pose(c.frame) @ c.at for c in (first, second))
        bodies = [model.collider_bodies[c.name] for c in (first, second)]
        near = pair.margin + pair.gap
        for touch in touches(first.shape, X, second.shape, Y, near):
            acts = select(less(touch.distance, near), 1.0, 0.0)
            count = count + acts
            posture.add(row, bodies[0], line(touch.point, touch.normal) * acts, bodies[1])
    share = t.gear / maximum(count, 1.0)
    return 0, [x * share for x in row]


def _gears(gear: tuple[float, ...]) -> tuple[Vector3, Vector3]:
    return Vector3(*gear[:3]), Vector3(*gear[3:])


LEVERS: dict[type, Callable[[Posture, Any], tuple[Scalar, Row]]] = {
    Adhesion: _adhesion,
    JointTransmission: _joint,
    SiteTransmission: _site,
    SliderCrank: _slider_crank,
    TendonTransmission: _tendon,
}
