"""The length ranges of muscles, which MuJoCo's compiler finds by simulation.

A muscle without `lengthrange` is pulled to both ends of its way. The compiler does that without end
if the simulation diverges, so it is told not to; here the number of steps is bounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kinetree.model.formats.xml import Element, brief

MUSCLE = 2  # mjtGain, mjtBias
MODES = ("none", "muscle", "muscleuser", "all")  # mjtLRMode
SWITCHES = ("useexisting", "uselimit")
NUMBERS = ("accel", "maxforce", "timeconst", "timestep", "inttotal", "interval", "tolrange")
OFF = ("FRICTIONLOSS", "CONTACT", "SPRING", "DAMPER", "PASSIVE", "GRAVITY", "ACTUATION")
"""The flags that MuJoCo's compiler sets for these simulations."""
TINY = 1e-300
MOST_WORK = 5e9
"""Steps, times the square of the numbers that a step solves for: half a minute at most."""


def is_muscle(m: Any, i: int) -> bool:
    """Whether the force of an actuator is that of a muscle."""
    return MUSCLE in (int(m.actuator_gaintype[i]), int(m.actuator_biastype[i]))


def has_range(m: Any, i: int) -> bool:
    """Whether the length range of an actuator is one."""
    low, high = m.actuator_lengthrange[i].tolist()
    return math.isfinite(high - low) and low < high


def find_length_ranges(mujoco: Any, m: Any, how: Any) -> None:
    """Enter the ranges of muscles that have none; those that no simulation finds stay empty.

    Arguments:
        mujoco: the package.
        m: a compiled model.
        how: the options of the simulations.
    """
    muscles = [i for i in range(m.nu) if is_muscle(m, i) and not has_range(m, i)]
    if not muscles:
        return
    limits = int(m.jnt_limited.sum()) + int(m.tendon_limited.sum())
    size = (m.nv + m.neq + limits) ** 2 + m.nbody + m.ngeom + m.nwrap
    steps = how.inttotal / max(how.timestep, TINY)
    if how.timestep <= 0 or 2 * len(muscles) * steps * size > MOST_WORK:
        return
    before = m.opt.disableflags, m.opt.timestep
    bits = [getattr(mujoco.mjtDisableBit, f"mjDSBL_{x}", 0) for x in (*OFF, "AUTORESET")]
    m.opt.disableflags, m.opt.timestep = sum({int(bit) for bit in bits}), how.timestep
    d = mujoco.MjData(m)
    for i in muscles:
        try:
            mujoco.mj_setLengthRange(m, d, i, how)
        except (ValueError, RuntimeError, mujoco.FatalError):  # it does not converge
            m.actuator_lengthrange[i] = 0.0
    m.opt.disableflags, m.opt.timestep = before


def length_range_options(mujoco: Any, given: Sequence[Element]) -> Any:
    """The options of these simulations.

    Arguments:
        mujoco: the package.
        given: the elements <lengthrange> of the document; the last ones count.

    Returns:
        MuJoCo's options.
    """
    how = mujoco.MjLROpt()
    mujoco.mj_defaultLROpt(how)
    for element in given:
        for key, value in element.attributes.items():
            if key == "mode" and value in MODES:
                how.mode = MODES.index(value)
            elif key in SWITCHES and value in ("true", "false"):
                setattr(how, key, int(value == "true"))
            elif key in NUMBERS:
                setattr(how, key, element.number(key))
            else:
                raise element.error(f"{key}={brief(value)!r}: MuJoCo has no such option")
    return how
