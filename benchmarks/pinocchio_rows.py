"""Kinetree and Pinocchio on the same states in the same process."""

from __future__ import annotations

import sysconfig
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

import kinetree as kt
from benchmarks.timing import on_the_quietest, seconds_in_turn, write_bandwidth
from kinetree.compiler.graph import Program, trace
from kinetree.compiler.graph.program import Node, Output
from kinetree.compiler.runtime.kernel import Kernel
from kinetree.model.formats.write_urdf import write_urdf
from kinetree.model.model import Limits
from kinetree.quantities import calling

ROBOTS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
BATCH = 10_000
AGREEMENT = 1e-10
TALOS_HAND = "gripper_left_base_link"
SUMS = 8  # in which results are added up where they are not written


@dataclass(frozen=True)
class Case:
    """A robot in both libraries."""

    name: str
    robot: kt.Robot
    peer: pin.Model
    frame: str
    """Where Jacobians are taken."""


@dataclass(frozen=True)
class Comparison:
    """One quantity: how each library computes it for one state."""

    quantity: str
    arguments: str
    called: str
    peer: Callable[..., Any]


@dataclass(frozen=True)
class Row:
    """One line of the table; times in seconds, of one state."""

    robot: str
    quantity: str
    called: str
    error: float
    one: float
    peer_one: float
    batch: float
    two_threads: float
    peer_loop: float
    write_fraction: float
    arithmetic: float
    """Of the same program with its results added up and not written."""
    writing: float
    """Of a kernel with results of the same shapes and next to no arithmetic."""

    @property
    def one_ratio(self) -> float:
        return self.peer_one / self.one

    @property
    def batch_ratio(self) -> float:
        return self.peer_loop / self.batch

    @property
    def thread_ratio(self) -> float:
        return self.batch / self.two_threads


def cases() -> list[Case]:
    """The robots: an arm of 7 joints with its fingers locked, a humanoid, fixed and floating."""
    panda = ROBOTS / "panda_description/urdf/panda.urdf"
    talos = ROBOTS / "talos_data/robots/talos_reduced.urdf"
    fingers = ("panda_finger_joint1", "panda_finger_joint2")
    full = pin.buildModelFromUrdf(str(panda))
    reduced = pin.buildReducedModel(full, [full.getJointId(f) for f in fingers], pin.neutral(full))

    def load(*arguments: Any, **options: Any) -> kt.Robot:
        return kt.load(*arguments, **options).without("damping", "friction")  # as Pinocchio

    return [
        Case("Panda", load(panda, locked=dict.fromkeys(fingers, 0.0)), reduced, "panda_hand"),
        Case("Talos", load(talos), pin.buildModelFromUrdf(str(talos)), TALOS_HAND),
        Case(
            "Talos, floating",
            load(talos, base="floating"),
            pin.buildModelFromUrdf(str(talos), pin.JointModelFreeFlyer()),
            TALOS_HAND,
        ),
    ]


def _poses(model: pin.Model, data: pin.Data, q: Any) -> Any:
    pin.forwardKinematics(model, data, q)
    return data.oMi


def _jacobian(model: pin.Model, data: pin.Data, q: Any, frame: int) -> Any:
    return pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)


COMPARISONS = (
    Comparison("inverse_dynamics", "q v a", "pin.rnea", pin.rnea),
    Comparison("forward_dynamics", "q v a", "pin.aba", pin.aba),
    Comparison("mass_matrix", "q", "pin.crba", pin.crba),
    Comparison("poses", "q", "pin.forwardKinematics", _poses),
    Comparison("jacobian", "q", "pin.computeFrameJacobian", _jacobian),
    Comparison("bias_forces", "q v", "pin.nonLinearEffects", pin.nonLinearEffects),
    Comparison("mass_matrix_inverse", "q", "pin.computeMinverse", pin.computeMinverse),
    Comparison("momentum_matrix", "q", "pin.computeCentroidalMap", pin.computeCentroidalMap),
    Comparison(
        "inverse_dynamics_derivatives",
        "q v a",
        "pin.computeRNEADerivatives",
        pin.computeRNEADerivatives,
    ),
    Comparison(
        "forward_dynamics_derivatives",
        "q v a",
        "pin.computeABADerivatives",
        pin.computeABADerivatives,
    ),
)
SYMMETRIC = ("mass_matrix", "mass_matrix_inverse", *(c.quantity for c in COMPARISONS[-2:]))
"""Of these the peer gives the upper triangle, of derivatives in the last matrix."""


