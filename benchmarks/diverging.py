"""What it costs that environments of a rollout diverge, on the CPU and on a GPU.

The rows are printed by `benchmarks.rollouts` and by `benchmarks.gpu --rollouts`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import kinetree as kt

DT = 1e-3
HUGE = 1e12
"""A joint force under which every environment diverges."""


def held(t: Any, q: Any, v: Any, p: Any) -> Any:
    """Joint forces beside springs and dampers, without which differences mean little after 1 s."""
    return [u - 20.0 * x - 5.0 * y for u, x, y in zip(p, q, v, strict=True)]


def diverging_runs(
    robot: kt.Robot,
    environments: int,
    steps: int,
    shares: Sequence[float],
    place: Callable[[Any], Any] = np.asarray,
) -> list[Callable[[], None]]:
    """Runs of one rollout in which a share of the environments diverges, one for each share.

    Each is made once and checked: as many environments diverge as shall.

    Arguments:
        robot: with as many coordinates as velocities.
        environments, steps: how many.
        shares: from 0 to 1.
        place: puts an array where it is computed, such as cupy.asarray.
    """
    rollout = robot.rollout(held, steps, DT, p_length=robot.nv, every=steps)
    q, v = (place(np.zeros((environments, n))) for n in (robot.nq, robot.nv))

    def made(share: float) -> Callable[[], Any]:
        count = round(share * environments)
        u = np.zeros((environments, robot.nv))
        u[:count] = HUGE
        forces = place(u)

        def run() -> Any:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", kt.errors.SimulationWarning)
                return rollout(q, v, forces)

        diverged = run().diverged  # when, NaN where never
        assert int((diverged == diverged).sum()) == count
        return run

    return [made(share) for share in shares]
