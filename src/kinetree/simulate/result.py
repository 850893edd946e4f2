"""What a simulation gives: named arrays over time, and the files they are kept in."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinetree import kinds
from kinetree._optional import optional
from kinetree.compiler.runtime.foreign import foreign_name, on_host
from kinetree.compiler.runtime.foreign.through_numpy import converted
from kinetree.errors import KinetreeError, TableError, among, unknown
from kinetree.files.atomic import complete
from kinetree.files.npz import read_npz
from kinetree.files.parquet import ParquetFile, parquet
from kinetree.files.parsing import parsing
from kinetree.simulate.figures import new_figure, save_figure
from kinetree.typing import Array

FORMATS = (".npz", ".parquet")
STATES = ("times", "q", "v", "tau")
"""Arrays that every simulation has."""


class Simulation(Mapping[str, Array]):
    """The motion of one robot or a batch of them.

    It maps names to arrays over time: "times", "q", "v", "tau" and whatever else was recorded, such
    as `simulation["energy"]`, (..., T, ...). Its arrays are of the package of the initial states.

    Arguments:
        times: as below.
        arrays: maps "q", "v", "tau" and other names to arrays, (..., T, ...).
        diverged, solution, events: as below; by default nothing diverged, and there are none.

    Attributes:
        times: (T,), s.
        q, v, tau: configurations (..., T, nq), velocities and joint forces (..., T, nv).
        diverged: when an environment's state ceased to be finite, s, (...); NaN where it did not.
        solution: maps times to (q, v) after an adaptive simulation; else None.
        events: the times of each event of an adaptive simulation; else empty.
    """

    def __init__(
        self,
        times: Array,
        arrays: Mapping[str, Array],
        diverged: Array | None = None,
        solution: Any = None,
        events: Sequence[Array] = (),
    ) -> None:
        self._arrays = {"times": _array(times), **arrays}
        self.times = self._arrays["times"]
        self.q, self.v, self.tau = (self._arrays[name] for name in ("q", "v", "tau"))
        batch = self.q.shape[:-2]
        self.diverged = np.full(batch, np.nan) if diverged is None else _array(diverged)
        self.solution, self.events = solution, tuple(events)

    def __getitem__(self, name: str) -> Array:
        if not among(name, self._arrays):
            raise unknown("record", name, self._arrays, "this simulation")
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        batch = f"{self.q.shape[:-2]} environments, " if self.q.ndim > 2 else ""
        return f"<Simulation: {batch}{len(self.times)} times, {', '.join(self._arrays)}>"

    def with_arrays(self, convert: Callable[[Array], Any]) -> Simulation:
        """The same simulation with other arrays, such as another package's.

        Arguments:
            convert: makes them of this simulation's arrays.

        Returns:
            A new simulation, whose `solution` gives such arrays, too.
        """
        solution = self.solution
        arrays = {name: convert(x) for name, x in self._arrays.items()}
        return Simulation(
            arrays.pop("times"),
            arrays,
            convert(self.diverged),
            None if solution is None else lambda t: converted(solution(t), convert),
            [convert(x) for x in self.events],
        )

    def replaced(self, **arrays: Array) -> Simulation:
        """The same simulation with other arrays of some names.

        Arguments:
            arrays: by name, as in `arrays`.

        Returns:
            A new simulation.
        """
        kept = {name: x for name, x in self._arrays.items() if name != "times"}
        return Simulation(self.times, kept | arrays, self.diverged, self.solution, self.events)

    # files

    def save(self, path: str | Path) -> None:
        """Write everything to a file: NPZ, or Parquet with one row per time and environment.

        Arguments:
            path: ends with .npz or .parquet; the latter needs the extra `files`.
        """
        path, numbers = checked_file(path), self.with_arrays(on_host)
        if path.suffix == ".npz":
            arrays: dict[str, Any] = {"diverged": numbers.diverged, **numbers}
            with complete(path) as temporary:
                np.savez_compressed(temporary, **arrays)
            return
        table = numbers._table()
        with complete(path) as temporary:
            parquet().write_table(table, temporary)

    @staticmethod
    def load(path: str | Path) -> Simulation:
        """The simulation that `save` wrote.

        Arguments:
            path: the file, .npz or .parquet.

        Returns:
            The simulation, without `solution` and `events`, which files do not hold.
        """
        path = checked_file(path)
        if path.suffix == ".npz":
            arrays = read_npz(path, (*STATES, "diverged"))
        else:
            arrays = _from_parquet(path)
        diverged = arrays.pop("diverged")
        times = arrays.pop("times")
        _check_shapes(path, times, arrays, diverged)
        return Simulation(times, arrays, diverged)

    def _table(self) -> Any:
        """One row a time and environment, one column a number."""
        parquet()
        pyarrow = optional("pyarrow", "a Parquet file", "or save as .npz")

        batch, count = self.q.shape[:-2], len(self.times)
        environments = int(np.prod(batch, dtype=int))
        columns = {
            "environment": np.repeat(np.arange(environments), count),
            "time": np.tile(self.times, environments),
        }
        shapes = {}
        for name, array in self._arrays.items():
            if name != "times":
                shapes[name] = array.shape[len(batch) + 1 :]
                flat = array.reshape(environments * count, -1)
                columns |= dict(zip(_labels(name, shapes[name]), flat.T, strict=True))
        about = {"batch": batch, "shapes": shapes, "diverged": self.diverged.ravel().tolist()}
        table = pyarrow.table(columns)
        return table.replace_schema_metadata({b"kinetree": json.dumps(about).encode()})

    # pictures

    def plot(self, path: str | Path | None = None, names: Sequence[str] = ("q", "v", "tau")) -> Any:
        """A plot of some arrays over time, in one panel each, with a line for each environment.

        Arguments:
            path: where to save it; not saved if None.
            names: which arrays.

        Returns:
            Matplotlib's figure.
        """
        names = kinds.texts("names", names)
        if not names:
            raise KinetreeError("names is empty: the name of one array or more is expected")
        figure = new_figure(7.0, 1.0 + 2.0 * len(names))
        panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
        axes, times = self.q.ndim - 2, on_host(self.times)
        for panel, name in zip(panels, names, strict=True):
            array = np.moveaxis(on_host(self[name]), axes, 0)
            panel.plot(times, array.reshape(len(times), -1), linewidth=1.0)
            panel.set_ylabel(name)
            panel.grid(alpha=0.3)
        panels[-1].set_xlabel("time, s")
        if path is not None:
            save_figure(figure, path)
        return figure


def _array(given: Any) -> Array:
    """An array of any package as it is; anything else as one of NumPy."""
    found: Array = given if foreign_name((given,)) else np.asarray(given)
    return found


def checked_file(given: str | Path) -> Path:
    """The path of a simulation's file; an error if its ending is no format."""
    path = kinds.path("path", given)
    if path.suffix not in FORMATS:
        raise KinetreeError(f"{path}: a name that ends with {' or '.join(FORMATS)} is expected")
    return path


