"""What a fluid does to a body in it: drag of a box; drag, lift and added mass of an ellipsoid.

Source: MuJoCo's documentation, "Computation", section "Fluid forces"; A. Andersen, U. Pesavento &
Z. J. Wang, Unsteady aerodynamics of fluttering and tumbling plates, Journal of Fluid Mechanics 541
(2005), for lift and added mass.

    symbol       code               meaning
    v, w         v, w               linear and angular velocity relative to the fluid
    rho, beta    density viscosity
    b_i          edges              of the box
    r_i          half_axes          of the ellipsoid
    A_proj       shadow             area of the ellipsoid seen along v
    n            normal             of the surface where v meets it, not of unit length
    m_i, J_i     added_volume ...   of the fluid that moves along, for a density of one

Box, viscous: f = -3 pi d beta v, t = -pi d^3 beta w, with d the mean edge                     (1)
Box, inertial: f_i = -rho/2 b_j b_k |v_i| v_i                                                 (2)
               t_i = -rho/64 b_i (b_j^4 + b_k^4) |w_i| w_i                                    (3)
Ellipsoid, added mass: f = p x w, t = p x v + l x w, p = rho m v, l = rho J w                  (4)
           Magnus lift: f = c rho volume w x v                                                (5)
           Kutta lift: f = (c rho cos(alpha) A_proj n x v) x v                                (6)
           drag: f = -(beta 3 pi D + rho |v| (c_b A_proj + c_s (A_max - A_proj))) v            (7)
                 t = -(beta pi D^3 + rho |u|) w, u_i = (c_a I_i + c_s (I_max - I_i)) w_i       (8)
           D = 2/3 (r_1 + r_2 + r_3), I_i = 8/15 pi r_i max(r_j, r_k)^4                        (9)

Cost: O(1) for each body.
"""

from __future__ import annotations

import math

from kinetree.algorithms.actuation.plane import norm, root
from kinetree.model.body_forces import FluidBox, FluidEllipsoid, Immersed
from kinetree.scalar import Scalar, absolute, less, select
from kinetree.spatial import Force, Twist, Vector3

TINY = 1e-100
"""Divisors are not less than this: they vanish with v."""


def fluid_wrench(part: Immersed, V: Twist) -> Force:
    """The wrench on a body that moves relative to the fluid, both in the axes of its place."""
    if isinstance(part, FluidBox):
        return _box(part, V.linear, V.angular)
    assert isinstance(part, FluidEllipsoid)
    added = _added_mass(part, V.linear, V.angular)
    lifted = _lift(part, V.linear, V.angular)
    return added + Force(lifted, Vector3.zero()) + _drag(part, V.linear, V.angular)


def _box(x: FluidBox, v: Vector3, w: Vector3) -> Force:
    """(1), (2) and (3)."""
    rho, beta, b, push, twist = x.fluid.density, x.fluid.viscosity, x.edges, [], []
    d = sum(b) / 3.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        slow, fast = 3.0 * math.pi * d * beta, 0.5 * rho * b[j] * b[k]
        push.append(_resisted(tuple(v)[i], slow, fast))
        slow, fast = math.pi * d**3 * beta, rho * b[i] * (b[j] ** 4 + b[k] ** 4) / 64.0
        twist.append(_resisted(tuple(w)[i], slow, fast))
    return Force(Vector3(*push), Vector3(*twist))


def _resisted(rate: Scalar, slow: float, fast: float) -> Scalar:
    return rate * (absolute(rate) * -fast - slow)


def _added_mass(x: FluidEllipsoid, v: Vector3, w: Vector3) -> Force:
    """(4)."""
    rho = x.fluid.density
    p = _scaled(v, [rho * m for m in x.added_volume])
    l = _scaled(w, [rho * J for J in x.added_moment])
    return Force(p.cross(w), p.cross(v) + l.cross(w))


def _lift(x: FluidEllipsoid, v: Vector3, w: Vector3) -> Vector3:
    """(5) and (6)."""
    rho, volume = x.fluid.density, 4.0 / 3.0 * math.pi * math.prod(x.half_axes)
    normal, shadow, cosine = _meeting(x, v)
    circulation = normal.cross(v) * (cosine * shadow * (x.kutta * rho))
    return w.cross(v) * (x.magnus * rho * volume) + circulation.cross(v)


def _drag(x: FluidEllipsoid, v: Vector3, w: Vector3) -> Force:
    """(7) and (8)."""
    rho, beta, r = x.fluid.density, x.fluid.viscosity, x.half_axes
    short, middle, long = sorted(r)
    D = 2.0 / 3.0 * (short + middle + long)  # (9)
    I_max = 8.0 / 15.0 * math.pi * middle * long**4
    own = [8.0 / 15.0 * math.pi * r[i] * max(r[i - 1], r[i - 2]) ** 4 for i in range(3)]
    u = _scaled(w, [x.angular * I + x.slender * (I_max - I) for I in own])
    _, shadow, _ = _meeting(x, v)
    seen = shadow * x.blunt + (math.pi * long * middle - shadow) * x.slender
    push = norm(v) * seen * rho + beta * 3.0 * math.pi * D
    twist = norm(u) * rho + beta * math.pi * D**3
    return Force(v * -push, w * -twist)


def _meeting(x: FluidEllipsoid, v: Vector3) -> tuple[Vector3, Scalar, Scalar]:
    """n in units of the longest half axis, A_proj, the cosine between n and v over |n|."""
    longest = max(x.half_axes)
    a, b, c = (r / longest for r in x.half_axes)
    normal = _scaled(v, [(b * c) ** 2, (c * a) ** 2, (a * b) ** 2])
    along, across = normal.dot(v), normal.dot(normal)
    shadow = root(across / _at_least(along)) * (math.pi * longest**2)
    return normal, shadow, along / _at_least(norm(v) * across)


def _scaled(v: Vector3, by: list[float]) -> Vector3:
    return Vector3(*(x * s for x, s in zip(v, by, strict=True)))


def _at_least(x: Scalar) -> Scalar:
    return select(less(x, TINY), TINY, x)
