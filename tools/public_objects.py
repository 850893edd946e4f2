"""Every object that users meet, by its public name.

The walk starts at `kinetree.__all__` and the bridges, and follows the annotations of functions,
methods and public attributes, so that a new class is found by itself. Tests of docstrings and the
reference page use it.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import sys
import typing
from collections import deque
from functools import cache

import kinetree as kt
from kinetree import bridges

SPECIAL = {"__call__"}
"""Methods that are public though their names begin with an underscore."""


def is_ours(value):
    return (getattr(value, "__module__", None) or "").partition(".")[0] == "kinetree"


def roots():
    """Names that users import, with what they mean."""
    for name in kt.__all__:
        value = getattr(kt, name)
        if not inspect.ismodule(value):
            yield name, value
            continue
        yield from ((f"{name}.{x}", getattr(value, x)) for x in exported(value))
    for module in pkgutil.iter_modules(bridges.__path__):
        try:
            bridge = importlib.import_module(f"{bridges.__name__}.{module.name}")
        except kt.errors.MissingExtraError:
            continue
        yield from ((f"{module.name}.{x}", getattr(bridge, x)) for x in exported(bridge))


def exported(module):
    """The public names of a module."""
    own = [x for x, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__]
    return getattr(module, "__all__", [x for x in own if not x.startswith("_")])


def members(cls):
    """Public functions and properties of a class that are defined in Kinetree."""
    for name in dir(cls):
        if name.startswith("_") and name not in SPECIAL:
            continue
        value = inspect.getattr_static(cls, name)
        value = getattr(value, "__func__", value)  # of static and class methods
        getter = getter_of(value)
        if inspect.isfunction(value) and is_ours(value):
            yield name, value, False
        elif getter is not None and is_ours(getter):
            yield name, getter, True


def getter_of(value):
    """The function behind a property; None for anything else."""
    return getattr(value, "fget", None) or getattr(value, "function", None)


@cache
def typing_imports(module):
    """Names that a module imports for type checkers alone."""
    found = {}
    for node in ast.walk(ast.parse(inspect.getsource(sys.modules[module]))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("kinetree"):
            found |= {x.asname or x.name: (node.module, x.name) for x in node.names}
    return found


def classes(annotation, module):
    """The classes of Kinetree that an annotation names."""
    if isinstance(annotation, type) and is_ours(annotation):
        yield annotation
    elif isinstance(annotation, str):
        for node in ast.walk(ast.parse(annotation, mode="eval")):
            if isinstance(node, ast.Name):
                yield from classes(resolved(node.id, module), module)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                home = resolved(node.value.id, module)
                yield from classes(getattr(home, node.attr, None), module)
    elif typing.get_origin(annotation) is not typing.Literal:  # words, not annotations
        for part in typing.get_args(annotation):
            yield from classes(part, module)


def resolved(name, module):
    """What a name in an annotation means; None if it is not Kinetree's."""
    if hasattr(sys.modules[module], name):
        return getattr(sys.modules[module], name)
    home, original = typing_imports(module).get(name, (None, None))
    if home is None:
        return None
    package = importlib.import_module(home)
    return getattr(package, original, None) or importlib.import_module(f"{home}.{original}")


def attribute_annotations(cls):
    """Annotations of public attributes, each with its module."""
    for base in cls.__mro__:
        if is_ours(base):
            for name, annotation in inspect.get_annotations(base).items():
                if not name.startswith("_"):
                    yield annotation, base.__module__


def met(value):
    """Classes of what users give to a function or a class's methods, and of what they get."""
    functions = [value]
    if inspect.isclass(value):
        functions = [function for _, function, _ in members(value)]
        for annotation, module in attribute_annotations(value):
            yield from classes(annotation, module)
    for function in functions:
        for annotation in function.__annotations__.values():
            yield from classes(annotation, function.__module__)


def walk():
    """Public functions and classes by their names: `roots`, and whatever they give."""
    waiting, found = deque(roots()), {}
    while waiting:
        name, value = waiting.popleft()
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            value, name = type(value), type(value).__name__
        if not is_ours(value) or value in found or value.__name__.startswith("_"):
            continue
        found[value] = name
        waiting.extend((cls.__name__, cls) for cls in met(value))
    return found