def _check_shapes(path: Path, times: Array, arrays: Mapping[str, Array], diverged: Array) -> None:
    """Refuse arrays that are not those of one simulation."""
    expected = (*diverged.shape, *times.shape)
    for name, array in arrays.items():
        least = len(expected) + (name in STATES)
        if times.ndim != 1 or array.shape[: len(expected)] != expected or array.ndim < least:
            raise TableError(
                f"{path}: {name} has shape {array.shape}; {expected} is expected first, the shape "
                "of diverged and times"
            )


def _from_parquet(path: Path) -> dict[str, Array]:
    file = ParquetFile(path)
    with parsing(path, "a simulation"):
        about = json.loads(file.metadata[b"kinetree"])
        batch = tuple(map(operator.index, about["batch"]))
        shapes = {str(name): tuple(map(operator.index, x)) for name, x in about["shapes"].items()}
        diverged = np.array(about["diverged"], float).reshape(batch)
        labels = {name: _labels(name, shape) for name, shape in shapes.items()}
        names = ["time", *(label for found in labels.values() for label in found)]
        (table,) = file.pieces(names, max(file.rows, 1))
        count = file.rows // math.prod(batch)
        arrays = {"times": table["time"][:count], "diverged": diverged}
        for name, shape in shapes.items():
            flat = np.stack([table[label] for label in labels[name]], axis=-1)
            arrays[name] = flat.reshape(*batch, count, *shape)
        return {**{name: arrays[name] for name in STATES}, **arrays}


def _labels(name: str, shape: Sequence[int]) -> list[str]:
    """The columns of an array in a table."""
    return [f"{name}_{k}" for k in range(math.prod(shape))] if shape else [name]
