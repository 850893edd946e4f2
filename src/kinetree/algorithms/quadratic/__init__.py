"""Convex quadratic programs with sparse rows, solved inside a compiled program."""

from kinetree.algorithms.quadratic.interior_point import InteriorPoint, Optimum
from kinetree.algorithms.quadratic.problem import Pattern, Quadratic, pattern_of

__all__ = ["InteriorPoint", "Optimum", "Pattern", "Quadratic", "pattern_of"]
