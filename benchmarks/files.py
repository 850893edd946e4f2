"""Robots as their files describe them: every MJCF and SDF file of installed packages beside its own
simulator or parser.

    python -m benchmarks.files --only mjcf --package gymnasium dm_control mujoco
    python -m benchmarks.files --only sdf                # Drake's parser, where it is installed
    python -m benchmarks.files --only sdf --package pybullet_data models/of/mine
    python -m benchmarks.files --only rollout            # controls of actuators against torques
    python -m tools.fuzz_files --count 50000             # damaged SDF and xacro files

MJCF: joint forces of actuators, rates of activations, lengths and moment arms of tendons, sensors
and passive forces at random states, and a motion of one second under random controls. Constraints
are switched off, so that all of it is a function of the state. Differences are relative to the
largest number of a result, or to one.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import kinetree as kt
from kinetree.errors import SimulationWarning
from kinetree.robot.load import check_file
from kinetree.robot.servo_step import warn_of_gains

STATES, MANY = 100, 60
"""Random states; a tenth of them for robots with more velocities than `MANY`."""
AGREEMENT, MOTION, NUDGE = 1e-9, 1e-8, 1e-15
LARGEST, HALVINGS = 60, 8
"""Velocities: larger robots are not moved. And how often a step is halved."""
OTHERWISE = "it sees the hull", "it does not see"
"""Beginnings of notes on what rays meet otherwise than in MuJoCo."""
QUANTITIES = ("actuator", "act_dot", "ten_length", "ten_J", "sensors", "passive")


def folder_of(package: str) -> Path:
    """The folder of a package that is installed, or the folder that is named."""
    if Path(package).is_dir():
        return Path(package).resolve()
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise SystemExit(f"package {package!r} is not installed")
    return Path(next(iter(found.submodule_search_locations)))


def mjcf_files(package: str) -> list[tuple[Path, Path]]:
    """The files of a package, or of a folder, that are whole MJCF documents; with the folder."""
    folder = folder_of(package)
    texts = ((file, file.read_text(errors="replace")) for file in sorted(folder.rglob("*.xml")))
    whole = [file for file, text in texts if "<mujoco" in text and "<mujocoinclude" not in text]
    return [(file, folder) for file in whole]


def unstable(robot: kt.Robot, dt: float) -> bool:
    """Whether a simulation would warn that a servo is unstable at a step."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", SimulationWarning)
        warn_of_gains(robot, robot.neutral(), dt)
    return bool(said)


