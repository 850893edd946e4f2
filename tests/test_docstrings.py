"""Every object that users meet says what it takes and what it returns, compared by names."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from functools import cache

import pytest
from tools.public_objects import classes, getter_of, is_ours, members, walk

import kinetree as kt
from kinetree.robot.elsewhere import Signpost

SECTION = re.compile(r"^(Arguments|Attributes|Returns|Raises):$")
ENTRY = re.compile(r"^ {4}(\*{0,2}\w+(?:, \*{0,2}\w+)*):(?: |$)")
REFERENCE = re.compile(r"\b(?:[Ss]ee|[Aa]s(?: in)?|[Ll]ike)\s+`([\w.]+)`")


# docstrings


def sections(text):
    """The lines of each section of a docstring, and of what precedes them under ""."""
    parts, name = {"": []}, ""
    for line in text.splitlines():
        if match := SECTION.match(line):
            name = match[1]
            parts[name] = []
            continue
        if line and not line.startswith(" "):
            name = ""
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


# what is compared


def parameters(value):
    """The names of what a callable takes; none for exceptions and protocols."""
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
        names |= assigned(base)
    return names | set(dir(cls))


@cache
def assigned(cls):
    """The names of attributes that the methods of a class set."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }


def find(name, owner, function):
    """What a reference in a docstring means: a sibling, a name of its module, or a public one."""
    first, *rest = name.removeprefix("kinetree.").split(".")
    places = (owner, sys.modules[function.__module__], *PLACES)
    found = (attribute(place, first) for place in places)
    value = next((x for x in found if x is not None), None)
    for part in rest:
        value = attribute(given_by(value), part)
    return value


def attribute(place, name):
    """An attribute of a class, functions and properties as such, or of a module; None if absent."""
    if not inspect.isclass(place):
        return getattr(place, name, None)
    value = inspect.getattr_static(place, name, None)
    return None if isinstance(value, Signpost) else getattr(value, "__func__", value)


def given_by(value):
    """The class of what a property gives; anything else itself."""
    getter = getter_of(value)
    if getter is None:
        return value
    return next(classes(getter.__annotations__.get("return"), getter.__module__), None)


def text_of(value, owner):
    """The docstring of a function or class; that of the method it overrides, if it has none."""
    text = value.__doc__
    if not text and (base := overridden(value, owner)) is not None:
        text = base.__doc__
    return inspect.cleandoc(text or "")


def overridden(function, owner):
    """The documented method or property of a base class that a method overrides."""
    bases = owner.__mro__ if inspect.isclass(owner) else ()
    name = getattr(function, "__name__", "")
    found = [vars(base)[name] for base in bases if is_ours(base) and name in vars(base)]
    functions = [getter_of(x) or getattr(x, "__func__", x) for x in found]
    return next((x for x in functions if x is not function and x.__doc__), None)


def documented(value, owner, seen=()):
    """Names that a docstring has under Arguments, or those of what it refers to."""
    text = text_of(value, owner)
    names = set(entries(sections(text).get("Arguments", [])))
    if names or not is_short(text):
        return names
    targets = [x for x in references(value, text, owner) if x not in seen]
    return {name for x in targets for name in documented(x, owner, (*seen, value))}


def is_short(text):
    """Whether a docstring has no section, so that it may refer to another."""
    return set(sections(text)) == {""}


def references(value, text, owner):
    """What a docstring refers to: by name, or as it overrides a method."""
    targets = [find(name, owner, value) for name in REFERENCE.findall(text)]
    return [x for x in (*targets, overridden(value, owner)) if x is not None and x is not value]


def faults_of_function(function, owner, is_property):
    """What is wrong about the docstring of a function, a method or a property."""
    text = text_of(function, owner)
    if not text:
        return ["no docstring"]
    if is_property:
        return list(faults_of_summary(text))
    return [
        *faults_of_summary(text),
        *faults_of_names(parameters(function), documented(function, owner)),
        *faults_of_references(text, function, owner),
        *faults_of_result(function, text, owner),
    ]


def faults_of_summary(text):
    """A docstring begins with one sentence, on one line; no section and no entry is empty."""
    first, *rest = text.splitlines()
    if not re.search(r"[.:]$", first) or (rest and rest[0]):
        yield "the first line is not a sentence"
    for section, lines in sections(text).items():
        named = entries(lines) if section in ("Arguments", "Attributes") else {section: lines}
        yield from (f"{name!r}: nothing is said about it" for name, x in named.items() if not x)


def faults_of_names(expected, found, elsewhere=frozenset()):
    missing = expected - found - elsewhere
    yield from (f"argument {name!r} is not documented" for name in sorted(missing))
    yield from (f"there is no argument {name!r}" for name in sorted(found - expected))


def faults_of_references(text, function, owner):
    """References to what does not exist, and entries "as in `X`" whose X does not have the name."""
    for name, entry in entries(sections(text).get("Arguments", [])).items():
        if match := re.match(r"as in `([\w.]+)`", entry):
            target = find(match[1], owner, function)
            if target is None or name not in documented(target, owner):
                yield f"{name!r}: `{match[1]}` does not document it"
    for name in REFERENCE.findall(text):
        if name not in parameters(function) and find(name, owner, function) is None:
            yield f"there is no `{name}`"


