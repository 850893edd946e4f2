"""The effort of a motion: the integrand of the energy functional.

Source: B. Guenter & C. F. Rose, MSR-TR-2000-80 (2000), "The energy function & the partials":
P, the integral over time of the sum of tau_i^2.

    report    code      meaning
    tau_i     tau       joint forces
              weights   how much each counts; one in the report

The gradient of P by the coefficients theta of a trajectory is in `kinetree.motion.effort`. The
text at hand lacks factors there: docs/sources.md says which.

Cost: O(N).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.balafoutis_patel import balafoutis_patel
from kinetree.algorithms.tree import Loads
from kinetree.model import Model
from kinetree.scalar import Scalar


def effort(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    weights: Sequence[Scalar],
    external: Loads = (),
) -> Scalar:
    """The weighted sum of squared joint forces."""
    tau = balafoutis_patel(model, q, qd, qdd, external)
    return sum((w * t * t for w, t in zip(weights, tau, strict=True)), start=0)
