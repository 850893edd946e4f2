"""Armature and damping of a compiled MuJoCo model's actuators, reflected to joints and tendons.

Behind a gear both are multiplied by the gear squared. MuJoCo adds them to the joint's or tendon's
own values, even if actuators are switched off; for a joint with several velocities it uses the
first number of the gear for all of them.
"""

from __future__ import annotations

from typing import Any

AT_JOINT, IN_PARENT, AT_TENDON = 0, 1, 3  # mjtTrn


def reflected(m: Any, what: str, field: str, i: int) -> float:
    """The sum of the actuators' armature or damping, reflected to a joint or a tendon.

    Arguments:
        m: the model.
        what: "joint" or "tendon".
        field: "armature" or "damping".
        i: the number of the joint or the tendon.
    """
    own = getattr(m, f"actuator_{field}", None)
    if own is None:  # an older MuJoCo
        return 0.0
    kinds = (AT_JOINT, IN_PARENT) if what == "joint" else (AT_TENDON,)
    at = zip(m.actuator_trntype, m.actuator_trnid, strict=True)
    on = (k for k, (kind, target) in enumerate(at) if kind in kinds and target[0] == i)
    return sum(float(own[k] * m.actuator_gear[k][0] ** 2) for k in on)
