"""The names that columns of numbers may have in files: one rule for every command and reader.

A column is a quantity and a joint: q.elbow, q_elbow, elbow.q or elbow_q; or a quantity and a
number: q_3, q[3] or q3. Other words for q are position and pos; for v they are qd, velocity and
vel; for a they are qdd, acceleration and acc; for tau they are effort, torque and force.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from kinetree.errors import TableError, unknown

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


def columns_of_options(
    options: Iterable[str], positions: Sequence[str], velocities: Sequence[str]
) -> dict[str, str]:
    """The names of columns by what they are, from texts WHAT=NAME.

    A star stands for the same text in both, for every coordinate that fits: q.joint*=pos_* for
    q.joint1=pos_1, q.joint2=pos_2 and so on.

    Arguments:
        options: the texts.
        positions, velocities: the labels of a robot's q and v.
    """
    known = [f"q.{name}" for name in positions]
    known += [f"{kind}.{name}" for kind in ("v", "a", "tau") for name in velocities]
    known += [f"q_{k}" for k in range(len(positions))]
    known += [f"{kind}_{k}" for kind in ("v", "a", "tau") for k in range(len(velocities))]
    found = {}
    for text in options:
        what, name = column_option(text)
        if "*" not in what + name:
            _check_coordinate(text, what, known, positions, velocities)
            found[what] = name
            continue
        if what.count("*") != 1 or name.count("*") != 1:
            raise TableError(f"--column {text!r}: one * is expected on either side of =")
        pattern = re.compile(re.escape(what).replace(r"\*", "(.+)"))
        fits = {x: match[1] for x in known if (match := pattern.fullmatch(x))}
        if not fits:
            raise TableError(
                f"--column {text!r}: no coordinate fits {what!r}; there are {known[0]!r} and "
                f"{known[-1]!r}, among others"
            )
        found |= {x: name.replace("*", part) for x, part in fits.items()}
    return found


def _check_coordinate(
    text: str, what: str, known: Sequence[str], positions: Sequence[str], velocities: Sequence[str]
) -> None:
    """Refuse a name such as q.elbo, of a coordinate that the robot does not have."""
    kind, dot, _ = what.partition(".")
    if not dot or kind not in WORDS:
        return  # a number of a coordinate, or a column that is kept
    names = positions if kind == "q" else velocities
    if not any(what in possible_names(kind, name, k) for k, name in enumerate(names)):
        raise unknown("coordinate", what, known, f"--column {text!r}: the robot")
