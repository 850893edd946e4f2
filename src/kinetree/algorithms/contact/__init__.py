"""Contact: where shapes touch, and the soft constraints that act there. One file an algorithm."""

from kinetree.algorithms.contact.forces import contact_forces, contact_jacobian
from kinetree.algorithms.contact.forward import contact_accelerations, contact_dynamics
from kinetree.algorithms.contact.of_robot import (
    collider_poses,
    distances,
    distances_points_normals,
    robot_touches,
    touch_labels,
    touch_pairs,
)
from kinetree.algorithms.contact.solver import SOLVER, ContactSolver
from kinetree.algorithms.contact.touch import FAR, Touch
from kinetree.algorithms.contact.touches import can_touch, slot_count, touches

__all__ = [
    "FAR",
    "SOLVER",
    "ContactSolver",
    "Touch",
    "can_touch",
    "collider_poses",
    "contact_accelerations",
    "contact_dynamics",
    "contact_forces",
    "contact_jacobian",
    "distances",
    "distances_points_normals",
    "robot_touches",
    "slot_count",
    "touch_labels",
    "touch_pairs",
    "touches",
]
