"""A picture of measured and predicted joint forces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kinetree._optional import optional
from kinetree.errors import KinetreeError
from kinetree.identify.log import Log
from kinetree.identify.result import Identified
from kinetree.simulate.figures import save_figure


def plot(identified: Identified, path: str | Path | None = None, log: Log | None = None) -> Any:
    """One panel a joint: measured, predicted by the robot as it was, and by the new one.

    Arguments:
        identified, path, log: as in `Identified.plot`.

    Returns:
        Matplotlib's figure.
    """
    if log is None:
        log = identified.log if identified.validation is None else identified.validation
    if log is None:
        raise KinetreeError("plot: the logs were streamed; pass the one to draw as log=")
    before, after = identified.predicted(log, identified.before), identified.predicted(log)
    names = identified.before.labels.v
    figure = optional("matplotlib.figure", "a picture").Figure(
        figsize=(8.0, 1.0 + 1.4 * len(names)), layout="constrained"
    )
    panels = np.ravel(figure.subplots(len(names), 1, sharex=True, squeeze=False))
    for k, (panel, name) in enumerate(zip(panels, names, strict=True)):
        panel.plot(log.time, log.tau[:, k], color="0.6", linewidth=1.5, label="measured")
        panel.plot(log.time, before[:, k], "C1:", linewidth=1.0, label="before")
        panel.plot(log.time, after[:, k], "C0", linewidth=0.8, label="identified")
        unit = "N m" if identified.before.labels.v_units[k].startswith("rad") else "N"
        panel.set_ylabel(f"{name}, {unit}", fontsize=8)
        panel.grid(alpha=0.3)
    panels[0].legend(ncol=3, fontsize=8)
    panels[-1].set_xlabel("time, s")
    if path is not None:
        save_figure(figure, path)
    return figure
