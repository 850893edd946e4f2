"""The result of an identification: parameters, their uncertainty, and the identified robot."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree._lazy import cached_property
from kinetree.identify.doubts import doubts
from kinetree.identify.least_squares import Estimate
from kinetree.identify.log import Log
from kinetree.identify.parameters import Parameters, pseudo_inertia
from kinetree.kinds import instance
from kinetree.robot.core import check_robot
from kinetree.typing import Array

if TYPE_CHECKING:
    from kinetree.robot import Robot

VAGUE = 0.3
"""Parameters with a larger relative standard deviation are poorly identified."""


@dataclass(frozen=True)
class Errors:
    """The errors of predicted joint forces.

    Attributes:
        rms: the root mean square of each velocity's error, (nv,), N m or N.
        relative: that divided by the root mean square of the measured force, (nv,).
    """

    rms: Array
    relative: Array


@dataclass(frozen=True)
class Identified:
    """The result of an identification.

    Arguments:
        estimate: base parameters with their covariance, by least squares.
        theta: all parameters of the new robot, in the order of `parameters.names`.
        method: how theta was found.
        log, validation: what was fitted and what was not, if they are single logs.
    """

    estimate: Estimate
    theta: Array
    method: str
    log: Log | None = None
    validation: Log | None = None

    @property
    def parameters(self) -> Parameters:
        """What the parameters are."""
        return self.estimate.base.parameters

    @property
    def before(self) -> Robot:
        """The robot as it was."""
        return self.parameters.robot

    @cached_property
    def robot(self) -> Robot:
        """The robot with the parameters found."""
        return self.parameters.applied(self.theta)

    @cached_property
    def values(self) -> dict[str, float]:
        """Each parameter of the new robot, by its name."""
        return dict(zip(self.parameters.names, self.theta.tolist(), strict=True))

    @cached_property
    def impossible(self) -> tuple[str, ...]:
        """The bodies with physically impossible inertia; none with a consistent method."""
        phi = self.theta[: self.parameters.inertial_count].reshape(-1, 10)
        least = np.linalg.eigvalsh(pseudo_inertia(phi))[:, 0]
        return tuple(name for name, x in zip(self.before.bodies, least, strict=True) if x < -1e-12)

    @cached_property
    def vague(self) -> tuple[str, ...]:
        """The base parameters about which the data say little or nothing."""
        deviation, value = self.estimate.deviations, np.abs(self.estimate.values)
        return tuple(
            name
            for name, d, x in zip(self.estimate.base.names, deviation, value, strict=True)
            if not d <= VAGUE * x
        )

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Reasons not to use the new robot, as sentences; none if it can be used."""
        return doubts(self)

    def predicted(self, log: Log, robot: Robot | None = None) -> Array:
        """The joint forces that a robot needs for a log's motion.

        Arguments:
            log: with velocities and accelerations.
            robot: which robot; if None, the new one with the offsets that were found.

        Returns:
            (T, nv), N m or N.
        """
        motion = instance("log", log, Log, "a Log").motion
        if robot is None:
            return self.robot.inverse_dynamics(*motion) + self._offsets
        check_robot(robot)
        return robot.inverse_dynamics(*motion)

    @cached_property
    def _offsets(self) -> Array:
        """Offsets that are no part of the new robot: those of joints without a spring."""
        drives, found = self.parameters.drives, np.zeros(self.before.nv)
        if "offset" in drives:
            rows = self.parameters.drive_numbers(self.theta)
            for k, j in self.parameters.drive_of.items():
                spring = "stiffness" in drives and rows[j, drives.index("stiffness")] > 0.0
                found[k] = 0.0 if spring else rows[j, drives.index("offset")]
        return found

    def errors(self, log: Log, robot: Robot | None = None) -> Errors:
        """How well the forces of a log are predicted.

        Arguments:
            log, robot: as in `predicted`.

        Returns:
            The errors of each velocity's force.
        """
        predicted = self.predicted(log, robot)
        wrong = np.where(log.keep, predicted - log.tau, 0.0)
        count = np.maximum(log.used, 1)
        rms = np.sqrt((wrong**2).sum(axis=0) / count)
        size = np.sqrt((np.where(log.keep, log.tau, 0.0) ** 2).sum(axis=0) / count)
        return Errors(rms, rms / np.maximum(size, 1e-300))

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the new robot to a file.

        Arguments:
            file: its path: URDF if it ends in .urdf, MJCF if in .xml or .mjcf.
        """
        self.robot.save(file)

    def report(self, path: str | Path | None = None) -> str:
        """A report on the result and its uncertainty.

        Arguments:
            path: where to write it: HTML if it ends in .html, Markdown if it ends in .md; not
                written if None.

        Returns:
            Its text.
        """
        from kinetree.identify.report import report

        return report(self, path)

    def plot(self, path: str | Path | None = None, log: Log | None = None) -> Any:
        """A plot of measured and predicted forces.

        Arguments:
            path: where to save it; not saved if None.
            log: which log; by default the validation log, or the one that was fitted.

        Returns:
            Matplotlib's figure.
        """
        from kinetree.identify.plot import plot

        return plot(self, path, log)

    def __str__(self) -> str:
        return self.report()
