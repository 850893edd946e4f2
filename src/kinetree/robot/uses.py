"""The packages that are built on robots, imported on first use.

Methods such as `Robot.simulate` and `Robot.transition` find their functions here. No other file of
this package knows what is built on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree._lazy import lazy_names

if TYPE_CHECKING:
    from kinetree.identify.base import BaseParameters as BaseParameters
    from kinetree.identify.base import base_parameters as base_parameters
    from kinetree.motion.conditions import Demands as Demands
    from kinetree.motion.control_problem import ControlProblem as ControlProblem
    from kinetree.motion.flat import Flat as Flat
    from kinetree.motion.motion import Motion as Motion
    from kinetree.motion.path_timing import time_path as time_path
    from kinetree.motion.phases import Phases as Phases
    from kinetree.motion.reachable_speeds import Passes as Passes
    from kinetree.motion.result import Transition as Transition
    from kinetree.motion.supports import Support as Support
    from kinetree.motion.transition import transition as transition
    from kinetree.motion.transition_settings import Hold as Hold
    from kinetree.motion.transition_settings import Settings as Settings
    from kinetree.show.view import Viewer as Viewer
    from kinetree.show.view.trajectory import Playable as Playable
    from kinetree.simulate.actuated import Actuated as Actuated
    from kinetree.simulate.actuated import Controls as Controls
    from kinetree.simulate.adaptive import AdaptiveSteps as AdaptiveSteps
    from kinetree.simulate.adaptive import Event as Event
    from kinetree.simulate.adaptive import adaptive as adaptive
    from kinetree.simulate.closed_loop import ClosedLoops as ClosedLoops
    from kinetree.simulate.closed_loop import ControlLaw as ControlLaw
    from kinetree.simulate.fixed import FixedSteps as FixedSteps
    from kinetree.simulate.fixed import compiled as compiled
    from kinetree.simulate.fixed import fixed as fixed
    from kinetree.simulate.result import Simulation as Simulation
    from kinetree.simulate.rollout import Rollout as Rollout
    from kinetree.simulate.start import InitialValues as InitialValues

HOMES = {
    "Actuated": "kinetree.simulate.actuated",
    "Controls": "kinetree.simulate.actuated",
    "AdaptiveSteps": "kinetree.simulate.adaptive",
    "BaseParameters": "kinetree.identify.base",
    "ControlProblem": "kinetree.motion.control_problem",
    "ClosedLoops": "kinetree.simulate.closed_loop",
    "ControlLaw": "kinetree.simulate.closed_loop",
    "Demands": "kinetree.motion.conditions",
    "Event": "kinetree.simulate.adaptive",
    "FixedSteps": "kinetree.simulate.fixed",
    "Flat": "kinetree.motion.flat",
    "Hold": "kinetree.motion.transition_settings",
    "InitialValues": "kinetree.simulate.start",
    "Phases": "kinetree.motion.phases",
    "Motion": "kinetree.motion.motion",
    "Passes": "kinetree.motion.reachable_speeds",
    "Playable": "kinetree.show.view.trajectory",
    "Rollout": "kinetree.simulate.rollout",
    "Support": "kinetree.motion.supports",
    "Settings": "kinetree.motion.transition_settings",
    "Simulation": "kinetree.simulate.result",
    "Transition": "kinetree.motion.result",
    "Viewer": "kinetree.show.view",
    "adaptive": "kinetree.simulate.adaptive",
    "base_parameters": "kinetree.identify.base",
    "compiled": "kinetree.simulate.fixed",
    "fixed": "kinetree.simulate.fixed",
    "time_path": "kinetree.motion.path_timing",
    "transition": "kinetree.motion.transition",
}
"""Maps each name to the module that has it."""

__getattr__ = lazy_names("kinetree.robot.uses", HOMES)
