"""Every object that users receive says what it takes and what it gives: compared by names.

The walk starts at `kinetree.__all__` and the bridges, and follows return annotations and public
attributes, so that a new class that users receive is found by itself.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
import textwrap
import typing
from collections import deque
from functools import cache

import pytest

import kinetree as kt
from kinetree import bridges

SECTION = re.compile(r"^(Arguments|Attributes|Returns|Raises):$")
ENTRY = re.compile(r"^ {4}(\*{0,2}\w+(?:, \*{0,2}\w+)*):(?: |$)")
REFERENCE = re.compile(r"\b(?:[Ss]ee|[Aa]s(?: in)?|[Ll]ike) `([\w.]+)`")
SPECIAL = {"__call__"}
"""Methods that are public though their names begin with an underscore."""


# docstrings


def sections(text):
    """The lines of each section of a docstring, and of what precedes them under ""."""
    parts, name = {"": []}, ""
    for line in text.splitlines():
        if match := SECTION.match(line):
            name = match[1]
            parts[name] = []
        elif name and line and not line.startswith(" "):
            name = ""
        else:
            parts[name].append(line)
    return parts


def entries(lines):
    """The text of each name in a section; "q, v: ..." names two."""
    texts, names = {}, []
    for line in lines:
        if match := ENTRY.match(line):
            names = [name.lstrip("*") for name in match[1].split(", ")]
            texts |= dict.fromkeys(names, line[match.end() :])
        else:
            texts |= {name: f"{texts[name]} {line.strip()}" for name in names}
    return texts


# what is walked


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
        getter = getattr(value, "fget", getattr(value, "function", None))
        if inspect.isfunction(value) and is_ours(value):
            yield name, value, False
        elif getter is not None and is_ours(getter):
            yield name, getter, True


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
    else:
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


def received(value):
    """Classes of what users get from a function or a class."""
    if not inspect.isclass(value):
        annotations = [(value.__annotations__.get("return"), value.__module__)]
    else:
        functions = [function for _, function, _ in members(value)]
        annotations = [(f.__annotations__.get("return"), f.__module__) for f in functions]
        annotations += attribute_annotations(value)
    for annotation, module in annotations:
        yield from classes(annotation, module)


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
        waiting.extend((cls.__name__, cls) for cls in received(value))
    return found


# what is compared


def parameters(value):
    """The names of what a callable takes; none of exceptions and protocols, which are not called."""
    if inspect.isclass(value) and (issubclass(value, BaseException) or is_protocol(value)):
        return set()
    names = inspect.signature(value).parameters
    return {x for x in names if x not in ("self", "cls") and not x.startswith("_")}


def is_protocol(cls):
    return getattr(cls, "_is_protocol", False)


def attributes(cls):
    """The names of what can be read from a class's objects: declared, or set by its methods."""
    names = {name for base in cls.__mro__ for name in inspect.get_annotations(base)}
    for base in filter(is_ours, cls.__mro__):
        tree = ast.parse(textwrap.dedent(inspect.getsource(base)))
        names |= {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }
    return names | set(dir(cls))


def find(name, owner, function):
    """What a reference in a docstring means: a sibling, a name of its module, or a public one."""
    first, *rest = name.split(".")
    places = (owner, sys.modules[function.__module__], *PLACES)
    for place in places:
        if (value := getattr(place, first, None)) is not None:
            for part in rest:
                value = getattr(value, part, None)
            return value
    return None


def documented(value, owner, seen=()):
    """Names that a docstring has under Arguments, or those of what it refers to."""
    text = inspect.getdoc(value) or ""
    found = entries(sections(text).get("Arguments", []))
    if found or not is_short(text):
        return set(found)
    targets = [find(name, owner, value) for name in REFERENCE.findall(text)]
    targets.append(overridden(value, owner))
    return {
        name
        for target in targets
        if target is not None and target not in (value, *seen)
        for name in documented(target, owner, (*seen, value))
    }


def is_short(text):
    """Whether a docstring has no section, so that it may refer to another."""
    return set(sections(text)) == {""}


def overridden(function, owner):
    """The method of a base class that a method overrides."""
    bases = owner.__mro__[1:] if inspect.isclass(owner) else ()
    name = getattr(function, "__name__", "")
    found = [vars(base)[name] for base in bases if is_ours(base) and name in vars(base)]
    return next((x for x in found if x is not function and inspect.isfunction(x)), None)


def faults_of_function(function, owner, is_property):
    """What is wrong about the docstring of a function, a method or a property."""
    text = inspect.getdoc(function) or ""
    if not text:
        return ["no docstring"]
    if is_property:
        return []
    return [
        *faults_of_names("argument", parameters(function), documented(function, owner)),
        *faults_of_references(text, function, owner),
        *faults_of_result(function, text, owner),
    ]


def faults_of_names(kind, expected, found):
    yield from (f"{kind} {name!r} is not documented" for name in sorted(expected - found))
    yield from (f"there is no {kind} {name!r}" for name in sorted(found - expected))


def faults_of_references(text, function, owner):
    """Entries "as in `X`" whose X does not exist, or does not have the name."""
    for name, entry in entries(sections(text).get("Arguments", [])).items():
        if match := re.match(r"as in `([\w.]+)`", entry):
            target = find(match[1], owner, function)
            if target is None or name not in documented(target, owner):
                yield f"{name!r}: `{match[1]}` does not document it"


def faults_of_result(function, text, owner):
    gives = function.__annotations__.get("return", "None") not in (None, "None", "NoReturn")
    says = "Returns" in sections(text)
    if gives and not says and not refers(function, text, owner):
        yield "Returns: is missing"
    if says and not gives:
        yield "Returns: but it returns nothing"


def refers(function, text, owner):
    """Whether a short docstring refers to another that says what is returned."""
    targets = [find(name, owner, function) for name in REFERENCE.findall(text)]
    targets.append(overridden(function, owner))
    texts = [inspect.getdoc(x) or "" for x in targets if x not in (None, function)]
    return is_short(text) and any("Returns" in sections(x) for x in texts)


def faults_of_class(cls):
    """What is wrong about the docstring of a class: it names what the constructor takes."""
    if not cls.__doc__:
        yield "no docstring"
        return
    home = next((base for base in cls.__mro__ if "__init__" in vars(base)), cls)
    arguments, fields = set(), set()
    for base in {cls, home if is_ours(home) else cls}:
        parts = sections(inspect.getdoc(base) or "")
        arguments |= set(entries(parts.get("Arguments", [])))
        fields |= set(entries(parts.get("Attributes", [])))
    yield from faults_of_names("argument", parameters(cls) - fields, arguments)
    yield from (f"there is no attribute {x!r}" for x in sorted(fields - attributes(cls)))
    yield from faults_of_references(inspect.getdoc(cls), cls, cls)


def cases():
    """Everything that is checked: its name, and what is wrong about it."""
    seen = set()
    for value, name in WALKED.items():
        if inspect.isfunction(value):
            yield name, value, faults_of_function(value, None, False)
            continue
        yield name, value, list(faults_of_class(value))
        for member, function, is_property in members(value):
            if function not in seen:  # methods of base classes are seen once
                seen.add(function)
                faults = faults_of_function(function, value, is_property)
                yield f"{name}.{member}", function, faults


WALKED = walk()
PLACES = (kt.Robot, kt, *filter(inspect.ismodule, (getattr(kt, x) for x in kt.__all__)))
