"""A variational integrator: the discrete Euler-Lagrange equations of bodies as clouds of particles.

Source: J. Moser & A. P. Veselov, Discrete versions of some classical integrable systems (1991), for
the discrete Lagrangian of a rigid body; J. E. Marsden & M. West, Discrete mechanics and variational
integrators (2001), section 1.5 for the position-momentum form and 3.2 for forces; J. Lee, C. K.
Liu, F. C. Park & S. S. Srinivasa, A linear-time variational integrator for multibody systems
(2016), for recursions over the tree and the quasi-Newton solution.

Every particle of a body moves on a straight line from one configuration to the next:

    L_d(q, q') = sum of m |x' - x|^2 / (2 h) - h/2 (U(q) + U(q'))
    p  + h/2 f  = -D_1 of the sum = J(q)^T F,    J(q')^T F + h/2 f' = p',    p = M v

F is the momentum of the particles. About a point of the world it is the same wrench at q and at q',
because x' - x is parallel to it: so momentum is kept exactly. f is what gravity, springs, joint
forces and dampers give at either end.

    symbol    code        meaning
    h         dt          the step
    u         u           (q' (-) q) / h, the unknown
    1 + A, d  A[i] d[i]   rotation and shift of body i over the step, in its frame at q
    F         F[i]        momentum of body i over the step, in its frame at q

The equation for u is solved by `SWEEPS` quasi-Newton steps with the mass matrix at q; each
multiplies the error by about h |w| / 2, w the fastest angular velocity. Displacements are built
from u and not as differences of poses, so that no digits cancel. Dry friction, stops and dampers of
tendons and of joints that follow others by a varying ratio act with their forces at the start.

Order 2; symplectic without friction. Cost: O(N d^2) for two factors, O(N) a sweep.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.actuation.passive import tendon_drag
from kinetree.algorithms.balafoutis_patel import balafoutis_patel
from kinetree.algorithms.blocks import rotor_momenta
from kinetree.algorithms.body_forces import fluid_forces
from kinetree.algorithms.crba import crba
from kinetree.algorithms.dense import dot
from kinetree.algorithms.drives import drive_forces, rotor_products
from kinetree.algorithms.ltl import elimination_order, factor
from kinetree.algorithms.manifold import integrate
from kinetree.algorithms.steps.acceleration import plus, times
from kinetree.algorithms.steps.limits import clamped, saturated
from kinetree.algorithms.steps.passive import limited, passive_forces
from kinetree.algorithms.steps.rules import DEFAULT_RULES, Rules
from kinetree.algorithms.transmissions import damping_law, transmitted_forces
from kinetree.algorithms.tree import Loads, along, carry_to_base, parent_transforms, subspaces
from kinetree.model import Model
from kinetree.model.edit import without
from kinetree.model.joints import Joint
from kinetree.scalar import Scalar
from kinetree.spatial import Force, Matrix3, Rotation, Transform, Twist, Vector3
from kinetree.spatial.exponential import cosine_quotient, sine_quotient, translation_of_screw

SWEEPS = 6
Displacement = tuple[Matrix3, Vector3]


def variational(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    dt: Scalar,
    external: Loads = (),
    rules: Rules = DEFAULT_RULES,
) -> tuple[list[Scalar], list[Scalar]]:
    """q' and v' after the time dt, of a robot without constraints."""
    still, order, half = [0] * model.nv, elimination_order(model), dt * 0.5
    smooth = limited(model, rules.enforcement)
    inert = without(smooth, "armature", "compensation", "damping", "fluid", "springs")
    dry = drive_forces(inert, q, v, still)
    applied = plus(
        saturated(model, tau, rules.enforcement), passive_forces(model, q, v, rules.enforcement)
    )
    applied = plus(applied, plus(dry, transmitted_forces(model, q, v, damping_law)), -1)
    applied = plus(applied, tendon_drag(without(model, "armature", "friction"), q, v, still), -1)
    applied = plus(applied, fluid_forces(model, q, v), -1)
    dry_land = without(model, "fluid")
    dampings = _dampings(model)
    X, Phi, H = parent_transforms(model, q), subspaces(model, q), crba(model, q)

    # p + h/2 f: the momentum that the particles must have
    held = balafoutis_patel(dry_land, q, still, still, external)
    p = plus([dot(row, v) for row in H], plus(applied, held, -1), half)
    for k in range(model.nv):
        H[k][k] = H[k][k] + dampings[k] * half
    H_factor = factor(H, order)
    u = H_factor.solve(p)
    for _ in range(SWEEPS):
        F = [step[0] for step in _momenta(model, X, Phi, q, times(u, dt), dt)]
        momenta = [
            p + d * half * w for p, d, w in zip(rotor_momenta(model, u), dampings, u, strict=True)
        ]
        momenta = plus(momenta, rotor_products(model, u, u), half)
        carry_to_base(model, X, Phi, F, momenta)
        u = plus(u, H_factor.solve(plus(momenta, p, -1)), -1)

    # the same momenta at q'
    q1 = integrate(model, q, times(u, dt))
    moved = [E.to_child(F) for F, E in _momenta(model, X, Phi, q, times(u, dt), dt)]
    p1 = [p - d * half * w for p, d, w in zip(rotor_momenta(model, u), dampings, u, strict=True)]
    p1 = plus(p1, rotor_products(model, u, u), -half)
    carry_to_base(model, parent_transforms(model, q1), subspaces(model, q1), moved, p1)
    held = balafoutis_patel(dry_land, q1, still, still, external)
    v1 = factor(crba(model, q1), order).solve(plus(p1, plus(applied, held, -1), half))
    return clamped(model, q1, v1, rules.enforcement)


def _momenta(
    model: Model,
    X: Sequence[Transform],
    Phi: Sequence[Sequence[Twist]],
    q: Sequence[Scalar],
    delta: Sequence[Scalar],
    dt: Scalar,
) -> list[tuple[Force, Transform]]:
    """Each body's momentum over the step, and its displacement, both in its frame at q."""
    moved: list[Displacement] = []
    momenta = []
    for i, body in enumerate(model.bodies):
        q_i, way = q[model.q_slices[i]], delta[model.v_slices[i]]
        B, b = _joint_displacement(body.joint, q_i, way, Phi[i])
        if body.parent >= 0:
            A, d = moved[body.parent]
            back = X[i].rotation.T
            A, d = back.turn(A), back @ (A @ X[i].translation + d)  # the parent's, in our frame
            A, d = A + B + _product(A, B), d + b + A @ b
        else:
            A, d = B, b
        moved.append((A, d))
        a, bb, c = A.rows
        turned = Rotation(a + Vector3(1, 0, 0), bb + Vector3(0, 1, 0), c + Vector3(0, 0, 1))
        F = body.inertia.tensor_wrench(d, A) * (1 / dt)
        momenta.append((F, Transform(turned, d)))
    return momenta


def _joint_displacement(
    joint: Joint, q: Sequence[Scalar], way: Sequence[Scalar], Phi: Sequence[Twist]
) -> Displacement:
    """J(q)^-1 J(q (+) way), less the identity."""
    if joint.has_constant_axes:  # the same screw at every q
        screw = along(Phi, way)
        w, W = screw.angular, Matrix3.cross(screw.angular)
        x = w.dot(w)
        A = W * sine_quotient(x) + _product(W, W) * cosine_quotient(x)
        return A, translation_of_screw(screw.linear, w)
    E = joint.transform(q).inverse() @ joint.transform(joint.integrate(q, way))
    one = Rotation.identity()
    return Matrix3(*E.rotation.rows) - Matrix3(*one.rows), E.translation


def _product(A: Matrix3, B: Matrix3) -> Matrix3:
    return Matrix3(*(B.T @ row for row in A.rows))


def _dampings(model: Model) -> list[Scalar]:
    """The viscous friction of each velocity."""
    dampings: list[Scalar] = [0] * model.nv
    for drive, at in zip(model.drives, model.v_slices, strict=True):
        for k in range(at.start, at.stop):
            dampings[k] = dampings[k] + drive.damping
    return dampings
