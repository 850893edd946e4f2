"""The code generator: modules compiled side by side, past llvmlite's lock."""

import threading

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.emit.llvm import emit_body
from kinetree.compiler.graph.lower import lower
from kinetree.compiler.runtime.cpu.bodies import style
from kinetree.compiler.runtime.cpu.host import Host, host


def texts(robot, length=250):
    h = host()
    target = h.target("double")
    program = robot.kernel("forward_dynamics").program
    low = lower(program, style(target, 1))
    return [h.attributes + text for text in emit_body(low, "one", target, 1, length)]


def test_modules_compiled_side_by_side_are_those_compiled_in_turn():
    given = texts(kt.robots.arm())
    assert len(given) > 2
    assert host().compile_all(given) == [host().compile(text) for text in given]


def test_many_threads_compile_at_once():
    given = texts(kt.robots.arm())
    expected = [host().compile(text) for text in given]
    found = []

    def work():
        found.append(host().compile_all(given))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [expected] * 4


def test_a_program_in_many_modules_is_linked(monkeypatch, tmp_path):
    monkeypatch.setenv("KINETREE_CACHE", str(tmp_path))
    monkeypatch.setattr("kinetree.compiler.runtime.cpu.bodies.MODULE", 50)
    robot = kt.robots.arm()
    q, v, tau = np.random.default_rng(0).normal(size=(3, 20, 7))
    small = kt.Robot(robot.model).forward_dynamics(q, v, tau)
    monkeypatch.undo()
    assert np.allclose(small, robot.forward_dynamics(q, v, tau), rtol=1e-12, atol=1e-12)
    assert np.allclose(small[3], kt.Robot(robot.model).forward_dynamics(q[3], v[3], tau[3]))


def test_one_state_does_not_wait_for_the_code_of_batches(monkeypatch, tmp_path):
    monkeypatch.setenv("KINETREE_CACHE", str(tmp_path))
    made = []
    generate = kt.compiler.runtime.cpu.bodies._generate

    def noted(program, kind, names):
        made.append(tuple(names))
        return generate(program, kind, names)

    monkeypatch.setattr("kinetree.compiler.runtime.cpu.bodies._generate", noted)
    robot = kt.robots.double_pendulum()
    robot.mass_matrix(np.zeros(2))
    assert made == [("one",)]
    robot.mass_matrix(np.zeros((5, 2)))
    assert made == [("one",), ("wide",)]


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "coriolis_matrix"])
def test_results_do_not_depend_on_how_much_the_code_is_optimised(monkeypatch, quantity, kind):
    """Most tests of numbers run code that is compiled quickly (tests/conftest.py)."""
    robot = kt.robots.quadruped()
    arguments = [
        np.random.default_rng(k).normal(size=(9, *shape)).astype(kind)
        for k, (_, shape) in enumerate(robot.kernel(quantity).interface.inputs)
    ]
    found = []
    for level in (0, 1, 2):
        monkeypatch.setattr(Host, "level", level)
        kernel = kt.Robot(robot.model).kernel(quantity)
        found.append([kernel(*arguments), *(kernel(*one) for one in zip(*arguments, strict=True))])
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            assert np.array_equal(a, b)