def faults_of_result(function, text, owner):
    gives = function.__annotations__.get("return", "None") not in (None, "None", "NoReturn")
    says = "Returns" in sections(text)
    if gives and not says and not refers_to_result(function, text, owner):
        yield "Returns: is missing"
    if says and not gives:
        yield "Returns: but it returns nothing"


def refers_to_result(function, text, owner):
    """Whether a short docstring refers to another that says what is returned."""
    targets = references(function, text, owner) if is_short(text) else []
    return any("Returns" in sections(text_of(x, owner)) for x in targets)


def faults_of_class(cls):
    """What is wrong about the docstring of a class: it names what the constructor takes."""
    if not cls.__doc__:
        yield "no docstring"
        return
    yield from faults_of_summary(inspect.cleandoc(cls.__doc__))
    arguments, fields = set(), set()
    for base in {cls, constructed(cls)}:
        parts = sections(inspect.cleandoc(base.__doc__ or ""))
        arguments |= set(entries(parts.get("Arguments", [])))
        fields |= set(entries(parts.get("Attributes", [])))
    yield from faults_of_names(parameters(cls), arguments, fields)
    yield from (f"there is no attribute {x!r}" for x in sorted(fields - attributes(cls)))
    outside = sections(inspect.cleandoc(cls.__doc__))[""][1:]
    yield from (f"{x!r} is in no section" for x in outside if ENTRY.match(f"    {x}"))
    yield from faults_of_references(inspect.cleandoc(cls.__doc__), cls, cls)


def constructed(cls):
    """The class that has the constructor: documents of a base class count for it."""
    return next((base for base in cls.__mro__ if "__init__" in vars(base) and is_ours(base)), cls)


PLACES = (kt.Robot, kt, *filter(inspect.ismodule, (getattr(kt, x) for x in kt.__all__)))
walked = cache(walk)


@cache
def compared():
    """Every function, class, method and property that is checked: its name, owner and kind."""
    found = {}
    for value, name in walked().items():
        found[value] = name, None, False
        if inspect.isclass(value):
            for member, function, is_property in members(value):
                # a method of a base class is checked once
                found.setdefault(function, (f"{name}.{member}", value, is_property))
    return found


def faults_of(value, owner, is_property):
    if inspect.isclass(value):
        return list(faults_of_class(value))
    return faults_of_function(value, owner, is_property)


def test_names_in_docstrings_are_those_of_the_signature():
    faults = {name: faults_of(value, *how) for value, (name, *how) in compared().items()}
    assert len(faults) > 1000
    assert {name: found for name, found in faults.items() if found} == {}


TEXTS = {"file", "folder", "hint", "joint_name", "message", "name", "of", "parity", "prefix"}
TEXTS |= {"owner", "text", "texture", "topic", "where"}
"""Arguments that are texts of the user's, which may be empty."""


def test_no_choice_is_called_by_an_empty_string():
    for value, (name, *_) in compared().items():
        if (inspect.isclass(value) and issubclass(value, Exception)) or name == "Program":
            continue  # Program is data of the compiler: one traced without a choice has no method
        parameters = inspect.signature(value).parameters.values()
        empty = {p.name for p in parameters if isinstance(p.default, str) and not p.default}
        assert empty <= TEXTS, name


# the test itself


def test_the_walk_finds_what_users_receive():
    found = {value.__name__ for value in walked()}
    received_only = {"Rollout", "Viewer", "Kernel", "CFunction", "Controlled", "ClosedLoopRun"}
    doors = {"Cartesian", "Centroidal", "Charts", "Coriolis", "Differential", "Edit", "Regressors"}
    assert received_only | doors <= found


def complete(q: float, v: float) -> float:
    """The sum of two numbers.

    Arguments:
        q, v: the numbers.

    Returns:
        One number.
    """
    return q + v


def referring(q: float, v: float) -> float:
    """As in `complete`, but faster."""
    return q + v


def lost(q: float, v: float) -> float:
    """See `nothing`."""
    return q + v


def partial(q: float, v: float) -> float:
    """The sum of two numbers, v being the second.

    Arguments:
        q: a number.
        w: another.
    """
    return q + v


def misleading(q: float, speed: float) -> None:
    """Do nothing.

    Arguments:
        q, speed: as in `complete`.

    Returns:
        Nothing.
    """


def unfinished(q: float) -> None:
    """Do

    Arguments:
        q:
    """


@pytest.mark.parametrize(
    ("function", "faults"),
    [
        (complete, []),
        (referring, []),
        (
            lost,
            [
                "argument 'q' is not documented",
                "argument 'v' is not documented",
                "there is no `nothing`",
                "Returns: is missing",
            ],
        ),
        (
            partial,
            [
                "argument 'v' is not documented",
                "there is no argument 'w'",
                "Returns: is missing",
            ],
        ),
        (
            misleading,
            ["'speed': `complete` does not document it", "Returns: but it returns nothing"],
        ),
        (unfinished, ["the first line is not a sentence", "'q': nothing is said about it"]),
    ],
)
def test_faults_are_found(function, faults):
    assert faults_of_function(function, None, False) == faults
