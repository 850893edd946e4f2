"""Names in a xacro document: properties, evaluated on first use, and texts that use them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from kinetree.model.formats.xacro_expressions import (
    Budget,
    ExpressionError,
    Namespace,
    evaluate,
)

TOKEN = re.compile(r"(\$\$+[{(])|\$\{([^}]*)\}|\$\(([^)]*)\)|([^$]+|\$[^{($]+|\$$)")
DEEPEST_VALUE = 40  # depth of properties that refer to others


class Evaluation:
    """Evaluates texts of a document.

    Arguments:
        commands: the functions of $(...), by its first word.
    """

    def __init__(self, commands: dict[str, Callable[[list[str]], Any]]) -> None:
        self._commands, self.budget, self._depth = commands, Budget(), 0

    def text(self, text: str, scope: Scope) -> Any:
        """The value of a text with ${...} and $(...) in it; one expression alone keeps its type."""
        self.budget.spend(1 + len(text) // 16)
        if "$" not in text:
            return text
        self._depth += 1
        try:
            if self._depth > DEEPEST_VALUE:
                raise ExpressionError("properties are defined by one another too deeply")
            parts = self._parts(text, scope)
        finally:
            self._depth -= 1
        if len(parts) == 1:
            return parts[0]
        whole = "".join(map(str, parts))
        self.budget.spend(len(whole))
        return whole

    def _parts(self, text: str, scope: Scope) -> list[Any]:
        parts: list[Any] = []
        at = 0
        while at < len(text):
            token = TOKEN.match(text, at)
            if token is None:
                raise ExpressionError(f"{text[at : at + 80]!r} has no end")
            at = token.end()
            escaped, expression, command, plain = token.groups()
            if escaped is not None:
                parts.append(escaped[1:])
            elif expression is not None:
                inner = str(self.text(expression, scope))
                parts.append(evaluate(inner, scope, self.budget))
            elif command is not None:
                parts.append(self._command(str(self.text(command, scope)), scope))
            else:
                parts.append(plain)
        return parts

    def _command(self, text: str, scope: Scope) -> Any:
        name, *words = text.split() or [""]
        if name == "eval":
            return str(evaluate(text.strip().removeprefix("eval"), scope, self.budget))
        if name not in self._commands:
            known = ", ".join(("eval", *self._commands))
            raise ExpressionError(f"$({name[:80]} ...) is not known; known are {known}")
        return self._commands[name](words)


class Scope(Namespace):
    """The properties of a document, a macro or a namespace, before those around it.

    Arguments:
        evaluation: of texts.
        around: the scope around it; None for the outermost.
        known: what all documents know; only of the outermost.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        around: Scope | None = None,
        known: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.around, self._known, self._evaluation = around, known or {}, evaluation
        self._pending: set[str] = set()
        self._busy: set[str] = set()

    def set(self, name: str, value: Any, lazy: bool) -> None:
        """Give a name a value.

        Arguments:
            name: of the property.
            value: a text, a block or an evaluated value.
            lazy: whether a text is evaluated when the name is first used.
        """
        value = literal(value)
        super().__setitem__(name, value)
        self._pending.discard(name)
        if lazy and isinstance(value, str):
            self._pending.add(name)

    def __getitem__(self, name: str) -> Any:
        scope: Scope | None = self
        while scope is not None:
            if dict.__contains__(scope, name):
                return scope._own(name)
            if scope.around is None:
                return scope._known[name]
            scope = scope.around
        raise KeyError(name)

    def _own(self, name: str) -> Any:
        if name in self._pending:
            if name in self._busy:
                raise ExpressionError(f"{name!r} is defined by itself")
            self._busy.add(name)
            try:
                value = literal(self._evaluation.text(dict.__getitem__(self, name), self))
            finally:
                self._busy.discard(name)
            super().__setitem__(name, value)
            self._pending.discard(name)
        return dict.__getitem__(self, name)

    def __contains__(self, name: object) -> bool:
        scope: Scope | None = self
        while scope is not None:
            if dict.__contains__(scope, name):
                return True
            scope = scope.around
        return False

    def remove(self, name: str) -> None:
        """Remove a name, here and in all outer scopes."""
        scope: Scope | None = self
        while scope is not None:
            scope.pop(name, None)
            scope._pending.discard(name)
            scope = scope.around

    @property
    def outermost(self) -> Scope:
        """The scope of the document."""
        scope = self
        while scope.around is not None:
            scope = scope.around
        return scope


def literal(value: Any) -> Any:
    """A text that is a number or a truth value as such; without the quotes around it."""
    if not isinstance(value, str):
        return value
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1]
    if "_" in value or len(value) > 100:
        return value
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return {"true": True, "True": True, "false": False, "False": False}.get(value, value)


def truth(value: Any, written: str) -> bool:
    """Whether a condition holds.

    Arguments:
        value: of the condition.
        written: as the file has it.
    """
    if isinstance(value, str):
        known = {"true": True, "True": True, "false": False, "False": False}
        if value in known:
            return known[value]
        try:
            return bool(int(value))
        except ValueError:
            raise ExpressionError(
                f"{written[:80]!r} is {value[:80]!r}: true or false is expected"
            ) from None
    return bool(value)
