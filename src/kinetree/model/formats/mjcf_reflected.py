"""What the actuators of a compiled MuJoCo model add to joints and tendons: rotors and damping.

A rotor behind a gear counts gear squared times. MuJoCo adds both to what the joint or the tendon
has of its own, also where actuators are switched off; of a joint with several velocities it takes
the first number of the gear for all of them.
"""

from __future__ import annotations

from typing import Any

AT_JOINT, IN_PARENT, AT_TENDON = 0, 1, 3  # mjtTrn


def reflected(m: Any, what: str, field: str, i: int) -> float:
    """What actuators add to a number of a joint or a tendon.

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
