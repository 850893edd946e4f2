"""`kinetree bench`: speed on this computer, beside the peers that are installed."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kinetree.cli.timing import seconds
from kinetree.model.formats.write_urdf import write_urdf
from kinetree.quantities import calling
from kinetree.robot import Robot
from kinetree.typing import Array

QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
"""What is timed: in this order, of (q, v, a), (q, v, tau) and q."""
AGREEMENT = 1e-8
"""Relative: a peer whose results differ by more is not timed."""

Calls = dict[str, Callable[..., Any]]


class Row(NamedTuple):
    """The times of a quantity, s.

    one: of one call with one state.
    batch: of a state in a batch, on the threads that are set.
    peers: of one call of each peer that agrees, by name.
    """

    quantity: str
    one: float
    batch: float
    peers: dict[str, float]


def measure(robot: Robot, batch: int, total: float) -> tuple[list[Row], list[str]]:
    """Times of each quantity, and remarks on peers that were left out.

    Arguments:
        robot: what the peers leave out (rotors, friction, springs) is left out here, too.
        batch: how many states.
        total: how long to measure each time, s.
    """
    robot = robot.without("armature", "damping", "friction", "springs")
    rng = np.random.default_rng(0)
    q = robot.random(rng, batch)
    v, a = rng.standard_normal((2, batch, robot.nv))
    peers, remarks = _peers(robot)
    rows = []
    for quantity, arrays in zip(QUANTITIES, ((q, v, a), (q, v, a), (q,)), strict=True):
        state = [x[0].copy() for x in arrays]
        ours = attrgetter(calling(quantity))(robot)
        expected, out = ours(*state), ours(*arrays)
        times = {}
        for name, calls in peers.items():
            if _agrees(calls[quantity](*state), expected):
                times[name] = seconds(lambda f=calls[quantity], s=state: f(*s), total)  # type: ignore[misc]
            else:
                remarks.append(f"{name}: its {quantity} differs, so it is not timed")
        one = seconds(lambda f=ours, s=state: f(*s), total)  # type: ignore[misc]
        many = seconds(lambda f=ours, x=arrays, o=out: f(*x, out=o), total)  # type: ignore[misc]
        rows.append(Row(quantity, one, many / batch, times))
    return rows, remarks


def report(
    robot: Robot, rows: list[Row], remarks: list[str], batch: int, console: Console | None = None
) -> None:
    """Print times as a table."""
    console = console or Console(highlight=False)
    names = sorted({name for row in rows for name in row.peers})
    table = Table("quantity", "one call", *(f"{n}, one call" for n in names), box=None)
    for title in (f"batch of {batch:,}, a state", "states/s"):
        table.add_column(title)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        peers = (f"{row.peers[n] * 1e6:.2f} µs" if n in row.peers else "-" for n in names)
        rate = f"{1e-6 / row.batch:.2f} M"
        table.add_row(
            row.quantity, f"{row.one * 1e6:.2f} µs", *peers, f"{row.batch * 1e9:.0f} ns", rate
        )
    console.rule(f"[bold]{escape(robot.name)}[/]: {robot.nv} degrees of freedom")
    console.print(table)
    for remark in remarks:
        console.print(escape(remark))


def _agrees(theirs: Array, ours: Array) -> bool:
    scale = np.abs(ours).max() or 1.0
    return theirs.shape == ours.shape and bool(np.abs(theirs - ours).max() < AGREEMENT * scale)


def _peers(robot: Robot) -> tuple[dict[str, Calls], list[str]]:
    """The peers that are installed and take this robot, and remarks on the others."""
    found, remarks = {}, []
    for name, make in PEERS.items():
        try:
            found[name] = make(robot)
        except ImportError:
            remarks.append(f"{name} is not installed")
        except Exception as e:  # whatever another library raises
            remarks.append(f"{name} does not take this robot: {str(e).splitlines()[0]}")
    return found, remarks


def _pinocchio(robot: Robot) -> Calls:
    """Pinocchio's functions, on the robot written as URDF."""
    import pinocchio as pin

    model = pin.buildModelFromXML(write_urdf(robot.model))
    if (model.nq, model.nv) != (robot.nq, robot.nv):
        raise ValueError(f"its model has nq={model.nq}, nv={model.nv}")
    data, upper = model.createData(), np.triu_indices(robot.nv, 1)
    model.gravity.linear = robot.gravity

    def mass_matrix(q: Array) -> Array:
        M = pin.crba(model, data, q)
        M.T[upper] = M[upper]
        return M

    return {
        "inverse_dynamics": lambda q, v, a: pin.rnea(model, data, q, v, a),
        "forward_dynamics": lambda q, v, tau: pin.aba(model, data, q, v, tau),
        "mass_matrix": mass_matrix,
    }


def _mujoco(robot: Robot) -> Calls:
    """MuJoCo's functions, on the robot written as MJCF, without contacts and limits."""
    import mujoco

    from kinetree.model.formats.write_mjcf import write_mjcf

    if robot.nq != robot.nv:
        raise ValueError("its quaternions have a different order")
    model = mujoco.MjModel.from_xml_string(write_mjcf(robot.model))
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= off.mjDSBL_CONSTRAINT | off.mjDSBL_CONTACT
    data, M = mujoco.MjData(model), np.zeros((model.nv, model.nv))
    if _mujoco_order(mujoco, model) != list(robot.joints):
        raise ValueError("its joints have a different order")

    def inverse_dynamics(q: Array, v: Array, a: Array) -> Array:
        data.qpos, data.qvel, data.qacc = q, v, a
        mujoco.mj_inverse(model, data)
        return data.qfrc_inverse

    def forward_dynamics(q: Array, v: Array, tau: Array) -> Array:
        data.qpos, data.qvel, data.qfrc_applied = q, v, tau
        mujoco.mj_forward(model, data)
        return data.qacc

    def mass_matrix(q: Array) -> Array:
        data.qpos = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_fullM(model, data, M)
        return M

    return {
        "inverse_dynamics": inverse_dynamics,
        "forward_dynamics": forward_dynamics,
        "mass_matrix": mass_matrix,
    }


def _mujoco_order(mujoco: Any, model: Any) -> list[str]:
    kind = mujoco.mjtObj.mjOBJ_JOINT
    return [mujoco.mj_id2name(model, kind, k) for k in range(model.njnt)]


PEERS: dict[str, Callable[[Robot], Calls]] = {"pinocchio": _pinocchio, "mujoco": _mujoco}


def as_json(robot: Robot, rows: list[Row], remarks: list[str], batch: int) -> dict[str, Any]:
    """The same as values that JSON has; times in seconds."""
    return {
        "robot": robot.name,
        "nv": robot.nv,
        "batch": batch,
        "rows": [row._asdict() for row in rows],
        "remarks": remarks,
    }