def mechanisms() -> list[Case]:
    """The four mechanisms of twenty joints of Echeandia & Wensing's Table 2."""
    made = {
        "chain": kt.robots.chain(20),
        "binary tree": kt.robots.tree(20),
        "biped": kt.robots.legged(2, 10),
        "quadruped": kt.robots.legged(4, 5),
    }
    return [Case(name, robot, _peer(robot), robot.frames[-1]) for name, robot in made.items()]


def _peer(robot: kt.Robot) -> pin.Model:
    """A robot of ours for Pinocchio, limited: else its angles would be a cosine and a sine."""
    limited = [replace(body, limits=Limits(-3.2, 3.2)) for body in robot.model.bodies]
    return pin.buildModelFromXML(write_urdf(replace(robot.model, bodies=tuple(limited))))


OF_MECHANISMS = (
    Comparison("mass_matrix", "q", "pin.crba", pin.crba),
    Comparison("coriolis_matrix", "q v", "pin.computeCoriolisMatrix", pin.computeCoriolisMatrix),
)


def comparisons() -> list[tuple[Case, Comparison]]:
    """What is compared on which robot."""
    robots, papers = cases(), mechanisms()
    return [(case, c) for case in robots for c in COMPARISONS] + [
        (case, c) for case in papers for c in OF_MECHANISMS
    ]


def rows() -> Iterator[Row]:
    """Check and time every comparison."""
    for case, comparison in comparisons():
        yield _row(case, comparison)


@dataclass(frozen=True)
class SymbolsRow:
    """Christoffel symbols of a mechanism, beside the times of the paper; in seconds."""

    robot: str
    one: float
    batch: float
    paper: float
    write_fraction: float


PAPER_SYMBOLS = {"chain": 122e-6, "binary tree": 33e-6, "biped": 64e-6, "quadruped": 37e-6}


def symbols_rows() -> Iterator[SymbolsRow]:
    """The symbols, checked against the Coriolis matrix, and timed."""
    for case in mechanisms():
        yield _symbols_row(case)


