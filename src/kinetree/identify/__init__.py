"""From measurements to a model.

    log = filtered(read("log.csv", robot), cutoff=20.0)
    found = fit(robot, log)
    found.save("better.urdf")

The steps are files of this folder: parameters.py and base.py (what can be known), log.py, read.py,
bag.py and smooth.py (data), factor.py and least_squares.py (estimates), log_cholesky.py and
consistent.py (inertias that bodies can have), fit.py (all of it), output_error.py, payload.py,
excite.py with its curves.py, and result.py, report.py and plot.py (what was found). checks.py says
what is wrong with a setting.
"""

from kinetree._lazy import listing
from kinetree.identify.base import BaseParameters, base_parameters
from kinetree.identify.excite import Excitation, exciting_motion
from kinetree.identify.factor import Factors
from kinetree.identify.fit import fit
from kinetree.identify.least_squares import (
    Estimate,
    accumulate,
    ordinary,
    reweighted,
    weighted,
)
from kinetree.identify.log import Log
from kinetree.identify.output_error import fit_output_error
from kinetree.identify.parameters import (
    Parameters,
    from_order,
    from_pseudo_inertia,
    pseudo_inertia,
    to_order,
)
from kinetree.identify.payload import Load, payload
from kinetree.identify.read import Stream, log_of_columns, read
from kinetree.identify.result import Identified
from kinetree.identify.smooth import differentiated, filtered, resampled, splined

__all__ = [
    "BaseParameters",
    "Estimate",
    "Excitation",
    "Factors",
    "Identified",
    "Load",
    "Log",
    "Parameters",
    "Stream",
    "accumulate",
    "base_parameters",
    "differentiated",
    "exciting_motion",
    "filtered",
    "fit",
    "fit_output_error",
    "from_order",
    "from_pseudo_inertia",
    "log_of_columns",
    "ordinary",
    "payload",
    "pseudo_inertia",
    "read",
    "resampled",
    "reweighted",
    "splined",
    "to_order",
    "weighted",
]

__dir__ = listing(__all__)
