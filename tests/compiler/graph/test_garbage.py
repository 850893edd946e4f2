"""The search for garbage: it rests while programs are made, and they leave it nothing to find."""

import gc
import weakref

import pytest

from kinetree.compiler.graph import TooLongError, trace
from kinetree.compiler.graph.expression import Trace
from kinetree.compiler.graph.garbage import without_searches


def test_searches_rest_in_the_block_and_go_on_behind_it():
    assert gc.isenabled()
    with without_searches():
        assert not gc.isenabled()
        with without_searches():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_searches_go_on_behind_a_block_that_fails():
    with pytest.raises(ZeroDivisionError), without_searches():
        _ = 1 / 0
    assert gc.isenabled()


def test_searches_that_the_user_stopped_stay_stopped():
    gc.disable()
    try:
        with without_searches():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("limit", [10, 10_000])
def test_a_trace_is_gone_without_a_search(limit):
    made = []

    def function(x):
        made.append(weakref.ref(x[0].trace))
        total = x[0]
        for _ in range(100):
            total = total * x[1] + x[0]
        return {"y": total}

    with without_searches():
        try:
            trace("sum", function, {"x": (2,)}, limit)
        except TooLongError:
            assert limit == 10
        assert made
        assert all(t() is None for t in made)


def test_a_trace_is_empty_behind_its_block():
    with Trace() as t:
        x = t.input("x", 0)
        _ = x * x
        assert len(t.nodes) == 2
    assert not t.nodes
