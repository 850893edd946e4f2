"""The derivatives of inverse dynamics, by the configuration, the velocity and the acceleration.

Source: S. Singh, R. P. Russell & P. M. Wensing, Efficient analytical derivatives of rigid-body
dynamics using spatial vector algebra, IEEE Robotics and Automation Letters 7 (2022); the same in
other words by J. Carpentier & N. Mansard, Analytical derivatives of rigid body dynamics
algorithms, RSS (2018). In one common frame, or in the bodies' own, whatever is cheaper.

A step along the axis s of joint k turns and shifts all that the joint carries by s; what is left
of the change of velocities and accelerations is the same for every body i that it carries:

    dv_i = s x v_i + u,    da_i = s x a_i + u x v_i + w,    df_i = s x* f_i + I_i w + 2 B_i u

    paper          code      meaning
    v_i, a_i       v[i] a[i] velocity of body i; acceleration, less gravity
    S_k            s         an axis of joint k
    Psi'_k         u         v_p(k) x s, and what the velocity of the joint itself changes by
    Psi''_k        w         a_p(k) x s + v_p(k) x u, and what its acceleration changes by
    S'_k + Psi'_k  r         by the velocity: df_i = 2 B_i s + I_i r
    I_j^C, 2 B_j^C IC BC     inertia and velocity factor of all that joint j carries
    f_j^C          fC        the force that it transmits
                   KC        how much of its change is the turning of forces on points

The derivative by q is along q (+) delta: by the directions of velocities, whatever the chart is.

differs: the paper's axes are fixed in their bodies. Where they are not (angles of a ball, a custom
joint), their change with each coordinate enters u, w, r, and the force that joint itself feels.
differs: B is that of Echeandia & Wensing eq. 12, with its two zero blocks.
differs: a force on a point keeps its direction in the world: K takes back that f was turned.
differs: drives add rotor inertias, damping by the velocity, and by q the stiffness of springs; dry
friction has no derivative.

Cost: O(N d).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.axes import changes
from kinetree.algorithms.blocks import drive_matrices
from kinetree.algorithms.frames import Frames, framed, in_one_frame, in_own_frames, moving_force
from kinetree.algorithms.tree import Loads, ancestors, point_forces, wrenches_on_bodies
from kinetree.model import Model
from kinetree.scalar import Scalar
from kinetree.spatial import AngularOperator, Force, Twist, turning_factor

Matrix = list[list[Scalar]]


class Step(NamedTuple):
    """The change along one axis s of a joint.

    number: its index in v.
    axes: the change of Phi.
    """

    number: int
    s: Twist
    u: Twist
    w: Twist
    r: Twist
    axes: Sequence[Twist]


def derivatives(
    parts: Frames,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external: Loads = (),
) -> tuple[Matrix, Matrix, Matrix]:
    """The derivatives of the joint forces by q, qd and qdd; the last is the mass matrix."""
    model, zero = parts.model, AngularOperator.zero()
    v, a = parts.motions(q, qd, qdd)
    steps = joint_steps(parts, q, qd, qdd, v, a)

    # tips to base
    dq, dv, H = drive_matrices(model, q, qd)
    F_ext = wrenches_on_bodies(model, parts.X_p, external)
    fC = [-parts.placed(j, F) for j, F in enumerate(F_ext)] + [Force.zero()]
    BC = [zero] * (len(model.bodies) + 1)
    KC = [*_turning(parts, external), zero]
    for j, I, IC in parts.from_the_tips():
        f, B = moving_force(I, v[j], a[j])
        fC[j], BC[j] = fC[j] + f, BC[j] + B
        for t in steps[j]:
            f_a, f_B, f_K = IC @ t.s, BC[j].adjoint(t.s), KC[j].adjoint(t.s)
            f_v = BC[j] @ t.s + IC @ t.r
            f_q = t.s.cross_force(fC[j]) + IC @ t.w + BC[j] @ t.u + KC[j] @ t.s
            for i in ancestors(model, j):
                for e in steps[i]:
                    # what joint j feels of a step of joint i
                    _add(dq, t, e, e.w.dot(f_a) + e.u.dot(f_B) + e.s.dot(f_K))
                    _add(dv, e, t, e.s.dot(f_v))
                    if i != j:  # and joint i of a step of joint j
                        _add(dq, e, t, e.s.dot(f_q))
                        _add(dv, t, e, e.r.dot(f_a) + e.s.dot(f_B))
                    if i != j or e.number <= t.number:
                        entry = e.s.dot(f_a)
                        _add(H, e, t, entry)
                        if i != j or e.number != t.number:
                            _add(H, t, e, entry)
                f_a, f_B, f_K, f_v, f_q = (parts.to_parent(i, x) for x in (f_a, f_B, f_K, f_v, f_q))
            for e, axis in zip(steps[j], t.axes, strict=True):
                _add(dq, e, t, axis.dot(fC[j]))
        p = model.bodies[j].parent
        fC[p], BC[p], KC[p] = (
            fC[p] + parts.to_parent(j, fC[j]),
            BC[p] + parts.to_parent(j, BC[j]),
            KC[p] + parts.to_parent(j, KC[j]),
        )
    return dq, dv, H


def joint_steps(
    parts: Frames,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    v: Sequence[Twist],
    a: Sequence[Twist],
) -> list[list[Step]]:
    """The steps along the axes of each joint, from the base to the tips."""
    steps: list[list[Step]] = []
    for i, Phi in enumerate(parts.Phi):
        v_p, a_p = parts.parent_motion(i, v, a)
        steps.append([])
        for s, change in zip(Phi, changes(parts.model, i, q, qd, qdd), strict=True):
            bent, turned, rate = (
                parts.placed(i, m) for m in (change.velocity, change.acceleration, change.rate)
            )
            u = v_p.cross(s) + bent
            w = a_p.cross(s) + v_p.cross(u) + v[i].cross(bent) + turned
            r = u + v[i].cross(s) + rate
            axes = [parts.placed(i, axis) for axis in change.axes]
            steps[i].append(Step(change.number, s, u, w, r, axes))
    return steps


inverse_derivatives = framed(derivatives, in_one_frame)
"""On a model, in one common frame, where nothing needs to be transformed."""
inverse_derivatives_in_own_frames = framed(derivatives, in_own_frames)
"""On a model, in the bodies' frames, where axes have few nonzero entries."""


def gravity_derivatives(model: Model, q: Sequence[Scalar], external: Loads = ()) -> Matrix:
    """The derivative by q of the forces that hold the robot at rest."""
    zero = [0] * model.nv
    dq, _, _ = inverse_derivatives(model, q, zero, zero, external)
    return dq


def _add(matrix: Matrix, row: Step, column: Step, entry: Scalar) -> None:
    matrix[row.number][column.number] = matrix[row.number][column.number] + entry


def _turning(parts: Frames, loads: Loads) -> list[AngularOperator]:
    """K_i: how forces on points of body i would change if they turned with it."""
    K = [AngularOperator.zero() for _ in parts.model.bodies]
    for i, pulls in enumerate(point_forces(parts.model, parts.X_p, loads)):
        for force, point in pulls:
            K[i] = K[i] + parts.placed(i, turning_factor(point, force))
    return K
