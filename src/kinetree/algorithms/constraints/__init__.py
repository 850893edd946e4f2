"""Dynamics under constraints: loops, held frames, couplings. One file an algorithm."""

from kinetree.algorithms.constraints.closing import closing_step
from kinetree.algorithms.constraints.drift import (
    PROJECTION,
    acceleration_terms,
    projected,
)
from kinetree.algorithms.constraints.forward import (
    NO_STABILIZATION,
    constrained_accelerations,
    constrained_dynamics,
    switched_dynamics,
)
from kinetree.algorithms.constraints.forward_derivatives import (
    acceleration_derivatives,
    acceleration_derivatives_in_own_frames,
    constrained_derivatives,
    constrained_derivatives_in_own_frames,
    switched_derivatives,
    switched_derivatives_in_own_frames,
)
from kinetree.algorithms.constraints.impulse import impact
from kinetree.algorithms.constraints.inverse import constrained_inverse_dynamics
from kinetree.algorithms.constraints.null_space import (
    constrained_inertia,
    null_space_projection,
    projected_velocity,
)
from kinetree.algorithms.constraints.proximal import delassus_inverse, delassus_matrix
from kinetree.algorithms.constraints.rows import (
    constraint_bias,
    constraint_errors,
    constraint_jacobian,
    constraint_rows,
)
from kinetree.model.softness import Baumgarte, Projection, Stabilization

__all__ = [
    "NO_STABILIZATION",
    "PROJECTION",
    "Baumgarte",
    "Projection",
    "Stabilization",
    "acceleration_derivatives",
    "acceleration_derivatives_in_own_frames",
    "acceleration_terms",
    "closing_step",
    "constrained_accelerations",
    "constrained_derivatives",
    "constrained_derivatives_in_own_frames",
    "constrained_dynamics",
    "constrained_inertia",
    "constrained_inverse_dynamics",
    "constraint_bias",
    "constraint_errors",
    "constraint_jacobian",
    "constraint_rows",
    "delassus_inverse",
    "delassus_matrix",
    "impact",
    "null_space_projection",
    "projected",
    "projected_velocity",
    "switched_derivatives",
    "switched_derivatives_in_own_frames",
    "switched_dynamics",
]
