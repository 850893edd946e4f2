"""Robot: where the physics half and the compiler half meet.

A robot is a model and the kernels made from it. The quantities that it can compute are the table
`kinetree.quantities`. A kernel is traced and compiled at its first call, or loaded from the cache.
"""

from __future__ import annotations

from typing import Any

from kinetree.robot.core import JointLimits
from kinetree.robot.coriolis import CoriolisMatrices
from kinetree.robot.doors import Doors, door_classes
from kinetree.robot.dynamics import Dynamics
from kinetree.robot.editing import Editing
from kinetree.robot.elsewhere import Signposted, add_signposts, without_signposts
from kinetree.robot.kinematics import Kinematics
from kinetree.robot.linearization import Linearized
from kinetree.robot.motion import Moving
from kinetree.robot.regressors import Regressed
from kinetree.robot.simulation import Simulated
from kinetree.robot.viewing import Viewed

__all__ = ["JointLimits", "Robot"]


class Robot(
    Kinematics,
    Dynamics,
    CoriolisMatrices,
    Regressed,
    Linearized,
    Doors,
    Simulated,
    Moving,
    Editing,
    Viewed,
    metaclass=Signposted,
):
    """A robot's dynamics, compiled.

    Every method takes one state or any batch of them: the last axis is nq or nv long, the axes
    before it broadcast. `out=` takes an array to write into.

    Arguments:
        model: the frozen model; see `kinetree.load`.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return (Robot, (self.model,))

    def __dir__(self) -> list[str]:
        return without_signposts(type(self), super().__dir__())


add_signposts(Robot, door_classes())
