"""What is built on robots, imported when it is first asked for.

Methods such as `Robot.simulate` and `Robot.transition` find their functions here. No other file of
this package knows what is built on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree._lazy import lazy_names

if TYPE_CHECKING:
    from kinetree.identify.base import BaseParameters as BaseParameters
    from kinetree.identify.base import base_parameters as base_parameters
    from kinetree.motion.control_problem import ControlProblem as ControlProblem
    from kinetree.motion.effort import Effort as Effort
    from kinetree.motion.flat import Flat as Flat
    from kinetree.motion.mpc import ModelPredictiveControl as ModelPredictiveControl
    from kinetree.motion.result import Transition as Transition
    from kinetree.motion.transition import transition as transition
    from kinetree.motion.transition_settings import Hold as Hold
    from kinetree.motion.transition_settings import Settings as Settings
    from kinetree.show.view import Viewer as Viewer
    from kinetree.simulate.adaptive import AdaptiveSteps as AdaptiveSteps
    from kinetree.simulate.adaptive import Event as Event
    from kinetree.simulate.adaptive import adaptive as adaptive
    from kinetree.simulate.closed_loop import Controlled as Controlled
    from kinetree.simulate.fixed import FixedSteps as FixedSteps
    from kinetree.simulate.fixed import compiled as compiled
    from kinetree.simulate.fixed import fixed as fixed
    from kinetree.simulate.result import Simulation as Simulation
    from kinetree.simulate.rollout import Rollout as Rollout
    from kinetree.simulate.start import InitialValues as InitialValues

HOMES = {
    "AdaptiveSteps": "kinetree.simulate.adaptive",
    "BaseParameters": "kinetree.identify.base",
    "ControlProblem": "kinetree.motion.control_problem",
    "Controlled": "kinetree.simulate.closed_loop",
    "Effort": "kinetree.motion.effort",
    "Event": "kinetree.simulate.adaptive",
    "FixedSteps": "kinetree.simulate.fixed",
    "Flat": "kinetree.motion.flat",
    "Hold": "kinetree.motion.transition_settings",
    "InitialValues": "kinetree.simulate.start",
    "ModelPredictiveControl": "kinetree.motion.mpc",
    "Rollout": "kinetree.simulate.rollout",
    "Settings": "kinetree.motion.transition_settings",
    "Simulation": "kinetree.simulate.result",
    "Transition": "kinetree.motion.result",
    "Viewer": "kinetree.show.view",
    "adaptive": "kinetree.simulate.adaptive",
    "base_parameters": "kinetree.identify.base",
    "compiled": "kinetree.simulate.fixed",
    "fixed": "kinetree.simulate.fixed",
    "transition": "kinetree.motion.transition",
}
"""Maps each name to the module that has it."""

__getattr__ = lazy_names("kinetree.robot.uses", HOMES)
