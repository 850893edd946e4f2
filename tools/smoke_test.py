"""What a first user does, with an installed Kinetree: load, compute, ask the command.

python tools/smoke_test.py
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import kinetree as kt

PENDULUM = """<robot name="pendulum">
  <link name="base"/>
  <joint name="hinge" type="continuous">
    <parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
  </joint>
  <link name="rod">
    <inertial>
      <origin xyz="0 0 -0.5"/><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/>
    </inertial>
  </link>
</robot>"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pendulum.urdf"
        file.write_text(PENDULUM)
        compute(file)
        ask(file)
    where = Path(kt.__file__).parent
    print(f"Python {platform.python_version()}: kinetree {kt.__version__} in {where}: passed")


def compute(file: Path) -> None:
    """The torque of a pendulum is that of the textbook; a batch has the same bits."""
    robot = kt.load(file)
    q, v, a = 0.3, 0.2, 0.1
    tau = robot.inverse_dynamics([q], [v], [a])
    expected = (0.01 + 2.0 * 0.5**2) * a + 2.0 * 9.81 * 0.5 * np.sin(q)
    assert np.allclose(tau, expected, rtol=1e-12), (tau, expected)
    assert (robot.inverse_dynamics(np.full((100, 1), q), [v], [a]) == tau).all()
    assert np.allclose(robot.forward_dynamics([q], [v], tau), a)


def ask(file: Path) -> None:
    """The command shows a robot, checks it, and refuses what is not there in a sentence."""
    assert json.loads(command("info", str(file), "--json").stdout)["nv"] == 1
    assert "hinge" in command("info", str(file)).stdout
    assert "nothing to say" in command("check", str(file)).stdout
    missing = command("check", "no.urdf", code=2)
    assert "cannot be read" in missing.stderr, missing.stderr
    assert "Traceback" not in missing.stderr


def command(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """A run of the command `kinetree`, which ends with an exit code."""
    name = Path(sys.executable).with_name("kinetree")
    done = subprocess.run([str(name), *words], capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


if __name__ == "__main__":
    main()
