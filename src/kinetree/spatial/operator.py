"""Linear maps from motions to forces, in four blocks: the factors of velocity products."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.scalar import Scalar
from kinetree.spatial.inertia import Inertia
from kinetree.spatial.rotation import Rotation
from kinetree.spatial.twist import Force, Twist
from kinetree.spatial.vector import Matrix3, Vector3


@dataclass(frozen=True, slots=True)
class Operator:
    """B: a linear map from motions to forces, in four blocks.

    force = ll v + la w and moment = al v + aa w, for a motion (v, w).

    Attributes:
        ll, la, al, aa: the blocks.
    """

    ll: Matrix3
    la: Matrix3
    al: Matrix3
    aa: Matrix3

    def __add__(self, other: Operator) -> Operator:
        return Operator(
            self.ll + other.ll, self.la + other.la, self.al + other.al, self.aa + other.aa
        )

    def __matmul__(self, m: Twist) -> Force:
        return Force(
            self.ll @ m.linear + self.la @ m.angular,
            self.al @ m.linear + self.aa @ m.angular,
        )

    @property
    def T(self) -> Operator:
        """The adjoint."""
        return Operator(self.ll.T, self.al.T, self.la.T, self.aa.T)


NO_MATRIX = Matrix3(Vector3.zero(), Vector3.zero(), Vector3.zero())


@dataclass(frozen=True, slots=True)
class AngularOperator:
    """A map of the angular part of a motion (v, w) alone: force = w x p, moment = K w."""

    p: Vector3
    K: Matrix3

    @staticmethod
    def zero() -> AngularOperator:
        return AngularOperator(Vector3.zero(), NO_MATRIX)

    def __add__(self, other: AngularOperator) -> AngularOperator:
        return AngularOperator(self.p + other.p, self.K + other.K)

    def __matmul__(self, m: Twist) -> Force:
        return Force(m.angular.cross(self.p), self.K @ m.angular)

    def adjoint(self, m: Twist) -> Force:
        """B^T m: the force f with f . x = m . (B x) for every motion x."""
        return Force(Vector3.zero(), self.p.cross(m.linear) + self.K.T @ m.angular)

    def moved_to_parent(self, rotation: Rotation, point: Vector3) -> AngularOperator:
        p = rotation @ self.p
        return AngularOperator(p, rotation.turn(self.K) - _product(point, p))

    def operator(self) -> Operator:
        """The same map in four blocks."""
        return Operator(NO_MATRIX, Matrix3.cross(-self.p), NO_MATRIX, self.K)


def velocity_factor(v: Twist, I: Inertia) -> AngularOperator:
    """B(v, I) of Niemeyer and Slotine: Echeandia & Wensing eq. 12.

        B = ((v x*) I + (I v) x-* - I (v x)) / 2

    Two of its blocks are zero. With p the linear momentum of I at v = (u, w), h its first moment
    and J its second moments, B (x, y) = (y x p, K y), K = -[w] J - [h][u].
    """
    u, w, h = v.linear, v.angular, I.moment
    p = u * I.mass + w.cross(h)
    J = I.second_moments()
    turning = [-(w.cross(column)) for column in J.rows]  # columns of -[w] J
    return AngularOperator(p, Matrix3(*turning).T - _product(h, u))


def christoffel_factor(v: Twist, I: Inertia) -> Operator:
    """`velocity_factor` in four blocks."""
    return velocity_factor(v, I).operator()


def spatial_factor(v: Twist, I: Inertia) -> Operator:
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


def turning_factor(p: Vector3, f: Vector3) -> AngularOperator:
    """K s = (w x f, p x (w x f)): how a force f at a point p changes when it turns with s."""
    return AngularOperator(f, _product(p, f) * -1)


def _product(a: Vector3, b: Vector3) -> Matrix3:
    """[a][b] = b aT - (a . b) 1."""
    d: Scalar = a.dot(b)
    return Matrix3(
        Vector3(b.x * a.x - d, b.x * a.y, b.x * a.z),
        Vector3(b.y * a.x, b.y * a.y - d, b.y * a.z),
        Vector3(b.z * a.x, b.z * a.y, b.z * a.z - d),
    )
