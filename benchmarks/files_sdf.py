"""SDF files of installed packages beside Drake's parser: M, gravity and the poses of all frames.

    python -m benchmarks.files --only sdf

Drake has no loops: the joints that close them, which are constraints here, are taken out of what
Drake reads. Drake replaces inertias that no body can have; robots with such are marked.
"""

from __future__ import annotations

import importlib.util
import logging
import re
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import kinetree as kt
from kinetree.robot.load import check_file

PACKAGES = ("pydrake", "pybullet_data")
STATES, AGREEMENT = 20, 1e-9


def sdf_files(given: list[Path]) -> list[Path]:
    """The SDF files of some folders; of the packages that are installed if none is given."""
    if given:
        return sorted({file.resolve() for folder in given for file in folder.rglob("*.sdf")})
    shared = (Path(x) / "cmeel.prefix/share/example-robot-data" for x in sys.path)
    folders = [folder for folder in shared if folder.is_dir()]
    for package in PACKAGES:
        found = importlib.util.find_spec(package)
        if found is not None and found.submodule_search_locations:
            folders.append(Path(next(iter(found.submodule_search_locations))))
    files = {file.resolve() for folder in folders for file in folder.rglob("*.sdf")}
    return sorted(files)


def plant_of(file: Path, robot: kt.Robot, held: list[str]) -> Any:
    """Drake's model of a file, without what closes loops, its base where ours is.

    Arguments:
        held: the links that are free, which are welded to the world.
    """
    from pydrake.math import RigidTransform
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    text = file.read_text(errors="replace")
    for constraint in robot.model.constraints:
        name = re.escape(constraint.name)
        text = re.sub(rf"<joint name=.{name}. .*?</joint>", "", text, flags=re.DOTALL)
    plant = MultibodyPlant(0.0)
    with tempfile.NamedTemporaryFile("w", suffix=".sdf") as copy:
        copy.write(text)
        copy.flush()
        parser = Parser(plant)
        parser.SetAutoRenaming(True)
        parser.AddModels(copy.name)
    if not any(j.parent_body().name() == "world" for j in _joints(plant)):
        for name in held or [f.name for f in robot.model.frames if f.body < 0][:1]:
            pose = RigidTransform(robot.pose(robot.neutral(), name))
            plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(name), pose)
    plant.Finalize()
    return plant


def _joints(plant: Any) -> list[Any]:
    return [plant.get_joint(i) for i in plant.GetJointIndices()]


def _placed(plant: Any, context: Any, robot: kt.Robot, q: np.ndarray) -> np.ndarray:
    """The matrix from our velocities to Drake's, after its joints stand as ours.

    A ball joint has roll, pitch and yaw there, and its velocity is in the axes of the parent.
    """
    from pydrake.common.eigen_geometry import Quaternion
    from pydrake.math import RollPitchYaw, RotationMatrix

    T, positions = np.zeros((robot.nv, robot.nv)), np.zeros(plant.num_positions())
    for i in robot.model.coordinate_order:
        body = robot.model.bodies[i]
        joint = plant.GetJointByName(body.joint_name.split("::")[-1])
        own, rows, turn = q[robot.model.q_slices[i]], joint.velocity_start(), np.eye(1)
        if joint.type_name() == "ball_rpy":
            x, y, z, w = own
            turn = RotationMatrix(Quaternion(np.array([w, x, y, z]) / np.linalg.norm(own))).matrix()
            own = RollPitchYaw(RotationMatrix(turn)).vector()
        start = joint.position_start()
        positions[start : start + len(own)] = own
        T[rows : rows + len(turn), robot.model.v_slices[i]] = turn
    plant.SetPositions(context, positions)
    return T


def difference(file: Path) -> tuple[int, list[float]]:
    """Velocities; differences of M, gravity and poses, relative to the largest number."""
    robot = kt.load(file, mimic=False)
    free = [b for b in robot.model.bodies if b.joint_name.endswith("_free")]
    if free:
        places = {b.joint_name: b.joint.neutral() for b in free}
        robot = kt.load(file, mimic=False, locked=places)
    plain = robot.without("springs", "constraints")
    plant = plant_of(file, robot, [b.name for b in free])
    context = plant.CreateDefaultContext()
    if plant.num_velocities() != robot.nv:
        raise ValueError(f"Drake has {plant.num_velocities()} velocities, {robot.nv} are here")
    worst = [0.0, 0.0, 0.0]
    for q in robot.random(0, STATES):
        pairs = [(np.zeros(1), np.zeros(1))] * 2  # of models that stand still
        if robot.nv:
            T = _placed(plant, context, robot, q)
            M = T.T @ plant.CalcMassMatrix(context) @ T
            gravity = -T.T @ plant.CalcGravityGeneralizedForces(context)
            pairs = [(plain.mass_matrix(q), M), (plain.gravity_forces(q), gravity)]
        for frame in robot.frames:
            name = frame.split("::")[-1]
            if plant.HasFrameNamed(name):
                pose = plant.GetFrameByName(name).CalcPoseInWorld(context).GetAsMatrix4()
                pairs.append((robot.pose(q, frame), pose))
        for k, (ours, theirs) in enumerate(pairs):
            off = np.abs(ours - theirs).max() / (1.0 + np.abs(theirs).max())
            worst[min(k, 2)] = max(worst[min(k, 2)], float(off))
    return robot.nv, worst


def compare(files: list[Path]) -> int:
    """Print a row for each file; how many miss."""
    warnings.simplefilter("ignore")
    logging.getLogger("drake").setLevel(logging.ERROR)
    print(f"{'file':52}{'nv':>4}{'M':>10}{'gravity':>10}{'poses':>10}")
    missed = 0
    for file in files:
        label = "/".join(file.parts[-3:])[-51:]
        try:
            nv, found = difference(file)
        except Exception as e:  # a row, not the end of the table
            print(f"{label:52}skipped: {type(e).__name__}: {' '.join(str(e).split())[:100]}")
            continue
        lost = [x for x in check_file(file) if x.severity == "error" or "moments" in x.message]
        bad = max(found) > AGREEMENT
        missed += bad
        note = f"  {lost[0].message[:60]}" if lost and bad else ""
        print(f"{label:52}{nv:4}" + "".join(f"{x:10.1e}" for x in found) + "  MISS" * bad + note)
    return missed
