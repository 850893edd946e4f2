"""The parameters that are identified, their order, and other libraries' orders.

Ten inertial parameters for each body, in the order of `robot.bodies`:

    kinetree    mass, hx hy hz, Ixx Iyy Izz Ixy Ixz Iyz: first moment (mass times centre of mass)
                and rotational inertia about the body's origin, in the body's frame
    pinocchio   mass, hx hy hz, Ixx Ixy Iyy Ixz Iyz Izz: the same numbers, as
                `pinocchio.Inertia.toDynamicParameters` has them
    mujoco      mass, cx cy cz, Ixx Iyy Izz Ixy Ixz Iyz: centre of mass and rotational inertia about
                it, as the element `inertial` has them in mass, pos and fullinertia

then, for each joint with a drive in the order of `robot.joints`, the chosen numbers of its drive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinetree._lazy import cached_property
from kinetree.errors import KinetreeError, among, unknown
from kinetree.kinds import texts
from kinetree.model import Drive, Model
from kinetree.model.parameters import FIVE, TEN, Inertial, with_numbers
from kinetree.robot.checks import real_array
from kinetree.robot.core import check_robot
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.robot import Robot

PINOCCHIO = [0, 1, 2, 3, 4, 7, 5, 8, 9, 6]
"""For each parameter in Pinocchio's order, its place in ours."""
FRICTION = ("damping", "friction")
PACKED = 5000
"""Operations of a regressor: longer ones take long to compile."""
ORDERS = ("kinetree", "pinocchio", "mujoco")
SYMMETRIC = [[0, 3, 4], [3, 1, 5], [4, 5, 2]]
"""The places of a symmetric matrix's entries among (xx, yy, zz, xy, xz, yz)."""
ENTRIES = ((0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2))
"""The rows and columns of these entries."""


