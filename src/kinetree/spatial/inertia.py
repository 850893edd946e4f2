"""Rigid-body inertias (ten numbers) and articulated-body inertias (twenty-one)."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.scalar import Scalar
from kinetree.spatial.rotation import Rotation
from kinetree.spatial.twist import Force, Twist
from kinetree.spatial.vector import Matrix3, Symmetric3, Vector3


def _double_cross(u: Vector3, v: Vector3) -> Symmetric3:
    """[u][v] + [v][u] = u vT + v uT - 2 (u . v) 1, symmetric."""
    twice = u * -2
    x, y, z = twice.x * v.x, twice.y * v.y, twice.z * v.z
    return Symmetric3(
        y + z,
        x + z,
        x + y,
        u.x * v.y + u.y * v.x,
        u.x * v.z + u.z * v.x,
        u.y * v.z + u.z * v.y,
    )


def acceleration_tensor(w: Vector3, dw: Vector3) -> Matrix3:
    """Omega = [w'] + [w][w]: with it, a point r of a body accelerates by Omega r."""
    xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
    xy, xz, yz = w.x * w.y, w.x * w.z, w.y * w.z
    return Matrix3(
        Vector3(-(yy + zz), xy - dw.z, xz + dw.y),
        Vector3(xy + dw.z, -(xx + zz), yz - dw.x),
        Vector3(xz - dw.y, yz + dw.x, -(xx + yy)),
    )


def acceleration_tensor_change(w: Vector3, change: Vector3, turning: Vector3) -> Matrix3:
    """The change of Omega with changes of w and w': [dw'] + [dw][w] + ([dw][w])^T."""
    return Matrix3.cross(turning) + Matrix3(*_double_cross(change, w).rows)


@dataclass(frozen=True, slots=True)
class Inertia:
    """A rigid body's inertia: mass, first moment m c and rotational inertia about the origin.

    Everything is linear in these ten numbers.

    Attributes:
        mass: kg.
        moment: the first moment m c, kg m.
        rotational: the rotational inertia about the origin, kg m^2.
    """

    mass: Scalar
    moment: Vector3
    rotational: Symmetric3

    @staticmethod
    def zero() -> Inertia:
        """The inertia of nothing.

        Returns:
            Ten zeros.
        """
        return Inertia(0, Vector3.zero(), Symmetric3.diagonal(0))

    @staticmethod
    def about_center(mass: Scalar, center: Vector3, rotational: Symmetric3) -> Inertia:
        """The inertia from the rotational inertia about the centre of mass (parallel axis theorem).

        Arguments:
            mass: kg.
            center: the centre of mass, m.
            rotational: the rotational inertia about it, kg m^2.

        Returns:
            The inertia about the origin.
        """
        moment = center * mass
        return Inertia(mass, moment, rotational - _double_cross(center, center * (mass / 2)))

    def center_and_rotational(self) -> tuple[Vector3, Symmetric3]:
        """The centre of mass and the rotational inertia about it; for inertias of numbers.

        A body without mass has no centre of mass, and the origin is returned. Algorithms use the
        first moment instead.

        Returns:
            The centre of mass, m, and the rotational inertia, kg m^2.
        """
        if self.mass == 0:
            return Vector3.zero(), self.rotational
        center = self.moment * (1 / self.mass)
        return center, self.rotational + _double_cross(center, center * (self.mass / 2))

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(
            self.mass + other.mass,
            self.moment + other.moment,
            self.rotational + other.rotational,
        )

    def __matmul__(self, m: Twist) -> Force:
        """The momentum of a velocity, or the force of an acceleration."""
        h = self.moment
        return Force(
            m.linear * self.mass - h.cross(m.angular),
            self.rotational @ m.angular + h.cross(m.linear),
        )

    def wrench(self, V: Twist, A: Twist) -> Force:
        """I A + V x* I V: the wrench on a body that moves so (Echeandia & Wensing eq. 7).

        With a = A.linear + w x v, the acceleration of the point now at the origin, and the tensor
        Omega = `[alpha] + [w][w]`, a point r of the body accelerates by a + Omega r. Summed over
        the body, with its second moments J = tr(I) / 2 - I (Balafoutis & Patel's Euler tensor):

            f = m a + Omega h
            n = h x a + dual(Omega J),    dual(A) = (A_zy - A_yz, A_xz - A_zx, A_yx - A_xy)

        Arguments:
            V, A: the body's velocity and acceleration.

        Returns:
            The wrench at the origin.
        """
        a = A.linear + V.angular.cross(V.linear)
        return self.tensor_wrench(a, acceleration_tensor(V.angular, A.angular))

    def tensor_wrench(self, a: Vector3, Omega: Matrix3) -> Force:
        """The wrench of `wrench`, from the acceleration of the origin and the tensor Omega.

        Arguments:
            a: the acceleration of the point now at the origin.
            Omega: `[alpha] + [w][w]`.

        Returns:
            The wrench at the origin.
        """
        h = self.moment
        Jx, Jy, Jz = self.second_moments().rows
        turning = Vector3(
            Omega.c.dot(Jy) - Omega.b.dot(Jz),
            Omega.a.dot(Jz) - Omega.c.dot(Jx),
            Omega.b.dot(Jx) - Omega.a.dot(Jy),
        )
        return Force(a * self.mass + Omega @ h, h.cross(a) + turning)

    def bias(self, V: Twist) -> Force:
        """V x* I V: the wrench at zero acceleration.

        Arguments:
            V: the body's velocity.

        Returns:
            The wrench at the origin.
        """
        w, h = V.angular, self.moment
        a = w.cross(V.linear)
        return Force(
            a * self.mass + w.cross(w.cross(h)),
            h.cross(a) + w.cross(self.rotational @ w),
        )

    def second_moments(self) -> Symmetric3:
        """J = tr(I) / 2 - I: the integral of r rT over the mass.

        Returns:
            kg m^2.
        """
        I = self.rotational
        half = (I.xx + I.yy + I.zz) / 2
        return Symmetric3(half - I.xx, half - I.yy, half - I.zz, -I.xy, -I.xz, -I.yz)

    def moved_to_parent(self, rotation: Rotation, point: Vector3) -> Inertia:
        """The same inertia in the parent's frame.

        Arguments:
            rotation, point: the pose of this frame in the parent's.

        Returns:
            The inertia about the parent's origin.
        """
        h = rotation @ self.moment
        # I_P = R I R^T - [p][h] - [h][p] - m [p][p]
        shift = _double_cross(point, h + point * (self.mass / 2))
        return Inertia(
            self.mass,
            h + point * self.mass,
            rotation.turn_symmetric(self.rotational) - shift,
        )


@dataclass(frozen=True, slots=True)
class ArticulatedInertia:
    """A symmetric map from motions to forces: [[mass, coupling], [coupling^T, rotational]].

    force  = mass a + coupling alpha
    moment = coupling^T a + rotational alpha
    """

    mass: Symmetric3
    coupling: Matrix3
    rotational: Symmetric3

    @staticmethod
    def of_body(inertia: Inertia) -> ArticulatedInertia:
        return ArticulatedInertia(
            Symmetric3.diagonal(inertia.mass),
            Matrix3.cross(-inertia.moment),
            inertia.rotational,
        )

    @staticmethod
    def outer(f: Force, g: Force) -> ArticulatedInertia:
        """f gT, for products that are symmetric (g = s f) or whose sum is."""
        rows = (g.angular * f.linear.x, g.angular * f.linear.y, g.angular * f.linear.z)
        return ArticulatedInertia(
            Symmetric3.outer(f.linear, g.linear),
            Matrix3(*rows),
            Symmetric3.outer(f.angular, g.angular),
        )

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(
            self.mass + other.mass,
            self.coupling + other.coupling,
            self.rotational + other.rotational,
        )

    def __sub__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(
            self.mass - other.mass,
            self.coupling - other.coupling,
            self.rotational - other.rotational,
        )

    def __matmul__(self, m: Twist) -> Force:
        return Force(
            self.mass @ m.linear + self.coupling @ m.angular,
            self.coupling.T @ m.linear + self.rotational @ m.angular,
        )

    def moved_to_parent(self, rotation: Rotation, point: Vector3) -> ArticulatedInertia:
        mass = rotation.turn_symmetric(self.mass)
        h = rotation.turn(self.coupling)
        # the acceleration of C's origin is a - [p] alpha, the moment about P's is n + p x f:
        # coupling = h - mass [p],  rotational = R I R^T + G + G^T,  G = [p / 2] (h + coupling)
        coupling = Matrix3(*(h_row + point.cross(m_row) for h_row, m_row in _rows(h, mass)))
        half = Vector3(point.x / 2, point.y / 2, point.z / 2)
        u, v, w = (half.cross(column) for column in (h + coupling).T.rows)  # columns of G
        shift = Symmetric3(u.x + u.x, v.y + v.y, w.z + w.z, v.x + u.y, w.x + u.z, w.y + v.z)
        return ArticulatedInertia(mass, coupling, rotation.turn_symmetric(self.rotational) + shift)


def _rows(h: Matrix3, s: Symmetric3) -> zip[tuple[Vector3, Vector3]]:
    return zip(h.rows, s.rows, strict=True)
