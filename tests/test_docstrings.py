"""Every public name says what it takes."""

import inspect

import pytest

import kinetree as kt

OTHERS = {"set_threads"}  # one argument, which the first sentence explains


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
            yield from ((f"{name}.{x}", f) for x, f in members if not x.startswith("_"))


def takes_something(value):
    """Whether a callable has arguments of its own, besides those of every exception."""
    if not callable(value) or (inspect.isclass(value) and issubclass(value, BaseException)):
        return False
    return set(inspect.signature(value).parameters) - {"self", "args", "kwargs"}


DOCUMENTED = [
    pytest.param(value, id=name)
    for name, value in public()
    if takes_something(value) and name not in OTHERS
]


@pytest.mark.parametrize("value", DOCUMENTED)
def test_a_public_name_says_its_arguments(value):
    assert "Arguments:" in (inspect.getdoc(value) or "")
