"""The reference page: every object that users meet, each from its docstring.

python tools/reference_page.py
"""

from __future__ import annotations

import inspect
from pathlib import Path

from tools.public_objects import exported, walk

import kinetree as kt

PAGE = Path(__file__).parents[1] / "docs/reference.md"
FIRST = ("load", "Robot", "Simulation", "Assembly")
OTHERS = "What methods take and give"


def sections() -> dict[str, list[tuple[str, object]]]:
    """The names on the page with what they mean, by the title of their section."""
    found: dict[str, list[tuple[str, object]]] = {"kinetree": []}
    for name in sorted(kt.__all__, key=lambda x: (x not in FIRST, x)):
        value = getattr(kt, name)
        if inspect.ismodule(value):
            home = value.__name__
            found[home] = [(f"{home}.{x}", getattr(value, x)) for x in exported(value)]
        else:
            found["kinetree"].append((f"kinetree.{name}", value))
    known = {id(value) for names in found.values() for _, value in names}
    for value in walk():
        home = value.__module__
        title = home if home.startswith("kinetree.bridges.") else OTHERS
        if id(value) not in known:
            found.setdefault(title, []).append((f"{home}.{value.__qualname__}", value))
    found[OTHERS] = sorted(found.pop(OTHERS), key=lambda x: x[0])
    return found


def page() -> str:
    """The text of the page. What has two names is described under the first."""
    lines = ["# Reference", "", "Every public name, from its docstring."]
    first: dict[int, str] = {}
    for title, names in sections().items():
        lines += ["", f"## {title}"]
        for name, value in names:
            described = inspect.isclass(value) or inspect.isfunction(value)
            if described and first.setdefault(id(value), name) != name:
                lines += ["", f"`{name}` is `{first[id(value)]}`."]
                continue
            lines += ["", f"::: {name}"]
            if title == "kinetree.scalar":  # made when it is imported: in no source
                lines += ["    options: {force_inspection: true}"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
