"""Every exception and warning of Kinetree, under one base class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class KinetreeError(Exception):
    """The base of every error that Kinetree raises on purpose."""


class ModelError(KinetreeError, ValueError):
    """A robot's description is wrong: what, where, and what would be valid."""


class ModelWarning(UserWarning):
    """A robot's description is doubtful or unphysical; it was loaded unchanged."""


class CacheError(KinetreeError):
    """Entries of the disk cache cannot be imported."""


class CacheWarning(UserWarning):
    """The disk cache is not used, and code is compiled in every process; the message says why."""


class BackendWarning(UserWarning):
    """Kernels run on something slower than machine code; the message says why."""


class SimulationWarning(UserWarning):
    """A simulation diverged; the message says which environment and when."""


class IdentificationWarning(UserWarning):
    """Measurements contain little information about some parameters; the message names them."""


class LogError(KinetreeError, ValueError):
    """A log of measurements cannot be used: what is wrong, where, and what would be valid."""


class TableError(KinetreeError, ValueError):
    """A file of numbers cannot be read: what is wrong, where, and what would be valid."""


class SingularModelError(ModelError):
    """A joint moves no inertia: its acceleration is not determined by forces."""


class StateError(KinetreeError, ValueError):
    """A state is not a configuration of the robot."""


class SingularChartError(KinetreeError, ArithmeticError):
    """The coordinates of a joint are singular at a state, so accelerations are not determined."""


class FileFormatError(ModelError):
    """A robot file is wrong. The message starts with `file:line:`."""


class AssemblyError(KinetreeError, ValueError):
    """A loop that cannot be closed, or a constraint that cannot be satisfied."""


class MissingFileError(KinetreeError, FileNotFoundError):
    """A robot file does not exist or cannot be read."""


class MissingExtraError(KinetreeError, ImportError):
    """A package of an optional extra is missing; the message names the extra."""


class DeviceError(KinetreeError, RuntimeError):
    """A GPU cannot do what is asked: no memory, no code, or arrays on several devices."""


class ShapeError(KinetreeError, ValueError):
    """An array's last axes do not fit the robot, or batches do not broadcast."""


class DtypeError(KinetreeError, TypeError):
    """An array has a type that kernels do not accept."""


class UnknownNameError(KinetreeError, KeyError):
    """A name that the robot does not have."""

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0])


class TraceError(KinetreeError, TypeError):
    """A traced scalar was used where a number is needed, or the reverse."""


class VerificationError(KinetreeError):
    """A program breaks a rule of the graph: always a defect of Kinetree."""


def unknown(
    kind: str, name: object, valid: Iterable[str], owner: str, hint: str = ""
) -> UnknownNameError:
    """An UnknownNameError that suggests the nearest valid names, or lists all if they are few.

    Arguments:
        kind: what the name should name, such as "frame".
        name: the name that is not valid.
        valid: the valid names.
        owner: where it was looked up, such as "robot 'arm'".
        hint: what would be valid, if the names alone do not say it.

    Returns:
        The error, to be raised.
    """
    hint = hint or _nearest(str(name), list(valid))
    return UnknownNameError(f"{owner} has no {kind} {name!r}: {hint}")


def among(value: object, valid: Iterable[object]) -> bool:
    """Whether a value is one of the valid ones; False if it cannot be compared with them.

    Arguments:
        value: anything.
        valid: the valid values.

    Returns:
        True or False.
    """
    try:
        hash(value)  # arrays have none: comparing them with one name gives many answers
        return value in valid
    except (TypeError, ValueError):
        return False


def _nearest(name: str, names: Sequence[str]) -> str:
    """What to try instead of a name."""
    import difflib  # importing takes time

    near = difflib.get_close_matches(name, names, n=3)
    if near:
        return "did you mean " + " or ".join(repr(n) for n in near) + "?"
    if not names:
        return "there is none"
    if len(names) <= 12:
        return "valid are " + ", ".join(repr(n) for n in names)
    return f"there are {len(names)}, the first {', '.join(repr(n) for n in names[:4])}"


def __dir__() -> list[str]:
    return sorted(
        n for n, c in globals().items() if isinstance(c, type) and issubclass(c, Exception)
    )
