"""Expressions of xacro: a small part of Python, evaluated here within bounds.

xacro's own evaluator passes expressions to Python's `eval` and can be led out of its restrictions,
so this one walks the syntax tree itself and knows nothing but numbers, texts, lists, dictionaries,
and the functions in `FUNCTIONS`. It has no attributes of Python's objects, no files and no modules.
Each step is charged to a budget, each result by its size: whatever a file holds, evaluating it
takes bounded time and memory.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

LONGEST = 4000  # characters of an expression
LARGEST = 20_000  # entries and characters of a value
MOST_BITS = 4096  # of a whole number
BUDGET = 1_000_000  # steps and entries in one document


class ExpressionError(Exception):
    """An expression that cannot be evaluated; the message is a sentence for users."""


def _round(x: Any, digits: Any = None) -> Any:
    if digits is None:
        return round(x)
    if not isinstance(digits, int) or abs(digits) > 400:
        raise ExpressionError("round takes at most 400 digits")
    return round(x, digits)


def _range(*bounds: Any) -> list[int]:
    found = range(*bounds)
    if len(found) > LARGEST:
        raise ExpressionError(f"a range has more than {LARGEST} entries")
    return list(found)


def _sum(values: Any, start: Any = 0) -> Any:
    for value in values:
        if not isinstance(value, (int, float)):
            raise ExpressionError("sum takes numbers")
        start = start + value
    return start


def _join(separator: str, texts: Any) -> str:
    parts = list(texts)
    if sum(len(x) for x in parts) + len(separator) * len(parts) > LARGEST:
        raise ExpressionError(f"a text has more than {LARGEST} characters")
    return separator.join(parts)


def _replace(text: str, old: str, new: str) -> str:
    if len(text) + (text.count(old) if old else len(text) + 1) * len(new) > LARGEST:
        raise ExpressionError(f"a text has more than {LARGEST} characters")
    return text.replace(old, new)


def _dict(*pairs: Any, **named: Any) -> dict[Any, Any]:
    return dict(*pairs, **named)


UNBOUNDED = ("factorial", "comb", "perm", "prod")
MATH = {k: v for k, v in vars(math).items() if k[0] != "_" and k not in UNBOUNDED}
PLAIN = (list, len, str, float, int, bool, min, max, abs, sorted, all, any, tuple, set)
FUNCTIONS: dict[str, Any] = {x.__name__: x for x in PLAIN} | {
    "dict": _dict,
    "round": _round,
    "sum": _sum,
    "range": _range,
    "zip": lambda *lists: list(zip(*lists, strict=False)),
    "enumerate": lambda values: list(enumerate(values)),
    "map": lambda function, *lists: list(map(function, *lists)),
    "reversed": lambda values: list(reversed(values)),
    "tokenize": lambda text: text.replace(",", " ").replace(";", " ").split(),
    "dotify": lambda values: values,
}
NAMES: dict[str, Any] = {**MATH, **FUNCTIONS, "True": True, "False": False, "None": None}
NAMES |= {"true": True, "false": False}
PYTHON = {name: FUNCTIONS[name] for name in FUNCTIONS if name not in ("tokenize", "dotify")}
METHODS: dict[tuple[type, str], Callable[..., Any]] = {
    **{(str, name): getattr(str, name) for name in ("lower", "upper", "strip", "split")},
    **{(str, name): getattr(str, name) for name in ("startswith", "endswith", "find", "count")},
    **{(str, name): getattr(str, name) for name in ("lstrip", "rstrip", "title", "capitalize")},
    (str, "join"): _join,
    (str, "replace"): _replace,
    (dict, "get"): dict.get,
    (dict, "keys"): lambda d: list(d),
    (dict, "values"): lambda d: list(d.values()),
    (dict, "items"): lambda d: list(d.items()),
    (list, "index"): list.index,
    (list, "count"): list.count,
}
"""The methods of values that may be called."""
OPERATIONS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}


class Namespace(dict[str, Any]):
    """Names behind a dot, as in math.pi."""


@dataclass
class Budget:
    """The remaining budget for evaluating a document."""

    left: int = BUDGET

    def spend(self, cost: int) -> None:
        """Take from the budget; an error if it is used up."""
        self.left -= cost
        if self.left < 0:
            raise ExpressionError("evaluating the file takes too long")


def evaluate(text: str, names: Mapping[str, Any], budget: Budget) -> Any:
    """The value of an expression.

    Arguments:
        text: of the expression.
        names: the values of its names.
        budget: charged with the cost.
    """
    if len(text) > LONGEST:
        raise ExpressionError(f"it has more than {LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return _Evaluator(names, budget).value(tree.body)
    except SyntaxError as e:
        raise ExpressionError(f"it is not an expression: {e.msg}") from None
    except KeyError as e:
        raise ExpressionError(f"{str(e.args[0])[:80]!r} is not defined") from None
    except (RecursionError, MemoryError):
        raise ExpressionError("it is nested too deeply, or too large") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as e:
        raise ExpressionError(str(e)[:200]) from None


class _Evaluator:
    def __init__(self, names: Mapping[str, Any], budget: Budget) -> None:
        self._names, self._budget = names, budget

    def value(self, node: ast.AST) -> Any:
        """The value of a node of the syntax tree."""
        self._budget.spend(1)
        visit = getattr(self, f"_{type(node).__name__}", None)
        if visit is None:
            what = type(node).__name__
            raise ExpressionError(f"{what} is not allowed in expressions of xacro here")
        found = visit(node)
        self._budget.spend(weight(found))
        return found

    def _Constant(self, node: ast.Constant) -> Any:
        return node.value

    def _Name(self, node: ast.Name) -> Any:
        return self._names[node.id]

    def _List(self, node: ast.List) -> Any:
        return [self.value(x) for x in node.elts]

    def _Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.value(x) for x in node.elts)

    def _Set(self, node: ast.Set) -> Any:
        return {self.value(x) for x in node.elts}

    def _Dict(self, node: ast.Dict) -> Any:
        if None in node.keys:
            raise ExpressionError("** is not allowed in expressions of xacro here")
        keys = [self.value(x) for x in node.keys if x is not None]
        return dict(zip(keys, (self.value(x) for x in node.values), strict=True))

    def _UnaryOp(self, node: ast.UnaryOp) -> Any:
        return self._operation(node.op)(self.value(node.operand))

    def _operation(self, op: ast.AST) -> Callable[..., Any]:
        if type(op) not in OPERATIONS:
            raise ExpressionError(f"{type(op).__name__} is not allowed in expressions of xacro")
        return OPERATIONS[type(op)]

    def _BinOp(self, node: ast.BinOp) -> Any:
        a, b = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Pow):
            return _power(a, b)
        if isinstance(node.op, ast.Mult):
            return _product(a, b)
        if isinstance(node.op, ast.Mod) and isinstance(a, str):
            raise ExpressionError("% on texts is not allowed in expressions of xacro here")
        return self._operation(node.op)(a, b)

    def _BoolOp(self, node: ast.BoolOp) -> Any:
        found = None
        for part in node.values:
            found = self.value(part)
            if bool(found) == isinstance(node.op, ast.Or):
                break
        return found

    def _Compare(self, node: ast.Compare) -> Any:
        left = self.value(node.left)
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part)
            if not self._operation(op)(left, right):
                return False
            left = right
        return True

    def _IfExp(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _Subscript(self, node: ast.Subscript) -> Any:
        return self.value(node.value)[self.value(node.slice)]

    def _Slice(self, node: ast.Slice) -> Any:
        parts = (node.lower, node.upper, node.step)
        return slice(*(None if part is None else self.value(part) for part in parts))

    def _Attribute(self, node: ast.Attribute) -> Any:
        home = self.value(node.value)
        if isinstance(home, Mapping):  # a namespace, or a dictionary of YAML
            return home[node.attr]
        raise ExpressionError(f".{node.attr} is not allowed in expressions of xacro here")

    def _Call(self, node: ast.Call) -> Any:
        given: list[Any] = []
        for part in node.args:
            if isinstance(part, ast.Starred):
                given += list(self.value(part.value))
            else:
                given.append(self.value(part))
        named = {k.arg: self.value(k.value) for k in node.keywords if k.arg is not None}
        if len(named) < len(node.keywords):
            raise ExpressionError("** is not allowed in expressions of xacro here")
        if isinstance(node.func, ast.Attribute):
            home = self.value(node.func.value)
            method = METHODS.get((_kind(home), node.func.attr))
            if method is not None:
                return method(home, *given, **named)
        function = self.value(node.func)
        if not callable(function) or isinstance(function, (Mapping, list, str)):
            raise ExpressionError(f"{ast.unparse(node.func)[:80]} is not a function")
        return function(*given, **named)

    def _comprehension(self, node: Any, make: Callable[[_Evaluator], Any]) -> list[Any]:
        """The results of a comprehension with one loop."""
        if len(node.generators) != 1:
            raise ExpressionError("a comprehension may have one loop")
        (loop,) = node.generators
        found = []
        for item in self.value(loop.iter):
            inner = _Evaluator(_Bound(self._names, _targets(loop.target, item)), self._budget)
            if all(inner.value(test) for test in loop.ifs):
                found.append(make(inner))
        return found

    def _ListComp(self, node: ast.ListComp) -> Any:
        return self._comprehension(node, lambda inner: inner.value(node.elt))

    def _GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return self._comprehension(node, lambda inner: inner.value(node.elt))

    def _DictComp(self, node: ast.DictComp) -> Any:
        pair = self._comprehension(node, lambda i: (i.value(node.key), i.value(node.value)))
        return dict(pair)


class _Bound(dict[str, Any]):
    """Names of a comprehension before those around it."""

    def __init__(self, around: Mapping[str, Any], own: dict[str, Any]) -> None:
        super().__init__(own)
        self._around = around

    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(name) if name in self else self._around[name]


def _targets(target: ast.AST, item: Any) -> dict[str, Any]:
    if isinstance(target, ast.Name):
        return {target.id: item}
    if isinstance(target, ast.Tuple):
        found: dict[str, Any] = {}
        for part, value in zip(target.elts, item, strict=True):
            found |= _targets(part, value)
        return found
    raise ExpressionError("a comprehension binds names")


def _kind(value: Any) -> type:
    return next((kind for kind in (str, dict, list) if isinstance(value, kind)), object)


def _power(a: Any, b: Any) -> Any:
    if not all(isinstance(x, (int, float)) for x in (a, b)):
        raise ExpressionError("** takes numbers")
    if isinstance(a, int) and isinstance(b, int) and abs(b) * max(a.bit_length(), 1) > MOST_BITS:
        raise ExpressionError("a power is too large")
    return a**b


def _product(a: Any, b: Any) -> Any:
    size = next((len(x) for x in (a, b) if isinstance(x, (str, list, tuple))), 0)
    count = next((x for x in (a, b) if isinstance(x, int)), 1)
    if size * max(count, 0) > LARGEST:
        raise ExpressionError(f"a value has more than {LARGEST} entries")
    return a * b


def weight(value: Any) -> int:
    """The size of a value; an error if it is too large.

    Arguments:
        value: of an expression.
    """
    total, pending = 0, [value]
    while pending:
        x = pending.pop()
        total += 1
        if isinstance(x, str):
            total += len(x)
        elif isinstance(x, int) and x.bit_length() > MOST_BITS:
            raise ExpressionError("a whole number is too large")
        elif isinstance(x, Namespace):
            continue
        elif isinstance(x, Mapping):
            pending += [*x.keys(), *x.values()]
        elif isinstance(x, (list, tuple, set)):
            pending += x
        if total + len(pending) > 4 * LARGEST:
            raise ExpressionError(f"a value has more than {LARGEST} entries")
    return total
