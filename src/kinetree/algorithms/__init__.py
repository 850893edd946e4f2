"""The recursions, one file each, over any scalar: physics only.

Each is a function of a model and plain lists of scalars, in the symbols of the paper it comes
from. None of them knows of batches, arrays, dtypes or targets.
"""

from kinetree.algorithms.aba import aba, hybrid_dynamics
from kinetree.algorithms.balafoutis_patel import balafoutis_patel
from kinetree.algorithms.balafoutis_patel_partials import balafoutis_patel_partials
from kinetree.algorithms.center_of_mass import (
    center_of_mass,
    center_of_mass_acceleration,
    center_of_mass_jacobian,
    center_of_mass_velocity,
    total_mass,
)
from kinetree.algorithms.charts import chart_volumes, charts
from kinetree.algorithms.christoffel import christoffel_symbols, symbols
from kinetree.algorithms.coriolis import (
    FACTORIZATIONS,
    coriolis,
    coriolis_matrix,
    mass_matrix_rate,
)
from kinetree.algorithms.coriolis_forces import coriolis_forces
from kinetree.algorithms.crba import crba, crba_in_one_frame
from kinetree.algorithms.effort import effort
from kinetree.algorithms.energy import kinetic_energy, potential_energy
from kinetree.algorithms.factored_inverse import mass_matrix_inverse
from kinetree.algorithms.forward_crba import forward_crba, hybrid_crba
from kinetree.algorithms.forward_derivatives import (
    forward_derivatives,
    forward_derivatives_in_own_frames,
)
from kinetree.algorithms.inverse_derivatives import (
    gravity_derivatives,
    inverse_derivatives,
    inverse_derivatives_in_own_frames,
)
from kinetree.algorithms.jacobian import jacobian, jacobians
from kinetree.algorithms.kinematics import (
    AXES,
    frame_acceleration,
    frame_pose,
    frame_velocity,
    poses,
    velocities,
)
from kinetree.algorithms.lagrange import (
    lagrange_coriolis,
    lagrange_coriolis_forces,
    lagrange_mass,
)
from kinetree.algorithms.liu_jain import liu_jain
from kinetree.algorithms.ltl import mass_matrix_factor
from kinetree.algorithms.manifold import coordinate_rates, difference, integrate, normalize
from kinetree.algorithms.mass_derivatives import mass_derivatives, mass_inverse_derivatives
from kinetree.algorithms.minverse import minverse
from kinetree.algorithms.momentum import POINTS, momentum, momentum_matrix, momentum_rate
from kinetree.algorithms.operational_space import operational_space_inertia
from kinetree.algorithms.passivity import momentum_observer, passivity_forces
from kinetree.algorithms.rate import rate
from kinetree.algorithms.reference import reference
from kinetree.algorithms.regressor import base_wrench_regressor, drive_regressor, regressor
from kinetree.algorithms.regressor_momentum import energy_regressor, momentum_regressor
from kinetree.algorithms.regressor_passivity import passivity_regressor
from kinetree.algorithms.rnea import joint_wrenches, rnea
from kinetree.algorithms.transport import transport
from kinetree.algorithms.unit_accelerations import mass_by_unit_accelerations

__all__ = [
    "AXES",
    "FACTORIZATIONS",
    "POINTS",
    "aba",
    "balafoutis_patel",
    "balafoutis_patel_partials",
    "base_wrench_regressor",
    "center_of_mass",
    "center_of_mass_acceleration",
    "center_of_mass_jacobian",
    "center_of_mass_velocity",
    "chart_volumes",
    "charts",
    "christoffel_symbols",
    "coordinate_rates",
    "coriolis",
    "coriolis_forces",
    "coriolis_matrix",
    "crba",
    "crba_in_one_frame",
    "difference",
    "drive_regressor",
    "effort",
    "energy_regressor",
    "forward_crba",
    "forward_derivatives",
    "forward_derivatives_in_own_frames",
    "frame_acceleration",
    "frame_pose",
    "frame_velocity",
    "gravity_derivatives",
    "hybrid_crba",
    "hybrid_dynamics",
    "integrate",
    "inverse_derivatives",
    "inverse_derivatives_in_own_frames",
    "jacobian",
    "jacobians",
    "joint_wrenches",
    "kinetic_energy",
    "lagrange_coriolis",
    "lagrange_coriolis_forces",
    "lagrange_mass",
    "liu_jain",
    "mass_by_unit_accelerations",
    "mass_derivatives",
    "mass_inverse_derivatives",
    "mass_matrix_factor",
    "mass_matrix_inverse",
    "mass_matrix_rate",
    "minverse",
    "momentum",
    "momentum_matrix",
    "momentum_observer",
    "momentum_rate",
    "momentum_regressor",
    "normalize",
    "operational_space_inertia",
    "passivity_forces",
    "passivity_regressor",
    "poses",
    "potential_energy",
    "rate",
    "reference",
    "regressor",
    "rnea",
    "symbols",
    "total_mass",
    "transport",
    "velocities",
]
