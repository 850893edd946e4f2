"""Expanding xacro: properties, macros, conditions and includes become plain XML.

The language is that of ROS's package xacro 2 (https://github.com/ros/xacro/wiki), and tests compare
with it. It is not used here, since a file can make it run any program, read any file and loop
forever. Here expressions are evaluated by `xacro_expressions.py`, files must lie in the robot's
folders or in a package, environment variables are not read, and the number and depth of elements is
bounded.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kinetree.errors import FileFormatError
from kinetree.model.formats.packages import Finder
from kinetree.model.formats.xacro_expressions import (
    MATH,
    NAMES,
    PYTHON,
    ExpressionError,
    Namespace,
)
from kinetree.model.formats.xacro_files import Surroundings
from kinetree.model.formats.xacro_scope import Evaluation, Scope, truth
from kinetree.model.formats.xml import LONGEST_NAME, Element, brief

MOST_ELEMENTS = 50_000  # of the result, and of what macros generate on the way
DEEPEST = 80  # depth of nested elements and macros
PREFIX = "xacro:"
PARAMETER = re.compile(
    r"\s*([^\s:=]+)\s*:?=\s*(\^\|?)?(\$\{[^}]*\}|\$\([^)]*\)|(?:'[^']*'|\"[^\"]*\"|[^\s'\"])*)"
    r"(?:\s+|$)"
)
LONGEST_PARAMETERS = 4000  # characters


def expanded(root: Element, finder: Finder, arguments: Mapping[str, str]) -> Element:
    """A document without macros.

    Arguments:
        root: of the document.
        finder: of packages and files.
        arguments: of the document, instead of their defaults.
    """
    work = _Expansion(Surroundings(finder, dict(arguments), root.file))
    try:
        return work.document(root)
    except ExpressionError as e:
        raise FileFormatError(f"{root.where}: {e}") from None
    except RecursionError:
        raise FileFormatError(f"{root.where}: macros are nested too deeply") from None


@dataclass
class _Macro:
    """A macro.

    Arguments:
        body: the element that defines it.
        parameters: their names, blocks with * or ** before.
        defaults: for each, whether the outer scope is its default, and the text of its default.
    """

    body: Element
    parameters: list[str] = field(default_factory=list)
    defaults: dict[str, tuple[bool, str]] = field(default_factory=dict)


Macros = ChainMap[str, Any]
"""Macros by name, and the macros of namespaces."""


class _Expansion:
    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._elements = self._depth = 0
        self._evaluation = Evaluation(around.commands())

    def document(self, root: Element) -> Element:
        """The document without macros."""
        around, budget = self._around, self._evaluation.budget
        own = {
            "load_yaml": lambda name: around.load_yaml(name, budget),
            "abs_filename": lambda name: name,
        }
        functions: dict[str, Any] = {"arg": lambda name: around.argument([str(name)]), **own}
        functions |= {"dotify": lambda x: x, "tokenize": NAMES["tokenize"]}
        known = NAMES | own | {"xacro": Namespace(functions)}
        known |= {"math": Namespace(MATH), "python": Namespace(PYTHON)}
        scope = Scope(self._evaluation, None, known)
        return self._plain(root, ChainMap(), scope)

    # elements

    def _plain(self, element: Element, macros: Macros, scope: Scope) -> Element:
        """An element that is no macro, with its attributes, its text and its children evaluated."""
        self._enter(element)
        attributes = {}
        for key, value in element.attributes.items():
            if not key.startswith((PREFIX, "xmlns:xacro")):
                attributes[key] = self._text(element, value, scope)
        made = replace(element, attributes=attributes, children=[])
        if "$" in element.content and len(element.content) < LONGEST_NAME:
            made.content = self._text(element, element.content, scope)
        made.children = self._children(element, made, macros, scope)
        self._depth -= 1
        return made

    def _enter(self, element: Element) -> None:
        self._elements += 1
        self._depth += 1
        if self._elements > MOST_ELEMENTS:
            raise element.error(f"the macros make more than {MOST_ELEMENTS} elements")
        if self._depth > DEEPEST:
            raise element.error(f"elements and macros are nested more than {DEEPEST} deep")

    def _children(
        self, element: Element, home: Element, macros: Macros, scope: Scope
    ) -> list[Element]:
        """The expansion of an element's children; some change the element they are in."""
        made: list[Element] = []
        for child in element.children:
            if child.tag.startswith(PREFIX):
                made += self._special(child, home, macros, scope)
            else:
                made.append(self._plain(child, macros, scope))
        return made

    def _special(
        self, element: Element, home: Element, macros: Macros, scope: Scope
    ) -> list[Element]:
        """The expansion of a xacro element."""
        tag = element.tag.removeprefix(PREFIX)
        if tag in ("if", "unless"):
            element.text("value")
            if self._flag(element, "value", scope, True) == (tag == "if"):
                return self._inside(element, home, macros, scope)
            return []
        if tag == "property":
            self._property(element, scope)
        elif tag == "macro":
            macros[element.name().removeprefix(PREFIX)] = _macro(element)
        elif tag == "arg":
            default = self._text(element, element.text("default"), scope)
            self._around.arguments.setdefault(element.name(), default)
        elif tag == "attribute":
            name = self._text(element, element.text("name"), scope)
            home.attributes[name] = self._text(element, element.text("value"), scope)
        elif tag == "element":
            return [self._element(element, macros, scope)]
        elif tag == "include":
            return self._include(element, home, macros, scope)
        elif tag == "insert_block":
            return self._block(element, home, macros, scope)
        else:
            return self._call(element, home, macros, scope)
        return []

    def _inside(
        self, element: Element, home: Element, macros: Macros, scope: Scope
    ) -> list[Element]:
        """The expansion of the children of an element that is removed itself."""
        self._enter(element)
        made = self._children(element, home, macros, scope)
        self._depth -= 1
        return made

    def _element(self, element: Element, macros: Macros, scope: Scope) -> Element:
        name = self._text(element, element.text("xacro:name"), scope)
        if not name or name.startswith(PREFIX):
            raise element.error(f"xacro:name={brief(name)!r}: the name of an element is expected")
        return self._plain(replace(element, tag=name), macros, scope)

    def _value(self, element: Element, text: str, scope: Scope) -> Any:
        try:
            return self._evaluation.text(text, scope)
        except ExpressionError as e:
            raise element.error(f"{brief(text)!r}: {e}") from None

    def _text(self, element: Element, text: str, scope: Scope) -> str:
        return str(self._value(element, text, scope)) if "$" in text else text

    # properties

    def _property(self, element: Element, scope: Scope) -> None:
        keys = element.attributes
        name = self._text(element, element.text("name"), scope)
        if not name.isidentifier() or name.startswith("__"):
            raise element.error(f"{brief(name)!r} cannot be the name of a property")
        if self._flag(element, "remove", scope, False):
            scope.remove(name)
            return
        if "default" in keys and name in scope:
            return
        value: Any = keys.get("value", keys.get("default"))
        if value is None:
            name, value = f"**{name}", element
        lazy, target = self._flag(element, "lazy_eval", scope, True), scope
        if keys.get("scope") == "global":
            lazy, target = False, scope.outermost
        elif keys.get("scope") == "parent" and scope.around is not None:
            lazy, target = False, scope.around
        if not lazy and isinstance(value, str):
            value = self._value(element, value, scope)
        target.set(name, value, lazy)

    def _flag(self, element: Element, key: str, scope: Scope, default: bool) -> bool:
        if key not in element.attributes:
            return default
        written = element.attributes[key]
        try:
            return truth(self._value(element, written, scope), written)
        except ExpressionError as e:
            raise element.error(str(e)) from None

    def _block(
        self, element: Element, home: Element, macros: Macros, scope: Scope
    ) -> list[Element]:
        name = element.name()
        for stars in ("**", "*"):
            if f"{stars}{name}" in scope:
                block = scope[f"{stars}{name}"]
                if stars == "**":
                    return self._inside(block, home, macros, scope)
                around = replace(element, children=[block])
                return self._inside(around, home, macros, scope)
        raise element.error(f"there is no block {brief(name)!r}")

    # macros

    def _call(self, element: Element, home: Element, macros: Macros, scope: Scope) -> list[Element]:
        name, given = element.tag.removeprefix(PREFIX), dict(element.attributes)
        if name == "call":
            name = self._text(element, element.text("macro"), scope)
            del given["macro"]
        macro, around = self._find_macro(element, name, macros, scope)
        inner = Scope(self._evaluation, around)
        left = list(macro.parameters)
        for key, value in given.items():
            if key not in left:
                known = ", ".join(macro.parameters) or "none"
                raise element.error(f"the macro has no parameter {brief(key)!r}; it has {known}")
            left.remove(key)
            inner.set(key, self._value(element, value, scope), lazy=False)
        blocks = self._children(element, element, macros, scope)
        for parameter in [x for x in left if x.startswith("*")]:
            if not blocks:
                raise element.error(f"the macro needs a block for {brief(parameter)!r}")
            inner.set(parameter, blocks.pop(0), lazy=False)
            left.remove(parameter)
        if blocks:
            raise element.error(f"the macro takes no block {blocks[0]}")
        for parameter in left:
            inner.set(parameter, self._default(element, macro, parameter, scope), lazy=False)
        return self._inside(macro.body, home, macros.new_child(), inner)

    def _default(self, element: Element, macro: _Macro, parameter: str, scope: Scope) -> Any:
        outer, text = macro.defaults.get(parameter, (False, ""))
        if outer and parameter in scope:
            return self._evaluate_name(element, parameter, scope)
        if not text:
            raise element.error(f"the parameter {brief(parameter)!r} of the macro is missing")
        return self._value(element, text, scope)

    def _evaluate_name(self, element: Element, name: str, scope: Scope) -> Any:
        try:
            return scope[name]
        except ExpressionError as e:
            raise element.error(str(e)) from None

    def _find_macro(
        self, element: Element, name: str, macros: Macros, scope: Scope
    ) -> tuple[_Macro, Scope]:
        """A macro by its name, which may have namespaces before it; and where it is evaluated."""
        *spaces, last = name.split(".")
        for space in spaces:
            inner = macros.get(space)
            if not isinstance(inner, ChainMap) or not isinstance(scope[space], Scope):
                raise element.error(f"there is no namespace {brief(space)!r}")
            macros, scope = inner, scope[space]
        macro = macros.get(last)
        if not isinstance(macro, _Macro):
            raise element.error(f"there is no macro {brief(name)!r}")
        return macro, scope

    # files

    def _include(
        self, element: Element, home: Element, macros: Macros, scope: Scope
    ) -> list[Element]:
        name = self._text(element, element.text("filename"), scope)
        files = list(self._around.matching(name))
        if not files:
            if self._flag(element, "optional", scope, False) or re.search(r"[*?[]", name):
                return []
            raise element.error(
                f"filename={brief(name)!r}: there is no such file in the robot's folder or its "
                "packages; nothing else is read"
            )
        if "ns" in element.attributes:
            space = self._text(element, element.attributes["ns"], scope)
            inner = Scope(self._evaluation, scope)
            dict.__setitem__(scope, space, inner)
            macros[space] = ChainMap()
            macros, scope = macros[space], inner
        made: list[Element] = []
        for file in files:
            document = self._around.document(file)
            self._around.files.append(str(file))
            for key, value in document.attributes.items():
                if key.startswith("xmlns:") and key != "xmlns:xacro":
                    home.attributes.setdefault(key, value)
            made += self._inside(document, home, macros, scope)
            self._around.files.pop()
        return made


def _macro(element: Element) -> _Macro:
    """The macro that an element defines."""
    macro, text = _Macro(element), element.attributes.get("params", "")
    if len(text) > LONGEST_PARAMETERS:
        raise element.error(f"params has more than {LONGEST_PARAMETERS} characters")
    while text.strip():
        found = PARAMETER.match(text)
        if found is None:
            name, _, text = text.strip().partition(" ")
        else:
            name, outer, default = found.groups()
            macro.defaults[name] = bool(outer), default
            text = text[found.end() :]
        macro.parameters.append(name)
    return macro
