"""Settings of a simulation with contact that a robot's file can give."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.errors import ModelError, among, unknown
from kinetree.model.arguments import given_number

CONES = ("pyramidal", "elliptic")
INTEGRATORS = ("euler", "rk4", "implicit", "implicitfast", "discrete")


@dataclass(frozen=True)
class ContactOptions:
    """MuJoCo's settings that define contact, not those of its solver.

    Arguments:
        timestep: s.
        cone: of friction, "pyramidal" or "elliptic".
        impratio: the stiffness of friction relative to the normal direction, for elliptic cones.
        integrator: "euler", "rk4", "implicit", "implicitfast" or "discrete".
        limits: whether limits of joints act.
        refsafe: whether time constants of solref are at least twice the time step.
        eulerdamp: whether "euler" integrates the damping of joints implicitly.
        diagexact: whether the diagonal of the constraints' matrix is exact, or approximated from
            the neutral configuration.
    """

    timestep: float = 0.002
    cone: str = "pyramidal"
    impratio: float = 1.0
    integrator: str = "euler"
    limits: bool = True
    refsafe: bool = True
    eulerdamp: bool = True
    diagexact: bool = False

    def __post_init__(self) -> None:
        for name in ("timestep", "impratio"):
            value = given_number(name, getattr(self, name))
            if value <= 0.0:
                raise ModelError(f"{name}={value!r}: more than zero is expected")
            object.__setattr__(self, name, value)
        for name, known in (("cone", CONES), ("integrator", INTEGRATORS)):
            if not among(getattr(self, name), known):
                raise unknown(name, getattr(self, name), known, "contact options")


OPTIONS = ContactOptions()
"""The defaults of robots whose files give no options."""
