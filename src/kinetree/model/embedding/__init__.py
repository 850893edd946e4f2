"""Dependent coordinates of loops as functions of independent ones: frozen data over any scalar.

A `LoopMap` gives the coordinates of a dependent joint; it solves one closure after another, by a
formula (`Coupled`, `Triangle`, `Slider`) or by Newton's method (`Newton`).
"""

from kinetree.model.embedding.closures import Closure, CoupledSum, FrameLoop, Link, Path
from kinetree.model.embedding.coupled import Coupled
from kinetree.model.embedding.loop_map import LoopMap, Stage
from kinetree.model.embedding.newton import Newton
from kinetree.model.embedding.start import Axis, Fit
from kinetree.model.embedding.triangle import Crank, Slider, Triangle

__all__ = [
    "Axis",
    "Closure",
    "Coupled",
    "CoupledSum",
    "Crank",
    "Fit",
    "FrameLoop",
    "Link",
    "LoopMap",
    "Newton",
    "Path",
    "Slider",
    "Stage",
    "Triangle",
]
