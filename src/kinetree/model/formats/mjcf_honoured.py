"""What of MJCF's actuators, tendons, sensors and keyframes is honoured, row by row.

The page for MuJoCo's users has these rows, and tests hold them against the reader.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """An element or attribute of MJCF.

    Attributes:
        name: of the element or attribute.
        honoured: whether it is honoured; if not, `kinetree check` says so.
        becomes: what it becomes, or what is lost.
    """

    name: str
    honoured: bool
    becomes: str


HONOURED = (
    Row(
        "`motor`, `position`, `velocity`, `damper`", True, "`Actuator` with an affine gain and bias"
    ),
    Row(
        "`intvelocity`, `cylinder`, `general` with `dyntype`", True, "`Actuator` with an activation"
    ),
    Row("`muscle`", True, "`Actuator` with `MuscleGain`, `MuscleBias`, `MuscleActivation`"),
    Row("`joint`, `jointinparent`, `gear`", True, "`JointTransmission`"),
    Row("`tendon` of an actuator", True, "`TendonTransmission`"),
    Row("`site`, `refsite`", True, "`SiteTransmission`"),
    Row("`slidersite`, `cranksite`, `cranklength`", True, "`SliderCrank`"),
    Row("`ctrlrange`, `forcerange`, `actrange`", True, "bounds, in MuJoCo's order"),
    Row("`actuatorfrcrange` of a joint", True, "its effort limit, the larger side"),
    Row("`actearly`", True, "the force of the activation at the end of the step"),
    Row("`adhesion`, `plugin`, user dynamics", False, "left out, with a warning"),
    Row("`armature`, `damping` of an actuator", False, "left out, with a warning"),
    Row("`fixed` tendon", True, "`FixedTendon`"),
    Row("`spatial`: `site`, `pulley`, `geom`, `sidesite`", True, "`SpatialTendon`"),
    Row("`stiffness`, `springlength`, `damping`", True, "part of all dynamics"),
    Row("`frictionloss` of a tendon", True, "dry friction, soft in steps with contact"),
    Row("`armature` of a fixed tendon", True, "part of the mass matrix"),
    Row("`actuatorfrcrange` of a tendon", True, "bounds the sum of its actuators' forces"),
    Row("`armature` of a spatial tendon", False, "left out, with a warning"),
    Row("`range` of a tendon", True, "a soft limit in steps with contact, as of joints"),
    Row("sensors of sites and frames", True, "`Sensor`, the same numbers"),
    Row("sensors of joints, tendons, actuators", True, "`Sensor`, the same numbers"),
    Row("sensors of subtrees and energy", True, "`Sensor`, the same numbers"),
    Row("`touch`", True, "`Sensor`; at given accelerations no problem is solved"),
    Row("`rangefinder` of a site, to planes and primitives", True, "`Sensor`"),
    Row("`jointlimitpos`, `tendonlimitfrc` and the like", True, "`Sensor`, the same numbers"),
    Row("`contact`, `rangefinder` of a camera, `plugin`, `user`", False, "left out, with a note"),
    Row("`key`: `qpos`, `qvel`, `act`, `ctrl`", True, "`robot.keyframes[name]`"),
    Row("`numeric` of `custom`", True, "`robot.model.equipment.numerics`"),
    Row("`gravcomp` of a body", True, "`Compensation`: part of all dynamics"),
    Row("`density`, `viscosity`, `wind`", True, "`FluidBox` of each body: part of all dynamics"),
    Row("`fluidshape`, `fluidcoef` of a geom", True, "`FluidEllipsoid`: part of all dynamics"),
    Row("`actuatorgravcomp` of a joint", False, "its compensation is passive, with a note"),
)
"""The rows, in the order of the page."""


def honoured_table() -> str:
    """The rows as a table of Markdown."""
    lines = ["| MJCF | honoured | becomes |", "|-|-|-|"]
    lines += [f"| {x.name} | {'yes' if x.honoured else 'no'} | {x.becomes} |" for x in HONOURED]
    return "\n".join(lines)
