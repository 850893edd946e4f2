"""Odd values for arguments: what is given one must answer, or refuse it by a sentence of ours."""

import inspect
import signal
from contextlib import contextmanager

import numpy as np

import kinetree as kt
from kinetree.errors import KinetreeError

ODD = {
    "None": None,
    "text": "text",
    "an empty list": [],
    "an array without axes": np.array(1.0),
    "not a number": float("nan"),
    "infinity": float("inf"),
    "an array of no numbers": np.full(2, np.nan),
    "a truth value": True,
    "a huge integer": 10**400,
    "an array of objects": np.array([object(), None]),
    "a negative number": -1,
    "zero": 0,
    "an empty array": np.zeros((0, 2)),
    "another shape": np.zeros(3),
    "ragged rows": [[1], [1, 2]],
    "a complex number": 1j,
    "a large number": 1e308,
    "many axes": np.zeros((2, 2, 2)),
    "an object": object(),
    "bytes": b"x",
    "a list of a list": [["tip"]],
    "an array of text": np.array(["arm", "tip"]),
    "a mapping": {"tip": None},
}
WORDS = {
    "accelerated": "moving joint",
    "bodies": "body",
    "external": "frame",
    "file": "the file name must end",
    "first": "time",
    "link": "frame",
    "locked": "moving joint",
    "names": "has no",
    "path": "text",  # its value
    "torque": "velocity",
    "u": "other controls",
    "wrt": "argument",
}
"""By what else than its name an error may call an argument."""
SECONDS = 10
"""A call that takes longer runs on."""


def two_links():
    """A small robot."""
    assembly = kt.Assembly("two")
    assembly.add("arm", "base", kt.joints.Revolute("y"), mass=1.0, com=(0.0, 0.0, 0.2))
    assembly.add("tip", "arm", kt.joints.Revolute("y"), (0.0, 0.0, 0.4), mass=1.0, com=(0, 0, 0.2))
    return assembly.robot()


ROBOT = two_links()


@contextmanager
def patience():
    """End a call that runs on, where the system can."""

    def stop(*_):
        raise TimeoutError(f"it runs on for more than {SECONDS} s")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def wrong_answers(function, given, argument, odd=ODD, words=()):
    """What goes wrong when odd values are given: foreign errors, and those that do not say where.

    Arguments:
        function: what is called.
        given: its other arguments, by name.
        argument: the name of the odd one.
        odd: values by what they are.
        words: any of which an error may use instead of the argument's name.
    """
    for what, value in odd.items():
        try:
            with patience():
                function(**(given | {argument: value}))
        except KinetreeError as e:
            known = argument, argument.removesuffix("s"), WORDS.get(argument, argument), *words
            if not any(word in str(e) for word in known):
                yield f"{argument} = {what}: {type(e).__name__} does not name it: {e}"
        except Exception as e:
            yield f"{argument} = {what}: {type(e).__name__}: {e}"


def arguments_of(function):
    """The names of what a function takes by name."""
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind in kinds]
