"""The types of the public API, for type checkers and readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree._lazy import listing
from kinetree.model.loads import Load, Point

__all__ = [
    "About",
    "AccelerationKind",
    "Array",
    "ArrayLike",
    "Axes",
    "Base",
    "ChartName",
    "CoriolisForcesMethod",
    "Effect",
    "External",
    "Factorization",
    "ForwardDerivativesMethod",
    "ForwardDynamicsMethod",
    "HybridDynamicsMethod",
    "Inertias",
    "InverseDerivativesMethod",
    "InverseDynamicsMethod",
    "Loading",
    "MassMatrixInverseMethod",
    "MassMatrixMethod",
    "Out",
    "Outs",
    "Rows",
    "SimulatedExternal",
    "StepMethod",
]
__dir__ = listing(__all__)

Array = NDArray[np.floating[Any]]
"""A NumPy array of float64 or float32."""
Out = Array | None
"""An array to write a result into."""
Outs = tuple[Array, ...] | None
"""Arrays to write several results into."""
External = Mapping[str | Point, ArrayLike]
"""External loads: maps a frame's name to a wrench, or Point(frame) to a force and its point."""
SimulatedExternal = Mapping[str | Point, ArrayLike | Callable[..., Any]]
"""As External; a load may be a function (t, q, v) over scalars."""
Loading = Mapping[str | Load, ArrayLike]
"""As External, with every key of `kinetree.model.loads`."""
Axes = Literal[
    "origin",
    "body",
    "world",
    "local",
    "LOCAL",
    "local_world_aligned",
    "LOCAL_WORLD_ALIGNED",
    "WORLD",
]
"""The axes and the point of a quantity; Pinocchio's names are accepted, too."""
AccelerationKind = Literal["classical", "spatial"]
About = Literal["center", "world"]
Rows = Literal["pose", "position"]
"""The rows of a frame's Jacobian: all six, or the three of its position."""
InverseDynamicsMethod = Literal["auto", "balafoutis-patel", "rnea", "liu-jain"]
CoriolisForcesMethod = Literal["auto", "balafoutis-patel", "rnea", "liu-jain", "lagrange"]
MassMatrixMethod = Literal["auto", "crba", "rnea", "lagrange"]
MassMatrixInverseMethod = Literal["auto", "ltl", "aba"]
ForwardDynamicsMethod = Literal["auto", "aba", "crba", "proximal", "newton"]
HybridDynamicsMethod = Literal["auto", "aba", "crba"]
Factorization = Literal["christoffel", "spatial", "lagrange"]
InverseDerivativesMethod = Literal["auto", "analytic", "balafoutis-patel", "graph"]
ForwardDerivativesMethod = Literal["auto", "analytic", "graph"]
StepMethod = Literal[
    "auto",
    "euler",
    "implicit-damping",
    "implicit-springs",
    "midpoint",
    "implicit-midpoint",
    "rk4",
    "variational",
]
Base = Literal["fixed", "floating"]
Inertias = Literal["as given", "from geometry"]
ChartName = Literal[
    "quaternion",
    "exponential",
    "xyx",
    "xyz",
    "xzx",
    "xzy",
    "yxy",
    "yxz",
    "yzx",
    "yzy",
    "zxy",
    "zxz",
    "zyx",
    "zyz",
]
"""The coordinates of a free orientation."""
Effect = Literal[
    "actuators",
    "armature",
    "compensation",
    "constraints",
    "contacts",
    "damping",
    "fluid",
    "friction",
    "gravity",
    "limits",
    "sensors",
    "springs",
    "tendons",
]
