"""Optimal control by Crocoddyl, run by an interpreter that has it: `python -m benchmarks.motion`.

    python crocoddyl_solver.py problem.json

Crocoddyl needs another version of Pinocchio than Kinetree's tests do, so it lives in an environment
of its own. The problem is a file: where the robot's description is, and the numbers of the costs.
With "feet", frames of that name are held by contacts of six rows, "damping" times their velocities.
Prints a JSON object: the cost, how many iterations, seconds an iteration, and the optimal controls.
"""

from __future__ import annotations

import json
import sys
import time

import crocoddyl
import numpy as np
import pinocchio as pin


def model_of(spec: dict) -> pin.Model:
    root = [pin.JointModelFreeFlyer()] if spec["floating"] else []
    full = pin.buildModelFromUrdf(spec["file"], *root)
    locked = [full.getJointId(name) for name in spec["locked"]]
    model = pin.buildReducedModel(full, locked, pin.neutral(full)) if locked else full
    model.armature[:] = 0.0
    return model


def problem_of(model: pin.Model, spec: dict) -> crocoddyl.ShootingProblem:
    """Squared distance from a target at rest and squared controls, by semi-implicit Euler steps."""
    state = crocoddyl.StateMultibody(model)
    floating = spec["floating"]
    actuation = (
        crocoddyl.ActuationModelFloatingBase if floating else crocoddyl.ActuationModelFull
    )(state)
    goal = np.concatenate([spec["target"], np.zeros(model.nv)])
    weights = 2.0 * np.concatenate(
        [np.full(model.nv, spec["weights"][0]), np.full(model.nv, spec["weights"][1])]
    )

    def costs(control: bool) -> crocoddyl.CostModelSum:
        total = crocoddyl.CostModelSum(state, actuation.nu)
        activation = crocoddyl.ActivationModelWeightedQuad(weights)
        away = crocoddyl.ResidualModelState(state, goal, actuation.nu)
        total.addCost("state", crocoddyl.CostModelResidual(state, activation, away), 1.0)
        if control:
            effort = crocoddyl.ResidualModelControl(state, actuation.nu)
            term = crocoddyl.CostModelResidual(state, effort)
            total.addCost("control", term, 2.0 * spec["weights"][2])
        return total

    def contacts() -> crocoddyl.ContactModelMultiple:
        held = crocoddyl.ContactModelMultiple(state, actuation.nu)
        gains = np.array([0.0, spec["damping"]])  # of errors and of velocities
        for name in spec["feet"]:
            frame = (model.getFrameId(name), pin.SE3.Identity(), pin.LOCAL_WORLD_ALIGNED)
            foot = crocoddyl.ContactModel6D(state, *frame, actuation.nu, gains)
            held.addContact(name, foot)
        return held

    def action(control: bool, dt: float) -> crocoddyl.IntegratedActionModelEuler:
        if spec.get("feet"):
            given = (state, actuation, contacts(), costs(control), 0.0, False)
            dynamics = crocoddyl.DifferentialActionModelContactFwdDynamics(*given)
        else:
            dynamics = crocoddyl.DifferentialActionModelFreeFwdDynamics(
                state, actuation, costs(control)
            )
            # without an armature the wheels of 3.2 call an ABA that leaves gravity out
            dynamics.armature = np.full(model.nv, 1e-12)
        return crocoddyl.IntegratedActionModelEuler(dynamics, dt)

    running, last = action(True, spec["dt"]), action(False, 0.0)
    start = np.concatenate([spec["q0"], np.zeros(model.nv)])
    return crocoddyl.ShootingProblem(start, [running] * spec["steps"], last)


def main(path: str) -> None:
    with open(path) as file:
        spec = json.load(file)
    problem = problem_of(model_of(spec), spec)
    problem.nthreads = 1
    u = [np.array(x) for x in spec["u"]]
    x = list(problem.rollout(u))
    best = np.inf
    for _ in range(spec["runs"]):
        solver = crocoddyl.SolverFDDP(problem)
        solver.th_stop = spec["stop"]
        began = time.perf_counter()
        done = solver.solve(x, u, spec["iterations"], True)
        best = min(best, (time.perf_counter() - began) / max(solver.iter + 1, 1))
    found = {"cost": solver.cost, "iterations": solver.iter + 1, "seconds": best}
    print(json.dumps(found | {"converged": bool(done), "u": np.array(list(solver.us)).tolist()}))


if __name__ == "__main__":
    main(sys.argv[1])
