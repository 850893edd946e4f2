"""The names that columns of numbers may have in files: one rule for every command and reader.

A column is a quantity and a joint: q.elbow, q_elbow, elbow.q or elbow_q; or a quantity and a
number: q_3, q[3] or q3. Other words for q are position and pos; for v they are qd, velocity and
vel; for a they are qdd, acceleration and acc; for tau they are effort, torque and force.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from kinetree.errors import TableError

WORDS = {
    "q": ("q", "position", "pos"),
    "tau": ("tau", "effort", "torque", "force"),
    "v": ("v", "qd", "velocity", "vel"),
    "a": ("a", "qdd", "acceleration", "acc"),
}
"""What a quantity may be called; any other has its own name alone."""


def possible_names(kind: str, name: str, k: int) -> Iterator[str]:
    """The names that a column may have, the usual ones first.

    Arguments:
        kind: the quantity, such as "q".
        name: of the joint, or of another entry.
        k: its number, from 0 on.
    """
    for word in WORDS.get(kind, (kind,)):
        yield from (f"{word}.{name}", f"{word}_{name}", f"{name}.{word}", f"{name}_{word}")
        yield from (f"{word}_{k}", f"{word}[{k}]", f"{word}{k}")


def find_column(
    present: Collection[str], kind: str, name: str, k: int, renamed: Mapping[str, str] | None = None
) -> str | None:
    """The column that has an entry of a quantity; None if there is none.

    Arguments:
        present: the names of the columns of a file.
        kind, name, k: as in `possible_names`.
        renamed: the names that columns have in the file, by what they are.
    """
    for label in possible_names(kind, name, k):
        found = (renamed or {}).get(label, label)
        if found in present:
            return found
    return None


def column_option(text: str) -> tuple[str, str]:
    """What a column is, and its name, from a text such as q.elbow=pos_3."""
    what, equals, name = (part.strip() for part in text.partition("="))
    if not (what and equals and name):
        raise TableError(f"--column {text!r}: WHAT=NAME is expected, such as q.elbow=pos_3")
    return what, name
