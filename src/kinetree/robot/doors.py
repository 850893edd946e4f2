"""The doors of a robot: groups of methods that few people need, each under a name of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree._lazy import cached_property
from kinetree.robot.centroidal import Centroidal
from kinetree.robot.charts import Charts
from kinetree.robot.core import Core
from kinetree.robot.derivatives import Differential
from kinetree.robot.editing import Edit
from kinetree.robot.regressors import Regressors

if TYPE_CHECKING:
    from kinetree.robot.cartesian import Cartesian


class Doors(Core):
    """Groups of methods."""

    @cached_property
    def cartesian(self) -> Cartesian:
        """The robot in Cartesian coordinates of its links: states, velocities, forces, and back."""
        from kinetree.robot.cartesian import Cartesian  # rarely needed, and importing takes time

        return Cartesian(self)

    @cached_property
    def centroidal(self) -> Centroidal:
        """The motion of the centre of mass, and the rate of the momentum."""
        return Centroidal(self)

    @cached_property
    def charts(self) -> Charts:
        """Other coordinates and velocities of the same robot."""
        return Charts(self)

    @cached_property
    def derivatives(self) -> Differential:
        """Derivatives of further quantities, and second derivatives."""
        return Differential(self)

    @cached_property
    def edit(self) -> Edit:
        """Links added, removed and exchanged; each call returns a new robot."""
        return Edit(self)

    @cached_property
    def regressors(self) -> Regressors:
        """Regressors of further forces, momenta and energies."""
        return Regressors(self)
