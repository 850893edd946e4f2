"""Distances of shapes that can touch, and the forces of contacts."""

from __future__ import annotations

from kinetree.algorithms import contact as algorithms
from kinetree.quantities.citations import MUJOCO, SOFT
from kinetree.quantities.posedness import INVERTIBLE
from kinetree.quantities.row import TAU, Kind, Q, Quantity, V, one

SOLVING = {"contact": (algorithms.SOLVER,)}
CONTACT: dict[str, Quantity] = {
    "distances": Quantity(
        "The distances of the shapes that can touch",
        one(algorithms.distances, MUJOCO),
        (Q,),
        {"distances": Kind.DISTANCES},
        rigid=True,
        touching=True,
        closed_form=False,
    ),
    "touches": Quantity(
        "The distances of the shapes that can touch, with points and normals",
        one(algorithms.distances_points_normals, MUJOCO),
        (Q,),
        {
            "distances": Kind.DISTANCES,
            "points": Kind.TOUCH_POINTS,
            "normals": Kind.TOUCH_NORMALS,
        },
        rigid=True,
        touching=True,
        closed_form=False,
        called="contact.touches",
    ),
    "contact_jacobian": Quantity(
        "How the points move at which shapes touch, relative to each other",
        one(algorithms.contact_jacobian, SOFT),
        (Q,),
        {"J": "for each touch x y z in the world's axes; columns in the order of v, SI units"},
        touching=True,
        closed_form=False,
        called="contact.jacobian",
    ),
    "contact_forces": Quantity(
        "The forces of contacts",
        one(algorithms.contact_forces, SOFT),
        (Q, V, TAU),
        {"forces": Kind.TOUCH_FORCES},
        loads=True,
        settings=SOLVING,
        regular=True,
        mass_matrix=INVERTIBLE,
        touching=True,
        closed_form=False,
        called="contact.forces",
    ),
    "contact_dynamics": Quantity(
        "The acceleration with contact, and how well it is solved for",
        one(algorithms.contact_dynamics, SOFT),
        (Q, V, TAU),
        {"a": Kind.ACCELERATION, "residual": "Newton decrement of the last step, squared, N m/s^2"},
        loads=True,
        settings=SOLVING,
        regular=True,
        mass_matrix=INVERTIBLE,
        touching=True,
        closed_form=False,
        called="contact.dynamics",
    ),
}
