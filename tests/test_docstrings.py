"""Every public name says what it takes."""

import inspect

import pytest

import kinetree as kt

OTHERS = {"set_threads"}  # one argument, which the first sentence explains
RESULTS = {"Simulation", "control.Solution", "control.TrackingLQR"}  # users only read their fields


def public():
    """Public functions, classes and their methods, by their names."""
    for name in kt.__all__:
        value = getattr(kt, name)
        if inspect.ismodule(value):
            yield from ((f"{name}.{x}", getattr(value, x)) for x in getattr(value, "__all__", ()))
            continue
        yield name, value
        if inspect.isclass(value):
            members = inspect.getmembers(value, inspect.isfunction)
            yield from ((f"{name}.{x}", f) for x, f in members if is_ours(x, f))


def is_ours(name, function):
    """Whether a method is public, and not taken from the standard library."""
    return not name.startswith("_") and function.__module__.startswith("kinetree")


def takes_something(value):
    """Whether a callable has arguments of its own, besides those of every exception."""
    if not callable(value) or (inspect.isclass(value) and issubclass(value, BaseException)):
        return False
    return set(inspect.signature(value).parameters) - {"self", "args", "kwargs"}


DOCUMENTED = [
    pytest.param(value, id=name)
    for name, value in public()
    if takes_something(value) and name not in OTHERS | RESULTS
]


@pytest.mark.parametrize("value", DOCUMENTED)
def test_a_public_name_says_its_arguments(value):
    assert "Arguments:" in (inspect.getdoc(value) or "")
