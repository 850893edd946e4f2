"""What the methods of `robot.cartesian` share: points of links, names, shapes, residuals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from kinetree._lazy import cached_property
from kinetree.algorithms.link_dynamics import center
from kinetree.compiler.runtime.foreign import foreign_name
from kinetree.compiler.runtime.inlining import has_traced
from kinetree.errors import KinetreeError, ShapeError, StateError, among, unknown
from kinetree.quantities.kernels import state_name
from kinetree.robot.checks import real_array
from kinetree.robot.core import Core, Door
from kinetree.typing import Array, ArrayLike

At = Literal["center", "origin"] | Mapping[str, Any] | ArrayLike
"""Which point of each link is meant; see `Cartesian.state`."""
UNDETERMINED = 1e-9
"""Of singular values, relative to the largest: below, a motion moves none of the given links."""


class LinkArrays(Door):
    """A robot whose arrays have a row for each body.

    Arguments:
        robot: whose links they are.
    """

    def __init__(self, robot: Core) -> None:
        super().__init__(robot)
        self._count = len(robot.model.bodies)
        self._determined: set[Any] = set()

    def points(self, at: At = "center") -> Array:
        """The point of each link that `at` means, in the link's frame.

        Arguments:
            at: as in `state`.

        Returns:
            (bodies, 3), or with the batch axes of the points given.
        """
        if isinstance(at, str):
            if at not in ("center", "origin"):
                hint = "valid are 'center', 'origin', points (bodies, 3), or {link: frame or point}"
                raise unknown("point", at, (), "a link", hint)
            return self._centers if at == "center" else np.zeros((self._count, 3))
        if isinstance(at, Mapping):
            return self._named_points(at)
        kind = object if has_traced(at) else np.float64
        points: Any = at if foreign_name((at,)) else np.asarray(at, dtype=kind)
        shape = tuple(points.shape)
        if shape[-2:] != (self._count, 3):
            raise ShapeError(
                f"at has shape {shape}; points ({self._count}, 3) are expected, one for each body"
            )
        found: Array = points
        return found

    @cached_property
    def _centers(self) -> Array:
        rows = [[float(x) for x in center(body)] for body in self._robot.model.bodies]
        return np.array(rows).reshape(self._count, 3)

    def _named_points(self, at: Mapping[str, Any]) -> Array:
        points = self._centers.copy()
        for link, where in at.items():
            k = self._links([link])[0]
            if isinstance(where, str):
                frame = self._robot.model.frame(where)
                if frame.body != k:
                    raise KinetreeError(f"frame {where!r} is not on link {link!r}")
                where = [float(x) for x in frame.placement.translation]
            points[k] = real_array(f"at[{link!r}]", where)
        return points

    def _links(self, names: Sequence[str]) -> list[int]:
        """The numbers of links by name; all of them if none is named."""
        bodies = self._robot.bodies
        for name in names:
            if not among(name, bodies):
                raise unknown("body", name, bodies, f"robot {self._robot.name!r}")
        numbers = [bodies.index(name) for name in names] if len(names) else list(range(self._count))
        if numbers != sorted(set(numbers)):
            raise KinetreeError(
                "links: name each link once, in the order of robot.bodies, as the rows are"
            )
        return numbers

    def _spread(self, name: str, given: Any, chosen: list[int]) -> Array:
        """An array with a row for each given link, as one with a row for each body."""
        array = np.asarray(given)
        rows = 3 if name == "R" and array.shape[-1:] == (3,) else 2
        count = array.shape[-rows] if array.ndim >= rows else 0
        if count != len(chosen):
            names = [self._robot.bodies[k] for k in chosen][count:]
            hint = f"; the first without a row is {names[0]!r}" if names else ""
            raise ShapeError(
                f"{name} has shape {array.shape}; {len(chosen)} rows are expected, one for each "
                f"link{hint}"
            )
        if len(chosen) == self._count:
            return array
        shape = list(array.shape)
        shape[-rows] = self._count
        full = np.zeros(shape, dtype=np.result_type(array, np.float32))
        if rows == 3 or shape[-1] == 4:  # any orientation will do where none is given
            full[...] = np.eye(3) if rows == 3 else (0.0, 0.0, 0.0, 1.0)
        columns = (slice(None),) * (rows - 1)
        full[(Ellipsis, chosen) + columns] = array  # noqa: RUF005
        return full

    def _check_determined(self, chosen: list[int], parts: str) -> None:
        """Refuse links whose velocities leave some joint's velocity open."""
        key = (tuple(chosen), parts)
        robot = self._robot
        if key in self._determined or robot.nv == 0:
            return
        J = self._compute("link_jacobians", (robot.random(1), self.points()))[chosen]
        rows = {"both": slice(0, 6), "linear": slice(0, 3), "angular": slice(3, 6)}[parts]
        matrix = J[:, rows].reshape(-1, robot.nv)
        _, sizes, directions = np.linalg.svd(matrix, full_matrices=True)
        if len(sizes) < robot.nv or sizes[-1] < UNDETERMINED * sizes[0]:
            worst = int(np.abs(directions[-1]).argmax())
            joints = [
                b.joint_name
                for b, at in zip(robot.model.bodies, robot.model.v_slices, strict=True)
                if b.follows is None and at.start <= worst < at.stop
            ]
            what = {
                "both": "states",
                "linear": "linear velocities",
                "angular": "angular velocities",
            }
            raise KinetreeError(
                f"the {what[parts]} of the given links do not determine joint {joints[0]!r}: it "
                "can move while they are at rest; give more links, or both parts"
            )
        self._determined.add(key)

    def _check_residual(
        self, what: str, residual: Array, tolerance: float | None, units: Sequence[str]
    ) -> None:
        if tolerance is None or not (wrong := ~(residual <= tolerance)).any():
            return
        *state, k, part = (int(i) for i in np.argwhere(wrong)[0])
        body = self._robot.model.bodies[k]
        parent = self._robot.bodies[body.parent] if body.parent >= 0 else "the world"
        value = residual[tuple(np.argwhere(wrong)[0])]
        raise StateError(
            f"{what}: {state_name(state)}joint {body.joint_name!r} cannot produce the measured "
            f"motion of link {body.name!r} relative to {parent!r}: the residual is {value:.3g} "
            f"{units[part]}, the tolerance {tolerance:g}"
        )

    def _compute(
        self,
        quantity: str,
        arrays: tuple[Any, ...],
        out: Any = None,
        settings: tuple[Any, ...] = (),
    ) -> Any:
        return self._robot._compute(quantity, arrays, out, settings=settings)
