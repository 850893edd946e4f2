"""Simulations: a robot under a controller, step by step or with adaptive steps."""

from kinetree.simulate.adaptive import adaptive
from kinetree.simulate.closed_loop import ClosedLoop
from kinetree.simulate.fixed import fixed
from kinetree.simulate.result import Simulation

__all__ = ["ClosedLoop", "Simulation", "adaptive", "fixed"]
