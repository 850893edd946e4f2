"""Pinocchio as an oracle: its models, and our states in its coordinates."""

import sysconfig
from pathlib import Path

import numpy as np
import pinocchio as pin

ROBOTS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"


def urdf_files() -> list[str]:
    """Every URDF file of example-robot-data, relative to its folder."""
    return sorted(p.relative_to(ROBOTS).as_posix() for p in ROBOTS.rglob("*.urdf"))


def load(file: str, base: str = "fixed", mimic: bool = False) -> pin.Model:
    path = str(ROBOTS / file)
    if base == "floating":
        return pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer(), mimic)
    return pin.buildModelFromUrdf(path, mimic)


def coordinates(model: pin.Model, q: np.ndarray) -> np.ndarray:
    """Our configuration as Pinocchio's: its continuous joints are a cosine and a sine."""
    parts, at = [], 0
    for joint in list(model.joints)[1:]:
        if joint.shortname() == "JointModelMimic":  # it has no coordinate of its own
            continue
        if joint.shortname().startswith("JointModelRUB"):
            parts += [np.cos(q[at]), np.sin(q[at])]
            at += 1
        else:
            parts += list(q[at : at + joint.nq])
            at += joint.nq
    assert at == len(q)
    return np.array(parts)
