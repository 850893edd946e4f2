"""A robot's states in other charts, along time without jumps, and in generalised speeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kinetree.robot.core import Core
from kinetree.typing import Array, ArrayLike

if TYPE_CHECKING:
    from kinetree.rechart import Conversion
    from kinetree.speeds import InSpeeds


class Charts(Core):
    """Other coordinates and velocities of the same robot."""

    def conversion(self, other: Core) -> Conversion:
        """From this robot's charts to another's: q, v, a, tau, M, C and Christoffel symbols.

        Arguments:
            other: the same robot in other charts, such as robot.rechart("zyx").
        """
        from kinetree.rechart import Conversion  # rarely needed

        return Conversion(self._kernels, other.model)

    def continuous(self, q: ArrayLike) -> Array:
        """The same configurations along time, their coordinates without jumps.

        Of the coordinates of each orientation those near the ones before are taken: the sign of a
        quaternion, whole turns of angles, the other solution of Euler angles. A rotation vector
        still jumps once it is longer than three quarters of a turn, so that it stays away from its
        singularity at a full one.

        Arguments:
            q: configurations at successive times, (times, nq).

        Returns:
            (times, nq).
        """
        from kinetree.rechart import continuous

        return continuous(self.model, q)

    def in_speeds(
        self, A: Callable[[Sequence[Any]], Sequence[Sequence[Any]]], count: int
    ) -> InSpeeds:
        """The equations of motion in generalised speeds nu, with v = A(q) nu.

        Arguments:
            A: from q to the rows of the matrix, written over any scalar with the functions of
                `kinetree.scalar`.
            count: how many speeds there are. With fewer than nv the motion is held to what A
                allows.

        Returns:
            M, C, bias, inverse and forward dynamics in nu, compiled when first asked for.
        """
        from kinetree.speeds import InSpeeds

        return InSpeeds(self._kernels, A, count)
