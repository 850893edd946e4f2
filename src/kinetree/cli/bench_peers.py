"""Other libraries beside Kinetree: their functions, our states in their coordinates and back.

Coordinates are converted outside of what is timed. Joints are found by their names, so their order
may differ. Pinocchio has a cosine and a sine for an angle without limits. MuJoCo has quaternions
(w x y z), the linear velocity of a free body in the world's axes, and coordinates of its own for a
joint that mimics another: v_mujoco = T(q) v.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from kinetree.errors import ModelWarning
from kinetree.model.formats.write_mjcf import write_mjcf
from kinetree.model.formats.write_urdf import write_urdf
from kinetree.robot import Robot
from kinetree.typing import Array

Calls = dict[str, Callable[..., Any]]


class Peer(ABC):
    """A robot in another library.

    calls: its functions by the names of quantities; each takes what `enter` returns.
    missing: why a quantity is not among them.
    """

    calls: Calls
    missing: dict[str, str]

    @abstractmethod
    def enter(self, quantity: str, state: list[Array]) -> list[Array]:
        """The arguments of a quantity in the library's coordinates."""

    @abstractmethod
    def leave(self, quantity: str, result: Array) -> Array:
        """A result in our coordinates, of the state that was entered last."""


class Pinocchio(Peer):
    """Pinocchio's functions, on the robot written as URDF."""

    def __init__(self, robot: Robot) -> None:
        import pinocchio as pin

        bodies = robot.model.bodies
        self._robot, self._model = robot, _pinocchio_model(pin, robot)
        self._model.gravity.linear = robot.gravity
        number = {b.joint_name: i for i, b in enumerate(bodies)}
        joints = [(name, self._model.joints[k]) for k, name in enumerate(self._model.names) if k]
        self._joints = [(j, number[name]) for name, j in joints if _owns(j)]
        self._T: Array = np.zeros((self._model.nv, robot.nv))
        for joint, i in self._joints:
            ratio = 1.0 if bodies[i].follows is None else bodies[i].joint.transmission[1]
            at = slice(joint.idx_v, joint.idx_v + joint.nv)
            self._T[at, robot.model.v_slices[i]] = ratio * np.eye(joint.nv)
        self.calls = self._functions(pin)
        self.missing = {}
        if any(b.follows is not None for b in bodies):
            del self.calls["forward_dynamics"]
            self.missing["forward_dynamics"] = "it has none for joints that mimic others"

    def _functions(self, pin: Any) -> Calls:
        model, data = self._model, self._model.createData()
        upper = np.triu_indices(model.nv, 1)

        def mass_matrix(q: Array) -> Array:
            M = pin.crba(model, data, q)
            M.T[upper] = M[upper]
            return M

        return {
            "inverse_dynamics": lambda q, v, a: pin.rnea(model, data, q, v, a),
            "forward_dynamics": lambda q, v, tau: pin.aba(model, data, q, v, tau),
            "mass_matrix": mass_matrix,
        }

    def enter(self, quantity: str, state: list[Array]) -> list[Array]:
        q, model = np.empty(self._model.nq), self._robot.model
        for joint, i in self._joints:
            own = state[0][model.q_slices[i]]
            if model.bodies[i].follows is not None:
                _, ratio, offset = model.bodies[i].joint.transmission
                own = ratio * own + offset
            if (joint.nq, joint.nv) == (2, 1):
                own = np.array([np.cos(own[0]), np.sin(own[0])])
            q[joint.idx_q : joint.idx_q + joint.nq] = own
        return [q, *(self._T @ x for x in state[1:])]

    def leave(self, quantity: str, result: Array) -> Array:
        found: Array = self._T.T @ result
        return found @ self._T if found.ndim == 2 else found


def _pinocchio_model(pin: Any, robot: Robot) -> Any:
    """The robot in Pinocchio, with joints that mimic others if it takes them, or else without."""
    text = _written(write_urdf, robot)
    free = [b for b in robot.model.bodies if b.parent < 0 and b.joint.nq == 7]
    root = (pin.JointModelFreeFlyer(), free[0].joint_name) if len(free) == 1 else ()
    try:
        return pin.buildModelFromXML(text, *root, True)
    except (RuntimeError, ValueError):  # of a joint that mimics one on another branch
        return pin.buildModelFromXML(text, *root, False)


def _owns(joint: Any) -> bool:
    """Whether a joint of Pinocchio has coordinates of its own."""
    return joint.nv > 0 and joint.shortname() != "JointModelMimic"


