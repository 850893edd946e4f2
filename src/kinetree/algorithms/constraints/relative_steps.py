"""Derivatives of the motion of one frame relative to another, by a step of a joint.

Source: J. Carpentier & N. Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS
(2018), section IV; the steps along the axes of joints are those of `inverse_derivatives`.

A step along the axis s of a joint moves the frame b of a constraint relative to its base a. In the
frame b,

    dV = u + s x V_a,    dA = w + s x A_a + dV x (V + 2 V_a) - (s x V_a) x V_a

and by the velocity dV = s, dA = r - (V + 2 V_a) x s. All of these have the opposite sign if the
joint carries a and not b; a joint that carries both changes nothing.

    symbol         code       meaning
    s, u, w, r     Step       the change along an axis of a joint, as in `inverse_derivatives`
    V_a, A_a       V_a A_a    the velocity of a; its acceleration, less gravity
    V, A           V A        the velocity of b relative to a; its rate

Cost: O(d), d the joints between the two frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from kinetree.algorithms.constraints.chains import Chains, Place
from kinetree.algorithms.frames import Frames
from kinetree.algorithms.inverse_derivatives import Step
from kinetree.algorithms.tree import ancestors
from kinetree.model.constraints import FrameConstraint
from kinetree.spatial import Transform, Twist

Poses = dict[int, Transform]
"""The pose of a frame in the frames that are used for bodies."""


@dataclass(frozen=True)
class RelativeStep:
    """The effect of a step of a joint on the frame of a constraint.

    number, index: of its axis in v, and among the axes of its joint.
    sign: -1 if the joint carries the base, and not the frame.
    place: the number of joints further out that carry the frame, or the base.
    dV, dA: the changes of V and A.
    dA_v: the change of A by the velocity; that of V is s.
    axes: the changes of the joint's axes in its body.
    """

    number: int
    index: int
    sign: int
    place: int
    s: Twist
    dV: Twist
    dA: Twist
    dA_v: Twist
    axes: Sequence[Twist]


@dataclass(frozen=True)
class RelativeMotion:
    """The pose of a frame in its base, its relative motion, and the steps that change it."""

    X: Transform
    V: Twist
    A: Twist
    steps: list[RelativeStep]


def relative_motion(
    parts: Frames,
    chains: Chains,
    v: Sequence[Twist],
    a: Sequence[Twist],
    steps: Sequence[Sequence[Step]],
    constraint: FrameConstraint,
) -> RelativeMotion:
    """The relative motion of a constraint's frames.

    Arguments:
        v, a: velocities of bodies, and accelerations less gravity.
        steps: along the axes of each body's joint.
    """
    frame = chains.place(constraint.frame, constraint.at_frame)
    base = chains.place(constraint.base, constraint.at_base)
    common = chains.common(base, frame)
    X = chains.chain(base, common).pose.inverse() @ chains.chain(frame, common).pose
    # the pose of b, for the bodies that carry b and for those that carry a
    near = _seen(parts, frame)
    far = {i: pose @ X for i, pose in _seen(parts, base).items()}
    world = _world_motion(parts, near | far)
    V_b, A_b = _motion(frame, near, v, a, world)
    V_a, A_a = _motion(base, far, v, a, world)
    V = V_b - V_a
    found = RelativeMotion(X, V, A_b - A_a + V.cross(V_a), [])
    for sign, body, poses in ((1, frame.body, near), (-1, base.body, far)):
        between = takewhile(lambda i: i != common, ancestors(parts.model, body))
        for place, i in enumerate(between):
            for index, t in enumerate(steps[i]):
                s, u, w, r = (poses[i].to_child(m) for m in (t.s, t.u, t.w, t.r))
                turned, both = s.cross(V_a), V + V_a * 2
                dV = u + turned
                dA = w + s.cross(A_a) + dV.cross(both) - turned.cross(V_a)
                axes = [poses[i].to_child(axis) for axis in t.axes]
                step = RelativeStep(
                    t.number, index, sign, place, s, dV, dA, r - both.cross(s), axes
                )
                found.steps.append(step)
    return found


def _seen(parts: Frames, place: Place) -> Poses:
    """The pose of a frame, for the bodies that carry it."""
    seen: Poses = {}
    after = place.at
    for i in ancestors(parts.model, place.body):
        seen[i] = parts.X[place.body] @ place.at if parts.common else after
        after = parts.X_p[i] @ after
    return seen


def _motion(
    place: Place,
    poses: Poses,
    v: Sequence[Twist],
    a: Sequence[Twist],
    world: tuple[Twist, Twist],
) -> tuple[Twist, Twist]:
    """The velocity and the acceleration, less gravity, of a frame's body, in the frame b."""
    if place.body < 0:
        return world
    pose = poses[place.body]
    return pose.to_child(v[place.body]), pose.to_child(a[place.body])


def _world_motion(parts: Frames, poses: Poses) -> tuple[Twist, Twist]:
    """The same of the world, which accelerates against gravity."""
    for root, pose in poses.items():
        if parts.model.bodies[root].parent < 0:
            V, A = parts.parent_motion(root, [], [])
            return pose.to_child(V), pose.to_child(A)
    return Twist.zero(), Twist.zero()
