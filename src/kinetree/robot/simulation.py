"""A robot in time."""

from __future__ import annotations

from kinetree.algorithms.steps import FREE, Enforcement
from kinetree.robot.core import Core
from kinetree.typing import Array, ArrayLike, External, Outs, StepMethod


class Simulated(Core):
    """How a robot moves under the forces of its joints."""

    def step(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        dt: ArrayLike,
        limits: Enforcement = FREE,
        external: External | None = None,
        method: StepMethod = "",
        out: Outs = None,
    ) -> tuple[Array, Array]:
        """The state after a step of time, the joint forces constant over it.

        Arguments:
            q, v, tau: configuration (..., nq), velocity and joint forces (..., nv).
            dt: the length of the step, s, (...).
            limits: what the limits of joints do, see `kinetree.Enforcement`; nothing by default.
            external: what acts on the robot, as in `inverse_dynamics`.
            method: "euler" (the default: semi-implicit), "implicit-damping" (Euler as MuJoCo has
                it), "implicit-springs" (also in the joints' springs), "midpoint",
                "implicit-midpoint", "rk4" or "variational" (symplectic, keeps momentum).
            out: two arrays to write into.

        Returns:
            q, v at the end of the step: (..., nq) and (..., nv). Quaternions have length one.
        """
        q1, v1 = self._compute("step", (q, v, tau, dt), out, method, external, (limits,))
        return q1, v1
