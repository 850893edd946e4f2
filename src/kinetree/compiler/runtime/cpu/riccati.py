"""The backward pass of optimal control as machine code, for many problems on all threads."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from kinetree.compiler.native.layout import RiccatiPlan, RiccatiSums
from kinetree.compiler.runtime.backend import COMPILING
from kinetree.compiler.runtime.cpu.support import riccati_code

Array = Any


@cache
def _function() -> Any:
    with COMPILING:
        address = riccati_code().address("kinetree_riccati_double")
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

    Returns:
        (problems, steps, nu), (problems, steps, nu, nx) and (problems, RiccatiSums.FIELDS).
    """
    problems, steps, nx, nz = W.shape
    nu = nz - nx
    given = [W, hessian, gradient, second, last, damping, lower, upper]
    given += [] if gaps is None else [gaps]
    kept = [np.ascontiguousarray(x, float) for x in given]
    results = (
        np.zeros((problems, steps, nu)),
        np.zeros((problems, steps, nu, nx)),
        np.zeros((problems, RiccatiSums.FIELDS)),
    )
    arrays = [*(_address(x) for x in kept), *([0] if gaps is None else [])]
    plan = np.array([nx, nu, steps, rounds, *arrays, *map(_address, results)], np.int64)
    assert len(plan) == len(RiccatiPlan)
    if _function()(_address(plan), problems):
        raise MemoryError("there is no memory for the backward pass")
    return results


def _address(array: Array) -> int:
    return array.__array_interface__["data"][0]