@dataclass(frozen=True)
class Parameters:
    """A robot's parameters as one vector theta, in which joint forces are linear.

    Arguments:
        robot: whose they are.
        drives: which numbers of each joint's drive are among them: of "armature", "damping",
            "friction", "stiffness" and "offset".
    """

    robot: Robot
    drives: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_robot(self.robot)
        object.__setattr__(self, "drives", texts("drives", self.drives))
        for name in self.drives:
            if not among(name, FIVE):
                raise unknown("number of a drive", name, FIVE, "a joint")

    @cached_property
    def inertial_count(self) -> int:
        """How many inertial parameters there are; those of drives follow them."""
        return len(TEN) * len(self.robot.bodies)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What each parameter is, such as "link7.mass" or "elbow.damping"."""
        joints = [self.robot.model.bodies[i].joint_name for i in self.driven]
        drive_names = [f"{joint}.{name}" for joint in joints for name in self.drives]
        return (*self.robot.regressors.names, *drive_names)

    @cached_property
    def driven(self) -> tuple[int, ...]:
        """The bodies whose joints have drives: those with coordinates, but no floating base."""
        model = self.robot.model
        free = [i for i, b in enumerate(model.bodies) if b.parent < 0 and b.joint.nv == 6]
        return tuple(i for i in model.coordinate_order if i not in free)

    @cached_property
    def drive_of(self) -> dict[int, int]:
        """Maps a velocity to the number of its joint among those with drives."""
        slices = [self.robot.model.v_slices[i] for i in self.driven]
        return {k: j for j, at in enumerate(slices) for k in range(at.start, at.stop)}

    @cached_property
    def nominal(self) -> Array:
        """theta of the robot as it is."""
        return np.concatenate([self.robot.regressors.parameters, self._nominal_drives.ravel()])

    @property
    def _nominal_drives(self) -> Array:
        """(joints, drives), as their coordinates feel them; an offset is zero."""
        model = self.robot.model
        totals = np.zeros((len(self.driven), len(self.drives)))
        for drive, at in zip(model.drives, model.v_slices, strict=True):
            if at.start in self.drive_of:
                numbers = [getattr(drive, name, 0.0) for name in self.drives]
                totals[self.drive_of[at.start]] += numbers
        return totals

    def drive_numbers(self, theta: Array) -> Array:
        """The part of theta that belongs to the drives.

        Arguments:
            theta: all parameters, (count,).

        Returns:
            (joints, drives).
        """
        return theta[self.inertial_count :].reshape(len(self.driven), len(self.drives))

    @cached_property
    def drive_bounds(self) -> Array:
        """The least value of each drive parameter: zero, except for offsets."""
        least = [-np.inf if name == "offset" else 0.0 for name in self.drives]
        return np.tile(np.array(least, float), len(self.driven))

    @cached_property
    def support(self) -> tuple[NDArray[np.intp], ...]:
        """For each velocity, the places in theta of what its joint force depends on."""
        model, ten = self.robot.model, np.arange(len(TEN))
        moved: list[list[int]] = [[] for _ in range(model.nv)]
        movers: list[set[int]] = []
        for i, body in enumerate(model.bodies):
            at = model.v_slices[i]
            above = movers[body.parent] if body.parent >= 0 else set()
            movers.append(above | set(range(at.start, at.stop)))
            for k in movers[i]:
                moved[k].extend(len(TEN) * i + ten)
        for k, j in self.drive_of.items():
            first = self.inertial_count + len(self.drives) * j
            moved[k].extend(range(first, first + len(self.drives)))
        return tuple(np.array(places, dtype=np.intp) for places in moved)

    def blocks(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> list[Array]:
        """For each velocity, the rows of its joint force by the parameters of its `support`.

        Arguments:
            q, v, a: states, (T, nq) and (T, nv).

        Returns:
            (T, m) for each velocity.
        """
        return self.block_function(self.support)(q, v, a)

    def block_function(
        self, places: Sequence[NDArray[np.intp]], packed: bool = False
    ) -> Callable[..., list[Array]]:
        """A function that computes some columns of each velocity's rows.

        Arguments:
            places: for each velocity, the parameters whose columns are needed, as `wanted` returns
                them.
            packed: whether to compile a kernel for these columns alone, if that takes seconds; it
                pays off for many states.

        Returns:
            A function of q, v, a and, optionally, of one more column for each velocity, (T, nv).
        """
        inertial = [x[x < self.inertial_count] for x in places]
        rows = self._inertial_rows(inertial, packed)
        count = max(len(self.drives), 1)
        numbers = [
            [FIVE.index(self.drives[j]) for j in (x[len(own) :] - self.inertial_count) % count]
            for x, own in zip(places, inertial, strict=True)
        ]

        def function(
            q: ArrayLike, v: ArrayLike, a: ArrayLike, last: Array | None = None
        ) -> list[Array]:
            parts = [[x] for x in rows(q, v, a)]
            if self.drives:
                D = self.robot.regressors.drive(q, v, a)
                for k, part in enumerate(parts):
                    part.append(D[:, k, numbers[k]])
            if last is not None:
                for k, part in enumerate(parts):
                    part.append(last[:, k : k + 1])
            return [np.concatenate(part, axis=1) for part in parts]

        return function

    def _inertial_rows(
        self, columns: Sequence[NDArray[np.intp]], packed: bool
    ) -> Callable[..., Sequence[Array]]:
        """The function of some columns of each velocity's rows of the regressor."""
        kernel = self.robot.kernel("regressor")
        if not packed or sum(kernel.operations.values()) > PACKED or not all(map(len, columns)):

            def rows(q: ArrayLike, v: ArrayLike, a: ArrayLike) -> list[Array]:
                Y = self.robot.regressor(q, v, a)
                return [Y[:, k, x] for k, x in enumerate(columns)]

            return rows
        places = {f"row{k}": (k * self.inertial_count + x).tolist() for k, x in enumerate(columns)}
        selected_rows = kernel.selected(places)
        return selected_rows if len(columns) > 1 else lambda q, v, a: [selected_rows(q, v, a)]

    def wanted(self, columns: NDArray[np.intp]) -> list[NDArray[np.intp]]:
        """The part of each velocity's support that is among some parameters.

        Arguments:
            columns: places in theta.

        Returns:
            For each velocity, those of these places that its force depends on.
        """
        return [places[np.isin(places, columns)] for places in self.support]

    def known_forces(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """The joint forces of drive effects that the robot has and theta does not.

        Arguments:
            q, v, a: configuration (..., nq), velocity and acceleration (..., nv).

        Returns:
            (..., nv), N m or N.
        """
        robot = self._without_parameters
        if robot is None:
            return np.zeros(np.shape(v))
        return robot.inverse_dynamics(q, v, a)

    @cached_property
    def _without_parameters(self) -> Robot | None:
        """The robot with nothing but the drives that are no parameters; None if it has none."""
        zeros = np.zeros(len(self.names))
        model = self._with_drives(self.robot.model, self.drive_numbers(zeros))
        if all(body.drive == Drive() for body in model.bodies):
            return None
        parts = [Inertial(body) for body in self.robot.bodies]
        return type(self.robot)(with_numbers(model, parts, [0.0] * self.inertial_count))

    def applied(self, theta: ArrayLike) -> Robot:
        """The robot with these parameters.

        Springs stay relaxed where they were, unless an offset is a parameter, too: it moves that
        point. A robot has no offset without a spring; such an offset is left out.

        Arguments:
            theta: all parameters, (count,), in the order of `nominal`.

        Returns:
            A new robot.
        """
        values = np.asarray(theta, float)
        if values.shape != (len(self.names),):
            raise KinetreeError(
                f"theta has shape {values.shape}; {(len(self.names),)} is expected, one number for "
                "each of its names"
            )
        parts = [Inertial(body) for body in self.robot.bodies]
        numbers = [float(x) for x in values[: self.inertial_count]]
        model = with_numbers(self.robot.model, parts, numbers)
        return type(self.robot)(self._with_drives(model, self.drive_numbers(values)))

    def _with_drives(self, model: Model, rows: Array) -> Model:
        """The model with other numbers for drives; those of mimics are felt by their leaders."""
        bodies = list(model.bodies)
        for i, row in zip(self.driven, rows, strict=True):
            numbers = dict(zip(self.drives, row.tolist(), strict=True))
            bodies[i] = replace(bodies[i], drive=_drive(bodies[i].explicit_drive, numbers))
        for i, body in enumerate(bodies):
            if body.follows in self.driven:
                none = dict.fromkeys(self.drives, 0.0)
                bodies[i] = replace(body, drive=_drive(body.drive, none))
        return replace(model, bodies=tuple(bodies))


def _drive(drive: Drive, numbers: dict[str, float]) -> Drive:
    """A drive with other numbers; k (q - rest) + offset = k (q - (rest - offset / k))."""
    replaced = {name: x for name, x in numbers.items() if name != "offset"}
    new = replace(drive, **replaced)  # type: ignore[arg-type]
    if not new.stiffness:
        return replace(new, rest=())
    offset = numbers.get("offset", 0.0)
    if "stiffness" in numbers and offset and len(new.rest) <= 1:
        rest = new.rest[0] if new.rest else 0.0
        return replace(new, rest=(rest - offset / new.stiffness,))
    return new


def to_order(phi: ArrayLike, order: str) -> Array:
    """Inertial parameters in another library's order.

    Arguments:
        phi: in Kinetree's order, (..., 10 n).
        order: "kinetree", "pinocchio" or "mujoco".

    Returns:
        (..., 10 n); see the top of this file for what they are.
    """
    ten = _tens(phi, order)
    if order == "pinocchio":
        ten = ten[..., PINOCCHIO]
    if order == "mujoco":
        mass = ten[..., :1]
        center = ten[..., 1:4] / np.where(mass == 0.0, 1.0, mass)
        ten = np.concatenate([mass, center, ten[..., 4:] - _steiner(mass, center)], axis=-1)
    return ten.reshape(np.shape(phi))


def from_order(phi: ArrayLike, order: str) -> Array:
    """Inertial parameters from another library's order.

    Arguments:
        phi: in that order, (..., 10 n).
        order: "kinetree", "pinocchio" or "mujoco".

    Returns:
        (..., 10 n), in Kinetree's order.
    """
    ten = _tens(phi, order)
    if order == "pinocchio":
        ten = ten[..., np.argsort(PINOCCHIO)]
    if order == "mujoco":
        mass, center = ten[..., :1], ten[..., 1:4]
        about_origin = ten[..., 4:] + _steiner(mass, center)
        ten = np.concatenate([mass, mass * center, about_origin], axis=-1)
    return ten.reshape(np.shape(phi))


def _tens(phi: ArrayLike, order: str) -> Array:
    if not among(order, ORDERS):
        raise unknown("order of parameters", order, ORDERS, "kinetree.identify")
    array = real_array("phi", phi)
    if array.ndim == 0 or array.shape[-1] % len(TEN):
        raise KinetreeError(
            f"phi has shape {array.shape}: ten inertial parameters for each body are expected"
        )
    return array.reshape(*array.shape[:-1], -1, len(TEN))


def _steiner(mass: Array, c: Array) -> Array:
    """The rotational inertia of a point mass, as six numbers."""
    full = (c * c).sum(axis=-1)[..., None, None] * np.eye(3) - c[..., :, None] * c[..., None, :]
    return mass * full[..., ENTRIES[0], ENTRIES[1]]


def pseudo_inertia(phi: ArrayLike) -> Array:
    """The pseudo-inertia of a body, positive definite if and only if some body can have it.

    It is [[J, h], [h^T, m]] with the second moments J = tr(I) / 2 - I: P. M. Wensing, S. Kim &
    J.-J. E. Slotine, Linear matrix inequalities for physically consistent inertial parameter
    identification, IEEE Robotics and Automation Letters 3 (2018).

    Arguments:
        phi: ten inertial parameters, (..., 10).

    Returns:
        (..., 4, 4).
    """
    return np.einsum("...k,kij->...ij", real_array("phi", phi, len(TEN)), PSEUDO)


def from_pseudo_inertia(P: ArrayLike) -> Array:
    """The ten inertial parameters of a pseudo-inertia.

    Arguments:
        P: symmetric, (..., 4, 4).

    Returns:
        (..., 10).
    """
    array = real_array("P", P, 4, 4)
    J = array[..., :3, :3]
    I = np.trace(J, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - J
    six = I[..., ENTRIES[0], ENTRIES[1]]
    return np.concatenate([array[..., 3:, 3], array[..., :3, 3], six], axis=-1)


def _pseudo_basis() -> Array:
    """The pseudo-inertia of each unit parameter, (10, 4, 4)."""
    basis = np.zeros((len(TEN), 4, 4))
    basis[0, 3, 3] = 1.0
    for k in range(3):
        basis[1 + k, k, 3] = basis[1 + k, 3, k] = 1.0
    for k, (i, j) in enumerate(zip(*ENTRIES, strict=True), 4):
        basis[k, i, j] -= 1.0
        if i == j:
            basis[k, :3, :3] += 0.5 * np.eye(3)
        else:
            basis[k, j, i] -= 1.0
    return basis


PSEUDO = _pseudo_basis()
