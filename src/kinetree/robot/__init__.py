"""Robot: where the physics half and the compiler half meet.

A robot is a model and the kernels made from it. What can be computed is the table in
`kinetree.quantities`; a kernel is traced and compiled when it is first called, or taken from the
cache.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec

from kinetree.model import Model, edit
from kinetree.model.joints import Joint
from kinetree.model.parameters import Parameter
from kinetree.parametric import Parametric
from kinetree.robot.core import JointLimits
from kinetree.robot.coriolis import Coriolis
from kinetree.robot.derivatives import Differential
from kinetree.robot.dynamics import Dynamics
from kinetree.robot.kinematics import Kinematics

__all__ = ["JointLimits", "Robot"]
P = ParamSpec("P")


def _edit(change: Callable[Concatenate[Model, P], Model]) -> Callable[Concatenate[Robot, P], Robot]:
    """A method of Robot from an edit of its model."""

    def method(self: Robot, /, *args: P.args, **options: P.kwargs) -> Robot:
        return Robot(change(self.model, *args, **options))

    return update_wrapper(method, change)


class Robot(Kinematics, Dynamics, Coriolis, Differential):
    """A robot's dynamics, compiled.

    Every method takes one state or any batch of them: the last axis is nq or nv long, the axes
    before it broadcast. `out=` takes an array to write into.

    Arguments:
        model: the frozen model; see `kinetree.load`.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return (Robot, (self.model,))

    # other robots from this one

    without = _edit(edit.without)
    with_gravity = _edit(edit.with_gravity)
    mounted = _edit(edit.mounted)
    reorder = _edit(Model.reordered)
    lock = _edit(edit.lock)
    subtree = _edit(edit.subtree)
    attach_payload = _edit(edit.attach_payload)
    replace_inertia = _edit(edit.replace_inertia)
    add_frame = _edit(edit.add_frame)
    reroot = _edit(edit.reroot)
    rechart = _edit(edit.rechart)

    def attach(
        self,
        other: Robot | Model,
        frame: str,
        at: Any = (0.0, 0.0, 0.0),
        prefix: str = "",
        joint: Joint | None = None,
    ) -> Robot:
        """Mount another robot on a frame of this one; see `kinetree.model.edit.attach`."""
        model = other.model if isinstance(other, Robot) else other
        return Robot(edit.attach(self.model, model, frame, at, prefix, joint))

    def with_parameters(self, parameters: Parameter | Sequence[Parameter]) -> Parametric:
        """The same robot with some of its numbers as arguments, to differentiate by or to vary.

        Arguments:
            parameters: Inertial(body), Payload(frame) and Placement(joint), in the order in which
                their numbers shall stand in p; or one of them.
        """
        return Parametric(self.model, parameters)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the robot to a file: URDF if its name ends in .urdf, MJCF if in .xml or .mjcf."""
        from kinetree.model.save import save_model  # rarely needed, and importing takes time

        save_model(self.model, file)
