"""Without a compiler everything works through the interpreter, which says so once."""

import os
import subprocess
import sys

import pytest

CODE = """
import sys, warnings
{before}
import numpy as np
import kinetree as kt
warnings.simplefilter("always")
robot = kt.robots.arm()
with warnings.catch_warnings(record=True) as said:
    q, v, a = np.random.default_rng(0).standard_normal((3, 50, 7))
    tau = robot.inverse_dynamics(q, v, a)
    one = robot.inverse_dynamics(q[0], v[0], a[0])
    qdd = robot.forward_dynamics(q, v, tau)
    single = robot.mass_matrix(q.astype(np.float32))
    call = robot.kernel("mass_matrix").bind(q)
assert tau.shape == (50, 7) and one.shape == (7,) and single.dtype == np.float32
assert np.abs(one - tau[0]).max() < 1e-12
assert np.abs(qdd - a).max() < 1e-8
assert (call() == robot.mass_matrix(q)).all()
texts = [str(w.message) for w in said]
assert len(texts) == 1, texts
print(texts[0])
"""
BROKEN = """
class Broken:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("llvmlite"):
            raise OSError("libllvmlite.so: operation not permitted")
sys.meta_path.insert(0, Broken())
"""


def said(before="", **variables):
    """What a process says that computes with the interpreter."""
    env = {**os.environ, **variables}
    code = CODE.format(before=before)
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("before", "variables", "reason"),
    [
        pytest.param(
            "",
            {"KINETREE_BACKEND": "interpreter"},
            "KINETREE_BACKEND=interpreter: ",
            id="asked for",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "sys.modules['llvmlite'] = None",
            {},
            "llvmlite is not installed (pip install llvmlite",
            id="missing",
        ),
        pytest.param(
            BROKEN,
            {},
            "llvmlite's library cannot be loaded (libllvmlite.so: operation not",
            id="refused",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_everything_works_through_the_interpreter_which_says_so_once(before, variables, reason):
    text = said(before, **variables)
    assert text.startswith(reason)
    assert text.endswith("hundreds of times slower than machine code")
