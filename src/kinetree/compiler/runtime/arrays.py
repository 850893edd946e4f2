"""Which arrays a kernel takes and what it gives back: one rule for every method.

Arrays of other packages (foreign/) follow the same rule, and so does what is given beside them.

- A NumPy array of float64 or float32 is taken as it is, in any layout.
- Whatever NumPy makes an array of becomes one first: lists, numbers, integers, other byte orders,
  memory maps, pandas' frames (their columns in order; labels mean nothing here).
- An array of another package that comes here is refused: it is beside arrays of a third one, or
  where results cannot be given back as such arrays.
- A masked array is refused: what is masked has no meaning for a robot. So are complex numbers,
  extended precision, text and objects.
- Results are plain NumPy arrays, of float32 if every argument is, else of float64. A number a state
  is an array without axes if one state was given.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.compiler.runtime.foreign import KINDS, foreign_name, foreign_name_inside
from kinetree.errors import DtypeError, ShapeError

Shapes = Sequence[tuple[str, tuple[int, ...]]]
"""Names of operands and the shapes of one state's."""
DTYPES: dict[str, np.dtype[Any]] = {
    "double": np.dtype(np.float64),
    "float": np.dtype(np.float32),
}


def kind_of_dtype(dtype: Any) -> str:
    """The kind of number of a dtype, "double" or "float".

    Arguments:
        dtype: "float64", "float32", or anything else that NumPy takes for one of them.
    """
    for kind, known in DTYPES.items():
        with contextlib.suppress(TypeError):
            if np.dtype(dtype) == known:
                return kind
    raise DtypeError(f"dtype={dtype!r}: float64 or float32 is expected")


def kind_of_plain(arrays: Sequence[Any]) -> str | None:
    """The kind of number for plain arrays: "float" if all are float32, else "double".

    None if one of them is not a plain array.
    """
    double, single = DTYPES["double"], DTYPES["float"]
    kind = "float"
    for array in arrays:
        if type(array) is not np.ndarray:
            return None
        if array.dtype is double:
            kind = "double"
        elif array.dtype is not single:
            return None
    return kind


def kind_of_numbers(arrays: Sequence[Any]) -> str:
    """The kind of number for arrays of any package: "float" if all are float32, else "double"."""
    single = all(getattr(array, "dtype", None) == DTYPES["float"] for array in arrays)
    return "float" if single else "double"


def check_count(kernel: str, inputs: Shapes, given: Sequence[Any]) -> None:
    """Refuse another number of arguments than a kernel has."""
    if len(given) != len(inputs):
        names = ", ".join(name for name, _ in inputs)
        raise ShapeError(f"{kernel} takes {names}: {len(given)} arrays were given")


def plain_arrays(kernel: str, inputs: Shapes, given: Sequence[Any]) -> list[np.ndarray]:
    """The arguments of a call as plain arrays of float64 or float32.

    Arguments:
        kernel: its name, for messages.
        inputs: the names of its arguments and the shapes of one state's.
        given: what the caller gave.
    """
    check_count(kernel, inputs, given)
    return [plain_array(f"{kernel}: {name}", x) for (name, _), x in zip(inputs, given, strict=True)]


def plain_array(what: str, given: Any) -> np.ndarray:
    """One argument as a plain array of float64 or float32.

    Arguments:
        what: its name, for messages.
        given: what the caller gave.
    """
    if kind_of_plain([given]):
        return given
    refuse_masked(what, given)
    if other := foreign_name((given,)):
        raise DtypeError(f"{what} is {KINDS[other]}; an array of NumPy is expected")
    if other := foreign_name_inside(given):
        raise DtypeError(f"{what} is a list, and in it is {KINDS[other]}; one array is expected")
    try:
        array = np.asarray(given)
    except ValueError as e:
        raise ShapeError(f"{what} is ragged, its rows differ in length: {e}") from None
    except TypeError as e:  # an array elsewhere than in this process's memory
        raise DtypeError(
            f"{what} is a {type(given).__name__}, and no array of NumPy: {e}"
        ) from None
    check_dtype(what, array.dtype)
    kind = DTYPES["float" if array.dtype.str[1:] == "f4" else "double"]
    return array.astype(kind, copy=False).view(kind)  # the very dtype object


def check_dtype(what: str, dtype: np.dtype[Any]) -> None:
    """Refuse numbers that are neither real nor at most of double precision, and what is no number.

    Arguments:
        what: the argument's name, for messages.
        dtype: its own.
    """
    if dtype.kind not in "fiub" or dtype.itemsize > 8:
        raise DtypeError(f"{what} has dtype {dtype}; float64 is expected (or float32, or integers)")


def refuse_masked(what: str, given: Any) -> None:
    """Refuse a masked array.

    Arguments:
        what: the argument's name, for messages.
        given: what the caller gave.
    """
    ma = sys.modules.get("numpy.ma")  # which NumPy imports only when somebody needs it
    if ma is not None and isinstance(given, ma.MaskedArray):
        raise DtypeError(f"{what} is a masked array; a plain one is expected, as by .filled(value)")


def batch_shape(kernel: str, inputs: Shapes, arrays: Sequence[Any]) -> tuple[int, ...]:
    """The broadcast batch shape of the arguments, which have a shape and a number of axes."""
    batches = []
    for (name, shape), array in zip(inputs, arrays, strict=True):
        axes = array.ndim - len(shape)
        if axes < 0 or array.shape[axes:] != shape:
            raise ShapeError(
                f"{kernel}: {name} has shape {array.shape}; "
                f"the last {_axes(len(shape))} must be {_text(shape)}"
            )
        batches.append(array.shape[:axes])
    if len(set(batches)) == 1:
        return batches[0]
    try:
        return np.broadcast_shapes(*batches)
    except ValueError:
        pairs = zip(inputs, batches, strict=True)
        listed = ", ".join(f"{name} {batch}" for (name, _), batch in pairs)
        raise ShapeError(f"{kernel}: the batch shapes do not broadcast: {listed}") from None


def plain_results(
    kernel: str, outputs: Shapes, out: Any, batch: tuple[int, ...]
) -> tuple[np.ndarray, ...]:
    """The arrays given as `out`, as plain arrays that share their memory."""
    given = out if isinstance(out, tuple) else (out,)
    if len(given) != len(outputs):
        raise ShapeError(f"{kernel}: out has {len(given)} arrays; {len(outputs)} expected")
    pairs = zip(outputs, given, strict=True)
    return tuple(
        _result(f"{kernel}: out for {name}", x, batch + shape) for (name, shape), x in pairs
    )


def _result(what: str, array: Any, shape: tuple[int, ...]) -> np.ndarray:
    if not isinstance(array, np.ndarray):
        raise DtypeError(f"{what} is a {type(array).__name__}; an array is expected")
    refuse_masked(what, array)
    if array.shape != shape:
        raise ShapeError(f"{what} has shape {array.shape}; {shape} is expected")
    if array.dtype.kind != "f":
        raise DtypeError(f"{what} has dtype {array.dtype}; float64 is expected")
    if not array.flags.writeable:
        raise ShapeError(f"{what} is read-only")
    return np.asarray(array)


def _axes(count: int) -> str:
    return "axis" if count == 1 else f"{count} axes"


def _text(shape: tuple[int, ...]) -> str:
    return str(shape[0]) if len(shape) == 1 else str(shape)
