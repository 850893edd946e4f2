"""Systems that diverge in a rollout: their records, and the warning that says which and when."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from kinetree.compiler.runtime.backend import Backend
from kinetree.errors import SimulationWarning
from kinetree.typing import Array


def blank_diverged(
    arrays: Mapping[str, Array], last: Array, grid: Array, dt: float, on: Backend
) -> Array:
    """Overwrite what was recorded after a system diverged with NaN, where the arrays are.

    Arguments:
        arrays: the records, (systems, times, ...).
        last: when each system diverged, negative if it did not, (systems,).
        grid: the times of the records.
        dt: the length of a step, s.
        on: the back end of the arrays.

    Returns:
        When each system diverged, NaN if it did not, on the host.
    """
    at_end = on.on_host(last)
    ended: Array = np.where(at_end < 0.0, np.nan, at_end)
    if not np.isnan(ended).all():
        xp = on.xp
        since = xp.where(last < 0.0, np.inf, last) - 0.5 * dt
        late = xp.asarray(grid) > since[:, None]
        for array in arrays.values():
            array[late] = np.nan
    return ended


def warn_of_divergence(ended: Array) -> None:
    """Say which environments diverged, and when.

    Arguments:
        ended: when each environment diverged, NaN if it did not, with the shape of the batch.
    """
    which = np.argwhere(~np.isnan(ended))
    if which.size or (ended.ndim == 0 and not np.isnan(ended)):
        listed = [
            f"environment {i[0] if len(i) == 1 else i} at t = {ended[i]:.6g} s"
            if i
            else f"at t = {float(ended):.6g} s"
            for i in (tuple(int(x) for x in row) for row in which[:3])
        ]
        more = f" and {len(which) - 3} more" if len(which) > 3 else ""
        warnings.warn(
            f"the simulation diverged: {', '.join(listed)}{more}; its states are NaN from then on. "
            "A smaller dt, smaller gains of the controller or another method may help",
            SimulationWarning,
            stacklevel=6,
        )
