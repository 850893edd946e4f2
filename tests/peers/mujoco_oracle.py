"""MuJoCo as an oracle: our states in its coordinates, its results in ours."""

import re
import tempfile
from pathlib import Path

import mujoco
import numpy as np

import kinetree as kt
from kinetree.model.joints import Mimic


def rotation(quat_wxyz) -> np.ndarray:
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, quat_wxyz)
    return R.reshape(3, 3)


def homogeneous(R, p) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = np.reshape(R, (3, 3)), p
    return X


def mjcf_of_urdf(file: Path) -> str:
    """What MuJoCo makes of a URDF file, without its shapes."""
    text = re.sub(r"<!--.*?-->", "", file.read_text(), flags=re.DOTALL)
    text = re.sub(r"<(visual|collision)\b.*?</\1>", "", text, flags=re.DOTALL)
    m = mujoco.MjModel.from_xml_string(text)
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "saved.xml"
        mujoco.mj_saveLastXML(str(saved), m)
        return saved.read_text()


class Peer:
    """A robot's MuJoCo model, in which every joint stands as in ours.

    Quaternions are (w x y z) there, the linear velocity of a free joint is in the world's axes, and
    a joint that follows another has coordinates of its own: v_mujoco = T(q) v. Contacts, limits and
    equalities are switched off; dry friction, which is such a constraint there, is added here.
    """

    def __init__(self, robot: kt.Robot, m: mujoco.MjModel) -> None:
        self.robot, self.m, self.d = robot, m, mujoco.MjData(m)
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        m.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
        bodies = robot.model.bodies
        followers = {b.joint_name: i for i, b in enumerate(bodies) if b.follows is not None}
        own = iter(robot.model.coordinate_order)
        names = [m.joint(j).name for j in range(m.njnt)]
        self.numbers = [followers[n] if n in followers else next(own) for n in names]

    def move_to(self, q, v) -> None:
        m, d, model = self.m, self.d, self.robot.model
        self.T, self.T_rate_v = np.zeros((m.nv, self.robot.nv)), np.zeros(m.nv)
        for j, i in enumerate(self.numbers):
            at, dof = m.jnt_qposadr[j], m.jnt_dofadr[j]
            joint, v_slice = model.bodies[i].joint, model.v_slices[i]
            own, speed = q[model.q_slices[i]], v[v_slice]
            T = np.eye(joint.nv)
            if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE:
                own = own[[0, 1, 2, 6, 3, 4, 5]]
                T[:3, :3] = rotation(own[3:])
                turning = np.cross(speed[3:], speed[:3])
                self.T_rate_v[dof : dof + 3] = T[:3, :3] @ turning
            elif m.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL:
                own = own[[3, 0, 1, 2]]
            elif isinstance(joint, Mimic):
                own, T = joint.multiplier * own + joint.offset, T * joint.multiplier
            d.qpos[at : at + len(own)] = own
            self.T[dof : dof + joint.nv, v_slice] = T
        d.qvel[:] = self.T @ v
        mujoco.mj_fwdPosition(m, d)
        mujoco.mj_fwdVelocity(m, d)

    def mass_matrix(self) -> np.ndarray:
        columns = np.zeros((self.robot.nv, self.m.nv))
        for column, motion in zip(columns, self.T.T.copy(), strict=True):
            mujoco.mj_mulM(self.m, self.d, column, motion)
        return self.T.T @ columns.T

    def inverse_dynamics(self, a) -> np.ndarray:
        self.d.qacc[:] = self.T @ a + self.T_rate_v
        mujoco.mj_inverse(self.m, self.d)
        friction = self.m.dof_frictionloss * np.sign(self.d.qvel)
        return self.T.T @ (self.d.qfrc_inverse + friction)

    def jacobians(self) -> dict[str, np.ndarray]:
        """The Jacobian of every body that has a name, at its origin in the world's axes."""
        found = {}
        for i in range(1, self.m.nbody):
            J = np.zeros((2, 3, self.m.nv))
            mujoco.mj_jacBody(self.m, self.d, J[0], J[1], i)
            found[self.m.body(i).name] = J.reshape(6, -1) @ self.T
        found.pop("", None)
        return found

    def center_of_mass(self) -> tuple[np.ndarray, np.ndarray]:
        """Of all bodies, and its Jacobian, those that stand still left out."""
        m, d = self.m, self.d
        J, total, moment = np.zeros((3, m.nv)), 0.0, np.zeros(3)
        for i in range(1, m.nbody):
            own = np.zeros((3, m.nv))
            mujoco.mj_jacBodyCom(m, d, own, None, i)
            if m.body_weldid[i] != 0 and m.body_mocapid[m.body_rootid[i]] < 0:
                total += m.body_mass[i]
                moment += m.body_mass[i] * d.xipos[i]
                J += m.body_mass[i] * own
        return moment / total, J @ self.T / total

    def kinetic_energy(self) -> float:
        """Of bodies and rotors."""
        product = np.zeros(self.m.nv)
        mujoco.mj_mulM(self.m, self.d, product, self.d.qvel)
        return 0.5 * float(product @ self.d.qvel)

    def potential_energy(self) -> float:
        """In the gravity field, and of the springs; what stands still counts there, too."""
        mujoco.mj_energyPos(self.m, self.d)
        return float(self.d.energy[0])

    def poses(self) -> dict[str, np.ndarray]:
        """The pose of every body and site that has a name."""
        m, d = self.m, self.d
        found = {
            m.site(i).name: homogeneous(d.site_xmat[i], d.site_xpos[i]) for i in range(m.nsite)
        }
        found |= {m.body(i).name: homogeneous(d.xmat[i], d.xpos[i]) for i in range(m.nbody)}
        found.pop("", None)
        return found
