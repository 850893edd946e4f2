"""Which features of MJCF's actuators, tendons, sensors and keyframes are honoured, row by row.

The page for MuJoCo's users has these rows, and tests hold them against the reader.
"""

from __future__ import annotations

from kinetree.model.formats.honoured import Feature

HONOURED = (
    Feature(
        "`motor`, `position`, `velocity`, `damper`", True, "`Actuator` with an affine gain and bias"
    ),
    Feature(
        "`intvelocity`, `cylinder`, `general` with `dyntype`", True, "`Actuator` with an activation"
    ),
    Feature("`muscle`", True, "`Actuator` with `MuscleGain`, `MuscleBias`, `MuscleActivation`"),
    Feature(
        "`lengthrange`", True, "that of its muscle; found by simulation where the file has none"
    ),
    Feature("`joint`, `jointinparent`, `gear`", True, "`JointTransmission`"),
    Feature("`tendon` of an actuator", True, "`TendonTransmission`"),
    Feature("`site`, `refsite`", True, "`SiteTransmission`"),
    Feature("`slidersite`, `cranksite`, `cranklength`", True, "`SliderCrank`"),
    Feature("`ctrlrange`, `forcerange`, `actrange`", True, "bounds, in MuJoCo's order"),
    Feature("`actuatorfrcrange` of a joint", True, "its effort limit, the larger side"),
    Feature("`range` of a ball joint", True, "`BallRange`; acts in steps with contact"),
    Feature("`springyield`, polynomial `stiffness`, `damping`", False, "left out, with a warning"),
    Feature("`eulerdamp` of `flag`", True, 'damping in `"implicit-damping"` steps'),
    Feature("`actearly`", True, "the force of the activation at the end of the step"),
    Feature("`adhesion`, `body`", True, "`Adhesion`, in steps with contact"),
    Feature("`plugin`, user dynamics", False, "left out, with a warning"),
    Feature(
        "`armature`, `damping` of an actuator", True, "part of its joint's drive, or of its tendon"
    ),
    Feature("`fixed` tendon", True, "`FixedTendon`"),
    Feature("`spatial`: `site`, `pulley`, `geom`, `sidesite`", True, "`SpatialTendon`"),
    Feature("`stiffness`, `springlength`, `damping`", True, "part of all dynamics"),
    Feature("`frictionloss` of a tendon", True, "dry friction, soft in steps with contact"),
    Feature("`armature` of a fixed tendon", True, "part of the mass matrix"),
    Feature("`actuatorfrcrange` of a tendon", True, "bounds the sum of its actuators' forces"),
    Feature("`armature` of a spatial tendon", False, "left out, with a warning"),
    Feature("`range` of a tendon", True, "a soft limit in steps with contact, as of joints"),
    Feature("sensors of sites and frames", True, "`Sensor`, the same numbers"),
    Feature("sensors of joints, tendons, actuators", True, "`Sensor`, the same numbers"),
    Feature("sensors of subtrees and energy", True, "`Sensor`, the same numbers"),
    Feature("`touch`", True, "`Sensor`; at given accelerations no problem is solved"),
    Feature(
        "`rangefinder` of a site", True, "`Sensor`; of a mesh with over 2,000 triangles the hull"
    ),
    Feature("`jointlimitpos`, `tendonlimitfrc` and the like", True, "`Sensor`, the same numbers"),
    Feature("`contact`: all `data` and `reduce`", True, "`Sensor` with a `Watch`"),
    Feature("`rangefinder` of a camera, `plugin`, `user`", False, "left out, with a note"),
    Feature("`distance`, `normal`, `fromto` of geoms", False, "left out, with a note"),
    Feature("`insidesite`, `camprojection`, `clock`", False, "left out, with a note"),
    Feature("`key`: `qpos`, `qvel`, `act`, `ctrl`", True, "`robot.keyframes[name]`"),
    Feature("`ref` of a joint, `pos` of a free body", True, '`robot.keyframes["reference"]`'),
    Feature("`numeric` of `custom`", True, "`robot.model.equipment.numerics`"),
    Feature("`gravcomp` of a body", True, "`Compensation`: part of all dynamics"),
    Feature(
        "`density`, `viscosity`, `wind`", True, "`FluidBox` of each body: part of all dynamics"
    ),
    Feature("`fluidshape`, `fluidcoef` of a geom", True, "`FluidEllipsoid`: part of all dynamics"),
    Feature("`actuatorgravcomp` of a joint", False, "its compensation is passive, with a note"),
)
"""The rows, in the order of the page."""