def _symbols_row(case: Case) -> SymbolsRow:
    robot = case.robot
    rng = np.random.default_rng(0)
    q, v = robot.random(rng, BATCH // 10), rng.standard_normal((BATCH // 10, robot.nv))
    out = robot.christoffel_symbols(q)
    C = robot.coriolis_matrix(q, v)
    error = np.abs(np.einsum("nijk,nk->nij", out, v) - C).max() / np.abs(C).max()
    if not error < AGREEMENT:
        raise AssertionError(f"{case.name}: the symbols differ from C by {error:.1e}")
    single = q[0].copy()
    (one,) = seconds_in_turn([lambda: robot.christoffel_symbols(single)])
    (batch,) = seconds_in_turn([lambda: robot.christoffel_symbols(q, out=out)])
    fraction = out.nbytes / write_bandwidth(out.nbytes) / batch
    return SymbolsRow(case.name, one, batch / len(q), PAPER_SYMBOLS[case.name], fraction)


def _row(case: Case, comparison: Comparison) -> Row:
    robot, model = case.robot, case.peer
    data = model.createData()
    rng = np.random.default_rng(0)
    states = {"q": robot.random(rng, BATCH)}
    states["v"], states["a"] = rng.standard_normal((2, BATCH, robot.nv))
    arrays = [states[name] for name in comparison.arguments.split()]
    method, call = attrgetter(calling(comparison.quantity))(robot), comparison.peer
    settings = {"frame": case.frame} if comparison.quantity == "jacobian" else {}
    if settings:
        method = partial(method, **settings)
        call = partial(call, frame=model.getFrameId(case.frame))
    error = _disagreement(method, call, comparison.quantity, model, data, arrays)
    if not error < AGREEMENT:
        raise AssertionError(
            f"{case.name}, {comparison.quantity}: differs from {comparison.called} by {error:.1e}"
        )

    single = [x[0].copy() for x in arrays]
    out = method(*arrays)

    def peer_loop() -> None:
        for state in zip(*arrays, strict=True):
            call(model, data, *state)

    outs = out if isinstance(out, tuple) else (out,)
    size = sum(x.nbytes for x in outs)
    with on_the_quietest(lambda: method(*arrays, out=out)):
        one, peer_one = seconds_in_turn(
            [lambda: method(*single), lambda: call(model, data, *single)]
        )
        batch, loop = seconds_in_turn([lambda: method(*arrays, out=out), peer_loop])
        fraction = size / write_bandwidth(size) / batch
        arithmetic = _arithmetic(robot.kernel(comparison.quantity, **settings).program, arrays)
        writing = _writing(arrays[0], outs)
    two_threads, alone = _threads(lambda: method(*arrays, out=out))
    return Row(
        robot=case.name,
        quantity=comparison.quantity,
        called=f"{comparison.called} in a loop",
        error=error,
        one=one,
        peer_one=peer_one,
        batch=batch / BATCH,
        two_threads=batch * two_threads / alone / BATCH,
        peer_loop=loop / BATCH,
        write_fraction=fraction,
        arithmetic=arithmetic / BATCH,
        writing=writing / BATCH,
    )


def _arithmetic(program: Program, arrays: list[np.ndarray]) -> float:
    """The time to compute a program's results when they are not written."""
    kernel = Kernel(None, lambda: _added_up(program))
    out = kernel(*arrays)
    (seconds,) = seconds_in_turn([lambda: kernel(*arrays, out=out)])
    return seconds


def _added_up(program: Program) -> Program:
    """A program with a few sums of its results for results, each added as it comes."""
    results = {n for output in program.outputs for n in output.nodes}
    nodes: list[Node] = []
    at: list[int] = []  # where a node of the program is now
    sums: list[int] = []
    for n, node in enumerate(program.nodes):
        at.append(len(nodes))
        nodes.append(node._replace(args=tuple(at[a] for a in node.args)))
        if n in results:
            sums.append(at[n])
            if len(sums) > SUMS:
                nodes.append(Node("add", (sums.pop(0), sums.pop())))
                sums.append(len(nodes) - 1)
    return replace(
        program, outputs=(Output("sums", (len(sums),), tuple(sums)),), nodes=tuple(nodes)
    )


def _writing(q: np.ndarray, outs: tuple[np.ndarray, ...]) -> float:
    """The time to write results of these shapes when there is nothing to compute."""

    def copies(x: Sequence[Any]) -> dict[str, Any]:
        return {
            f"result{k}": [x[i % len(x)] for i in range(out[0].size)] for k, out in enumerate(outs)
        }

    kernel = Kernel(None, lambda: trace("writing", copies, {"q": q.shape[1:]}))
    flat = tuple(out.reshape(len(out), -1) for out in outs)
    (seconds,) = seconds_in_turn([lambda: kernel(q, out=flat)])
    return seconds


def _threads(call: Callable[[], Any]) -> tuple[float, float]:
    """The time on two threads and on one, taken in turn."""

    def on(count: int) -> Callable[[], Any]:
        def run() -> None:
            kt.set_threads(count)
            call()

        return run

    try:
        two, one = seconds_in_turn([on(2), on(1)], repeats=41, at_least=0.01)
    finally:
        kt.set_threads(1)
    return two, one


def _disagreement(
    method: Any, call: Any, quantity: str, model: pin.Model, data: pin.Data, arrays: list[Any]
) -> float:
    """The largest difference on a hundred states, over the largest entry."""
    few = [x[:100] for x in arrays]
    found = method(*few)
    results = found if isinstance(found, tuple) else (found,)
    worst = 0.0
    for i, state in enumerate(zip(*few, strict=True)):
        given = call(model, data, *state)
        if quantity == "poses":
            given = np.array([X.homogeneous for X in given])[1:]
        peers = list(given) if isinstance(given, (tuple, list)) else [given]
        if quantity in SYMMETRIC:
            peers[-1] = np.triu(peers[-1]) + np.triu(peers[-1], 1).T
        for ours, theirs in zip(results, peers, strict=True):
            scale = max(1.0, float(np.abs(theirs).max()))
            worst = max(worst, float(np.abs(ours[i] - theirs).max()) / scale)
    return worst
