"""Band matrices of many problems as machine code on all threads: their sums, and solutions."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from kinetree.compiler.native.layout import BandPlan, BandSolverPlan
from kinetree.compiler.runtime.backend import COMPILING
from kinetree.compiler.runtime.cpu.support import band_code

Array = Any


@cache
def _function(name: str) -> Any:
    with COMPILING:
        address = band_code().address(f"kinetree_{name}_double")
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64)(address)


def add_bands(
    bands: Array,
    coefficients: Array,
    samples: int,
    forces: tuple[Sequence[Array], Array] | None,
    by_rate: Sequence[Array | None],
    second: Sequence[Array | None],
) -> None:
    """Add second derivatives at samples to the band matrices of many problems.

    Arguments:
        bands: (problems, coefficients, wide, n, n), in C order.
        coefficients: with what pairs of q, v and a count, as `BandPlan` has them.
        samples: in each interval.
        forces: the three derivatives of forces, and second derivatives by each force; if any.
        by_rate, second: by each entry of q, v and a, and by pairs of them, if any.
    """
    problems, count, wide, n, _ = bands.shape
    D, by_force = ((None,) * 3, None) if forces is None else forces
    given = [*D, by_force, *by_rate, *second, coefficients]
    kept = [None if x is None else np.ascontiguousarray(x, float) for x in given]
    addresses = [0 if x is None else _address(x) for x in (*kept, bands)]
    plan = np.array([n, wide, count - wide + 1, samples, *addresses], np.int64)
    assert len(plan) == BandPlan.FIELDS
    if _function("band_sums")(_address(plan), problems):
        raise MemoryError("there is no memory for the second derivatives")


def solve_bands(bands: Array, right: Array, shift: Array) -> tuple[Array, Array]:
    """The solutions of band matrices with something added to their diagonals.

    Arguments:
        bands: on and below the diagonal, (problems, blocks, wide, n, n).
        right: (problems, blocks n).
        shift: (problems,).

    Returns:
        The solutions, and which matrices were positive definite; of the others, they are zero.
    """
    problems, blocks, wide, n, _ = bands.shape
    kept = [np.ascontiguousarray(x, float) for x in (bands, right, shift)]
    found, good = np.zeros((problems, blocks * n)), np.zeros(problems)
    addresses = [_address(x) for x in (*kept, found, good)]
    plan = np.array([n, wide, blocks, *addresses], np.int64)
    assert len(plan) == BandSolverPlan.FIELDS
    if _function("band_solver")(_address(plan), problems):
        raise MemoryError("there is no memory for the factors of band matrices")
    return found, good > 0.0


def _address(array: Array) -> int:
    return array.__array_interface__["data"][0]
