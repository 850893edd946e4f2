"""The backward pass of optimal control as machine code, for many problems on all threads."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from kinetree.compiler.native.layout import RiccatiPlan, RiccatiSums
from kinetree.compiler.runtime.backend import COMPILING
from kinetree.compiler.runtime.cpu.host import host
from kinetree.compiler.runtime.cpu.support import riccati_code

Array = Any


LEAST_FILLED = 0.6
"""The share of lanes that many small problems must fill, to be solved in lanes."""
LARGEST_IN_LANES = 40
"""Elements of state and control up to which they are: beyond, matrices leave the cache."""


@cache
def _function(name: str) -> Any:
    with COMPILING:
        address = riccati_code().address(f"kinetree_{name}_double")
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64)(address)


def riccati(
    W: Array,
    hessian: Array,
    gradient: Array,
    second: Array,
    last: Array,
    damping: Array,
    lower: Array,
    upper: Array,
    rounds: int,
    gaps: Array | None = None,
    euler: tuple[float, int] | None = None,
) -> tuple[Array, Array, Array]:
    """k, K and the sums over steps of many problems.

    Arguments:
        W: derivatives of each step, (problems, steps, nx, nx + nu).
        hessian, gradient: of the costs by state and control, (problems, steps, nz, nz) and
            (problems, steps, nz).
        second, last: those of the final cost, (problems, nx, nx) and (problems, nx).
        damping: (problems,).
        lower, upper: bounds of the change of controls, (problems, steps, nu).
        rounds: of the search for controls at their bounds; 0 if there are no bounds.
        gaps: between the end of each step and the next state, (problems, steps, nx).
        euler: the length of a step by semi-implicit Euler, and how many rows of W in front are
            others than h times those of velocities and a unit row; None for other steps.

    Returns:
        (problems, steps, nu), (problems, steps, nu, nx) and (problems, RiccatiSums.FIELDS).
    """
    given = [W, hessian, gradient, second, last, damping, lower, upper]
    problems, _, _, nz = W.shape
    lanes = host().target("double").lanes
    groups = -(-problems // lanes)
    if nz > LARGEST_IN_LANES or problems < LEAST_FILLED * groups * lanes:
        return _solved("riccati", given, rounds, gaps, euler)
    results = _solved("riccati_lanes", given, rounds, gaps, euler)
    again = np.flatnonzero(results[2][:, RiccatiSums.FAULT] > 1.0)
    if again.size:
        some = None if gaps is None else gaps[again]
        parts = _solved("riccati", [x[again] for x in given], rounds, some, euler)
        for whole, part in zip(results, parts, strict=True):
            whole[again] = part
    return results


def _solved(
    name: str,
    given: list[Array],
    rounds: int,
    gaps: Array | None,
    euler: tuple[float, int] | None,
) -> tuple[Array, Array, Array]:
    """The results of one of the two functions, by its name."""
    problems, steps, nx, nz = given[0].shape
    nu = nz - nx
    given = given if gaps is None else [*given, gaps]
    kept = [np.ascontiguousarray(x, float) for x in given]
    results = (
        np.zeros((problems, steps, nu)),
        np.zeros((problems, steps, nu, nx)),
        np.zeros((problems, RiccatiSums.FIELDS)),
    )
    arrays = [*(_address(x) for x in kept), *([0] if gaps is None else [])]
    addresses = [*arrays, *map(_address, results)]
    length, head = (0.0, nx // 2) if euler is None else euler
    step = np.array([length])
    rest = [problems, head, 0 if euler is None else _address(step)]
    plan = np.array([nx, nu, steps, rounds, *addresses, *rest], np.int64)
    assert len(plan) == len(RiccatiPlan)
    if _function(name)(_address(plan), problems):
        raise MemoryError("there is no memory for the backward pass")
    return results


def _address(array: Array) -> int:
    return array.__array_interface__["data"][0]
