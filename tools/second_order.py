"""Second derivatives of inverse dynamics beside Pinocchio's, which only C++ can call.

python tools/second_order.py

Needs g++ and Eigen's headers besides the test extra (pip install cmeel-eigen). Compiles a small
program against the headers of the installed Pinocchio, gives it random arms and trees, and prints
the largest relative differences. Compiling takes a minute.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin

import kinetree as kt
from kinetree.model.formats.write_urdf import write_urdf
from kinetree.model.model import Limits

PREFIX = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix"
PROGRAM = r"""
#include "pinocchio/fwd.hpp"
#include <iomanip>
#include <iostream>
#include <unsupported/Eigen/CXX11/Tensor>
#include "pinocchio/serialization.hpp"
#include "pinocchio/algorithm/rnea-second-order-derivatives.hpp"

int main(int, char ** names)
{
  pinocchio::Model model;
  pinocchio::serialization::loadFromText(model, names[1]);
  pinocchio::Data data(model);
  const int n = model.nv;
  Eigen::VectorXd q(n), v(n), a(n);
  for (auto * x : {&q, &v, &a})
    for (int i = 0; i < n; ++i)
      std::cin >> (*x)[i];
  Eigen::Tensor<double, 3> qq(n, n, n), vv(n, n, n), qv(n, n, n), aq(n, n, n);
  for (auto * x : {&qq, &vv, &qv, &aq})
    x->setZero();
  pinocchio::ComputeRNEASecondOrderDerivatives(model, data, q, v, a, qq, vv, qv, aq);
  std::cout << std::setprecision(17);
  for (auto * x : {&qq, &vv, &qv, &aq})
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < n; ++k)
          std::cout << (*x)(i, j, k) << "\n";
}
"""


def compiled(folder: Path) -> Path:
    """The program, as an executable."""
    source, program = folder / "second.cpp", folder / "second"
    source.write_text(PROGRAM)
    includes = [PREFIX / "include", PREFIX / "include/eigen3"]
    limits = ("MPL_CFG_NO_PREPROCESSED_HEADERS", "MPL_LIMIT_LIST_SIZE=30")
    limits += ("FUSION_INVOKE_MAX_ARITY=12",)
    command = ["g++", "-std=c++17", "-O1", "-w", *(f"-DBOOST_{x}" for x in limits), str(source)]
    command += [f"-I{path}" for path in includes]
    command += [f"-L{PREFIX / 'lib'}", f"-Wl,-rpath,{PREFIX / 'lib'}", "-o", str(program)]
    command += ["-lpinocchio_default", "-lboost_serialization"]
    subprocess.run(command, check=True)
    return program


def theirs(program: Path, robot: kt.Robot, *state: np.ndarray) -> list[np.ndarray]:
    """qq, vv, qv and aq of Pinocchio."""
    limited = [replace(body, limits=Limits(-3.2, 3.2)) for body in robot.model.bodies]
    file = program.parent / f"{robot.name}.txt"
    text = write_urdf(replace(robot.model, bodies=tuple(limited)))
    pin.buildModelFromXML(text).saveToText(str(file))
    numbers = " ".join(repr(float(x)) for part in state for x in part)
    found = subprocess.run(
        [program, file], input=numbers, capture_output=True, text=True, check=True
    )
    values = np.array([float(x) for x in found.stdout.split()])
    return list(values.reshape(4, robot.nv, robot.nv, robot.nv))


def main() -> None:
    robots = [kt.robots.arm(), kt.robots.chain(6), kt.robots.tree(8), kt.robots.double_pendulum()]
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(Path(folder))
        for robot in robots:
            bare = robot.without("armature", "damping", "friction")
            rng = np.random.default_rng(0)
            state = bare.random(rng), *rng.standard_normal((2, bare.nv))
            ours = bare.derivatives.inverse_dynamics_second(*state)
            qq, vv, qv, aq = theirs(program, bare, *state)
            pairs = {
                "qq": (ours.qq, qq),
                "vv": (ours.vv, vv),
                "qv": (ours.qv, qv),
                "qa": (ours.qu, aq.transpose(0, 2, 1)),
            }
            errors = {
                name: np.abs(a - b).max() / max(1.0, np.abs(b).max())
                for name, (a, b) in pairs.items()
            }
            print(robot.name, ", ".join(f"{k} {e:.0e}" for k, e in errors.items()))
            if max(errors.values()) > 1e-9:
                sys.exit(f"{robot.name}: differs from Pinocchio")


if __name__ == "__main__":
    main()
