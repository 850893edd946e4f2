"""Linear maps from motions to forces, in four blocks: what factors velocity products."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.scalar import Scalar
from kinetree.spatial.inertia import Inertia
from kinetree.spatial.motion import Force, Motion
from kinetree.spatial.vector import Matrix3, Vector3


@dataclass(frozen=True, slots=True)
class Operator:
    """B: force = ll v + la w, moment = al v + aa w, for a motion (v, w)."""

    ll: Matrix3
    la: Matrix3
    al: Matrix3
    aa: Matrix3

    def __add__(self, other: Operator) -> Operator:
        return Operator(
            self.ll + other.ll, self.la + other.la, self.al + other.al, self.aa + other.aa
        )

    def __matmul__(self, m: Motion) -> Force:
        return Force(
            self.ll @ m.linear + self.la @ m.angular,
            self.al @ m.linear + self.aa @ m.angular,
        )

    @property
    def T(self) -> Operator:
        """The adjoint."""
        return Operator(self.ll.T, self.al.T, self.la.T, self.aa.T)


NO_MATRIX = Matrix3(Vector3.zero(), Vector3.zero(), Vector3.zero())


def christoffel_factor(v: Motion, I: Inertia) -> Operator:
    """B(v, I) of Niemeyer and Slotine: Echeandia & Wensing eq. 12.

        B = ((v x*) I + (I v) x-* - I (v x)) / 2

    In blocks it is simpler than it looks. With p the linear momentum of I at v = (u, w), h its
    first moment and J its second moments, B (x, y) = (y x p, K y), K = -[w] J - [h][u].
    """
    u, w, h = v.linear, v.angular, I.moment
    p = u * I.mass + w.cross(h)
    J = I.second_moments()
    turning = [-(w.cross(column)) for column in J.rows]  # columns of -[w] J
    K = Matrix3(*turning).T - _product(h, u)
    return Operator(NO_MATRIX, Matrix3.cross(-p), NO_MATRIX, K)


def spatial_factor(v: Motion, I: Inertia) -> Operator:
    """B(v, I) = (v x*) I: Echeandia & Wensing eq. 11."""
    u, w, h = v.linear, v.angular, I.moment
    wh = _product(w, h)
    turned = Matrix3(*(w.cross(column) for column in I.rotational.rows)).T  # [w] I
    return Operator(
        Matrix3.cross(w * I.mass),
        wh * -1,
        wh + Matrix3.cross(u * I.mass),
        turned - _product(u, h),
    )


def _product(a: Vector3, b: Vector3) -> Matrix3:
    """[a][b] = b aT - (a . b) 1."""
    d: Scalar = a.dot(b)
    return Matrix3(
        Vector3(b.x * a.x - d, b.x * a.y, b.x * a.z),
        Vector3(b.y * a.x, b.y * a.y - d, b.y * a.z),
        Vector3(b.z * a.x, b.z * a.y, b.z * a.z - d),
    )