class Beside:
    """A robot here and in MuJoCo, at random states with random controls."""

    def __init__(self, file: Path, folder: Path, most: int) -> None:
        import mujoco
        from tests.peers.mujoco_oracle import Peer

        self.mujoco, self.file, self.halvings, self.nudged = mujoco, file, 0, 0.0
        self.m = mujoco.MjModel.from_xml_path(str(file))
        if self.m.nv > most:
            raise ValueError(f"{self.m.nv} velocities")
        with warnings.catch_warnings(record=True) as self.said:
            warnings.simplefilter("always")
            self.robot = kt.load(file, contact=False, mimic=False, folder=folder)
        self.peer = Peer(self.robot, self.m)
        robot, rng = self.robot, np.random.default_rng(0)
        count = STATES if robot.nv <= MANY else STATES // 10
        self.q = robot.random(rng, count)
        self.v, self.a = rng.normal(size=(2, count, robot.nv))
        self.act = rng.uniform(size=(count, self.m.na))
        self.ctrl = np.zeros((count, self.m.nu))
        names = [self.m.actuator(i).name or f"actuator{i}" for i in range(self.m.nu)]
        self.read = [names.index(name) for name in robot.actuation.names]
        self.ctrl[:, self.read] = rng.normal(size=(count, len(self.read)))

    def theirs(self) -> dict[str, np.ndarray]:
        """The results of MuJoCo, as our velocities feel them."""
        from tests.peers.equipped_mjcf import tendon_jacobian

        m, d, peer = self.m, self.peer.d, self.peer
        found: dict[str, list[Any]] = {name: [] for name in QUANTITIES}
        for q, v, a, act, ctrl in zip(self.q, self.v, self.a, self.act, self.ctrl, strict=True):
            peer.move_to(q, v)
            d.ctrl[:], d.act[:] = ctrl, act
            self.mujoco.mj_fwdActuation(m, d)
            d.qacc[:] = peer.T @ a + peer.T_rate_v
            self.mujoco.mj_rnePostConstraint(m, d)
            for stage in ("mj_sensorPos", "mj_sensorVel", "mj_sensorAcc"):
                getattr(self.mujoco, stage)(m, d)
            found["actuator"].append(peer.T.T @ d.qfrc_actuator)
            found["act_dot"].append(d.act_dot.copy())
            found["ten_length"].append(d.ten_length.copy())
            found["ten_J"].append(tendon_jacobian(m, d) @ peer.T)
            found["sensors"].append(d.sensordata.copy())
            found["passive"].append(peer.T.T @ d.qfrc_passive)
        return {name: np.array(values) for name, values in found.items()}

    def ours(self) -> dict[str, np.ndarray]:
        """The same here; what a robot does not have is left out."""
        robot, q, v = self.robot, self.q, self.v
        act, ctrl = self.act if self.m.na else None, self.ctrl[:, self.read]
        found = {"passive": robot.actuation.passive_forces(q, v)}
        if robot.actuation.nu:
            found["actuator"] = robot.actuation.forces(q, v, act, ctrl)
        if robot.actuation.na and robot.actuation.na == self.m.na:
            found["act_dot"] = robot.actuation.activation_rates(act, ctrl)
        if robot.tendons.names:
            found["ten_length"] = robot.tendons.lengths(q)
            found["ten_J"] = robot.tendons.jacobian(q)
        if robot.sensors.names:
            found["sensors"] = robot.sensors(q, v, self.a, act, ctrl)
        return found

    def sensors(self, ours: np.ndarray, theirs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the sensors that are read; quaternions with one sign."""
        columns: list[np.ndarray] = []
        at = 0
        for sensor in self.robot.model.equipment.sensors:
            start = self.m.sensor_adr[self._numbers[sensor.name]]
            part = theirs[:, start : start + sensor.size]
            if sensor.name in self.blind:  # its ray meets something else, as a note says
                part = ours[:, at : at + sensor.size]
            if sensor.kind.endswith("quat"):
                product = (ours[:, at : at + sensor.size] * part).sum(-1, keepdims=True)
                part = part * np.sign(product)
            columns.append(part)
            at += sensor.size
        return ours, np.concatenate(columns, axis=1)

    @property
    def _numbers(self) -> dict[str, int]:
        """Of the sensors in MuJoCo, by name."""
        return {self.m.sensor(i).name or f"sensor{i}": i for i in range(self.m.nsensor)}

    @property
    def blind(self) -> set[str]:
        """The rangefinders that see shapes of many triangles otherwise than in MuJoCo."""
        rays = [x.name for x in self.robot.model.equipment.sensors if x.kind == "rangefinder"]
        if not rays:
            return set()
        said = [x.element for x in check_file(self.file) if x.message.startswith(OTHERWISE)]
        return {name for name in rays if f"sensor {name!r}" in said}

    def differences(self) -> dict[str, float]:
        """Of each quantity that both have."""
        ours, theirs = self.ours(), self.theirs()
        found = {}
        for name, values in ours.items():
            pair = (values, theirs[name])
            mine, other = self.sensors(*pair) if name == "sensors" else pair
            found[name] = float(np.abs(mine - other).max() / (1.0 + np.abs(other).max()))
        return found

    def motion(self, seconds: float = 1.0) -> float:
        """The difference of coordinates after a motion under random controls, by Euler's method.

        A servo that is unstable at the file's step makes rounding errors as large as its motion:
        the step is halved until it is stable, and until MuJoCo's motion does not diverge.
        `nudged` is how far MuJoCo's own motion ends from itself if it starts with velocities that
        differ by `NUDGE`: chaotic motions cannot agree better than that.
        """
        m, robot = self.m, self.robot.without("friction", "constraints")
        m.opt.integrator = self.mujoco.mjtIntegrator.mjINT_EULER
        while unstable(robot, m.opt.timestep):
            m.opt.timestep /= 2
            self.halvings += 1
        found = self._moved(robot, seconds)
        while np.isnan(found) and self.halvings < HALVINGS:
            m.opt.timestep /= 2
            self.halvings += 1
            found = self._moved(robot, seconds)
        return found

    def _moved(self, robot: kt.Robot, seconds: float) -> float:
        """The difference after a motion at the step of the model; NaN if MuJoCo's diverges."""
        from tests.peers.mujoco_oracle import Peer

        m = self.m
        steps, rng = round(seconds / m.opt.timestep), np.random.default_rng(1)
        ctrl = np.zeros((steps, m.nu))
        ctrl[:, self.read] = 0.1 * rng.normal(size=(steps, len(self.read)))
        placed = robot.keyframes.get("reference")
        q0 = robot.neutral() if placed is None else placed.q
        v0 = 0.1 * rng.normal(size=robot.nv)
        given = {"ctrl": ctrl[:, self.read], "series": True} if self.read else {}
        moved = robot.simulate(
            q0,
            v0,
            time=steps * m.opt.timestep,
            dt=m.opt.timestep,
            method="implicit-damping",
            every=steps,
            **given,  # type: ignore[arg-type]
        )
        peer, end = self.peer, Peer(robot, m)
        ends = []
        for start in (v0 * (1 + NUDGE), v0):
            self.mujoco.mj_resetData(m, peer.d)
            peer.move_to(q0, start)
            for u in ctrl:
                peer.d.ctrl[:] = u
                self.mujoco.mj_step(m, peer.d)
            ends.append(peer.d.qpos.copy())
        if not np.isfinite(peer.d.qpos).all() or np.abs(peer.d.qvel).max() > 1e6:
            return np.nan
        end.move_to(moved.q[-1], moved.v[-1])
        scale = 1.0 + np.abs(peer.d.qpos).max()
        self.nudged = float(np.abs(ends[1] - ends[0]).max() / scale)
        return float(np.abs(end.d.qpos - peer.d.qpos).max() / scale)


def compare_mjcf(files: list[tuple[Path, Path]], motions: bool, most: int) -> int:
    """Print a row for each file; how many miss."""
    print(f"{'file':44}{'nv':>4}" + "".join(f"{name:>11}" for name in QUANTITIES) + "     motion")
    missed = 0
    for file, folder in files:
        label, start = "/".join(file.parts[-3:])[-43:], time.process_time()
        try:
            pair = Beside(file, folder, most)
            found = pair.differences() if pair.robot.nv else {}
            small = motions and 0 < pair.robot.nv <= LARGEST
            moved = pair.motion() if small else None
        except Exception as e:  # a row, not the end of the table
            print(f"{label:44}skipped: {type(e).__name__}: {' '.join(str(e).split())[:90]}")
            continue
        said = [str(x.message) for x in pair.said]
        lost = [x for x in said if "takes no" in x or "not known" in x]
        shown = [f"{found[x]:11.1e}" if x in found else f"{'-':>11}" for x in QUANTITIES]
        row = f"{label:44}{pair.robot.nv:4}" + "".join(shown)
        row += f"{moved:11.1e}" if moved is not None else f"{'-':>11}"
        bad = any(x > AGREEMENT for x in found.values())
        bad |= moved is not None and not moved <= max(MOTION, 10 * pair.nudged)
        missed += bad
        seconds = time.process_time() - start
        unread = pair.m.nsensor - len(pair.robot.sensors.names)
        notes = [f"{unread} sensors unread"] * bool(unread)
        notes += [f"{pair.halvings} halvings of an unstable step"] * bool(pair.halvings)
        if moved is not None and moved > MOTION:
            notes += [f"MuJoCo's own motion differs by {pair.nudged:.1e} after a nudge of {NUDGE}"]
        notes += [f"{len(pair.blind)} rays meet other shapes"] * bool(pair.blind)
        notes += [lost[0][-90:]] if lost else []
        print(row + "  MISS" * bad + f" {seconds:5.0f} s  " + "; ".join(notes), flush=True)
    return missed


def compare_sdf(packages: list[str] | None) -> int:
    """Mass matrices, gravity forces and poses of SDF files beside Drake's parser."""
    from benchmarks.files_sdf import compare, sdf_files

    return compare(sdf_files([folder_of(x) for x in packages or ()]))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.files", description=__doc__)
    parser.add_argument("--only", choices=("mjcf", "sdf", "rollout"), default="mjcf")
    parser.add_argument("--package", nargs="+", help="packages or folders")
    parser.add_argument("--match", default="", help="only files whose path has this in it")
    parser.add_argument("--no-motion", action="store_true")
    parser.add_argument("--most", type=int, default=200, help="velocities of a robot")
    given = parser.parse_args()
    if given.only == "rollout":
        from benchmarks.rollouts import actuated

        print(actuated())
        return
    if given.only == "sdf":
        raise SystemExit(compare_sdf(given.package) > 0)
    packages = given.package or ["mujoco", "gymnasium", "dm_control"]
    files = [x for name in packages for x in mjcf_files(name) if given.match in str(x[0])]
    raise SystemExit(compare_mjcf(files, not given.no_motion, given.most) > 0)


if __name__ == "__main__":
    main()
