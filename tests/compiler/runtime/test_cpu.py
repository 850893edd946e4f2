"""Machine code: what is generated, and when."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.runtime.cpu import bodies as cpu


@pytest.fixture
def generated(monkeypatch):
    """The names of the bodies that are generated, with nothing in the cache."""
    names = []
    generate = cpu._generate

    def noted(program, kind, wanted):
        names.extend(wanted)
        return generate(program, kind, wanted)

    monkeypatch.setattr(cpu, "_generate", noted)
    monkeypatch.setattr(cpu.disk, "load", lambda key: None)
    return names


def test_a_batch_waits_only_for_the_code_of_tiles(generated):
    robot = kt.robots.chain(3, seed=21)
    kernel, q = robot.kernel("mass_matrix"), np.ones((5, 3))
    generated.clear()
    many = kernel(q)
    assert generated == ["wide"]
    assert (kernel(q[0]) == many[0]).all()
    assert generated == ["wide", "one"]


@pytest.mark.parametrize("shape", [(3,), (1, 3), (1, 1, 3)])
def test_a_single_state_waits_only_for_the_code_of_one(generated, shape):
    kernel = kt.robots.chain(3, seed=22).kernel("mass_matrix")
    generated.clear()
    assert kernel(np.ones(shape)).shape == (*shape[:-1], 3, 3)
    assert generated == ["one"]


def test_a_tile_with_one_state_gives_what_the_code_of_one_gives(generated):
    kernel, q = kt.robots.chain(4, seed=23).kernel("mass_matrix"), np.linspace(0.1, 0.9, 4)
    in_a_tile = kernel.compiled("double").gufunc(q[None])
    assert "one" not in generated
    assert (in_a_tile[0] == kernel(q)).all()