class MuJoCo(Peer):
    """MuJoCo's functions, on the robot written as MJCF, without contacts and constraints."""

    def __init__(self, robot: Robot) -> None:
        import mujoco

        m = mujoco.MjModel.from_xml_string(_written(write_mjcf, robot))
        off = mujoco.mjtDisableBit
        m.opt.disableflags |= off.mjDSBL_CONSTRAINT | off.mjDSBL_CONTACT
        self._robot, self._m, self._mujoco = robot, m, mujoco
        bodies = {b.joint_name: i for i, b in enumerate(robot.model.bodies)}
        names = [m.joint(j).name for j in range(m.njnt)]
        strange = [name for name in names if name not in bodies]
        if strange or len(names) != len(bodies):
            raise ValueError("it splits a joint into several")
        self._bodies = [bodies[name] for name in names]
        self._T: Array = np.zeros((m.nv, robot.nv))
        self._rate: Array = np.zeros(m.nv)
        self.calls = self._functions(mujoco.MjData(m))
        self.missing = {}
        if m.nv != robot.nv:
            del self.calls["forward_dynamics"]
            self.missing["forward_dynamics"] = "it moves joints that mimic others by springs"

    def _functions(self, data: Any) -> Calls:
        mujoco, m = self._mujoco, self._m
        M = np.zeros((m.nv, m.nv))

        def inverse_dynamics(q: Array, v: Array, a: Array) -> Array:
            data.qpos, data.qvel, data.qacc = q, v, a
            mujoco.mj_inverse(m, data)
            return data.qfrc_inverse

        def forward_dynamics(q: Array, v: Array, tau: Array) -> Array:
            data.qpos, data.qvel, data.qfrc_applied = q, v, tau
            mujoco.mj_forward(m, data)
            return data.qacc

        def mass_matrix(q: Array) -> Array:
            data.qpos = q
            mujoco.mj_kinematics(m, data)
            mujoco.mj_comPos(m, data)
            mujoco.mj_makeM(m, data)
            mujoco.mj_fullM(m, data, M)
            return M

        return {
            "inverse_dynamics": inverse_dynamics,
            "forward_dynamics": forward_dynamics,
            "mass_matrix": mass_matrix,
        }

    def enter(self, quantity: str, state: list[Array]) -> list[Array]:
        q = self._positions(state[0], state[1] if len(state) > 1 else np.zeros(self._robot.nv))
        if quantity == "mass_matrix":
            return [q]
        v, x = self._T @ state[1], state[2]
        if quantity == "inverse_dynamics":
            return [q, v, self._T @ x + self._rate]
        return [q, v, np.linalg.solve(self._T.T, x)]

    def _positions(self, q: Array, v: Array) -> Array:
        """The configuration in MuJoCo's coordinates; sets T, and its rate times v."""
        model, m = self._robot.model, self._m
        found = np.empty(m.nq)
        self._T, self._rate = np.zeros((m.nv, self._robot.nv)), np.zeros(m.nv)
        for j, i in enumerate(self._bodies):
            joint, at, dof = model.bodies[i].joint, m.jnt_qposadr[j], m.jnt_dofadr[j]
            own, speed = q[model.q_slices[i]], v[model.v_slices[i]]
            T = np.eye(joint.nv)
            if joint.nq == 7:
                own = own[[0, 1, 2, 6, 3, 4, 5]]
                T[:3, :3] = self._rotation(own[3:])
                self._rate[dof : dof + 3] = T[:3, :3] @ np.cross(speed[3:], speed[:3])
            elif joint.nq == 4:
                own = own[[3, 0, 1, 2]]
            elif model.bodies[i].follows is not None:
                _, ratio, offset = joint.transmission
                own, T = ratio * own + offset, ratio * T
            found[at : at + len(own)] = own
            self._T[dof : dof + joint.nv, model.v_slices[i]] = T
        return found

    def _rotation(self, quat_wxyz: Array) -> Array:
        R = np.zeros(9)
        self._mujoco.mju_quat2Mat(R, quat_wxyz)
        return R.reshape(3, 3)

    def leave(self, quantity: str, result: Array) -> Array:
        T = self._T
        if quantity == "mass_matrix":
            found: Array = T.T @ result @ T
        elif quantity == "inverse_dynamics":
            found = T.T @ result
        else:
            found = np.linalg.solve(T, result - self._rate)
        return found


def _written(write: Callable[[Any], str], robot: Robot) -> str:
    """A robot as a file; what is lost has no part in its dynamics, or results differ."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return write(replace(robot.model, shapes=(), colliders=(), unread=()))


PEERS: dict[str, Callable[[Robot], Peer]] = {"pinocchio": Pinocchio, "mujoco": MuJoCo}
