"""The interface of generated code and its callers: the layout of descriptions, names of symbols."""

from __future__ import annotations

from enum import IntEnum

SHARE = "kinetree_share"
"""The function of the pool that runs a batch on several threads."""
WRITTEN_ROUTINES = ("sincos", "atan2")
"""Routines that `native.functions` writes; all others call the C library's function."""
ALL = 1 << 16
"""1.0 in fixed point: all pending results."""
MAX_AXES = 6
OPERAND_FIELDS = 2 + MAX_AXES
"""An operand is described by its elements, its core axes, and their lengths, ones in front."""


class Field(IntEnum):
    """The head of a kernel's description."""

    WIDE = 0  # address of the table of steps for a tile
    WIDE_CONSTANTS = 1  # address of the function that writes a tile's constant results
    INDEX = 2  # address of the offsets of a tile's results
    ONE = 3  # address of the table of steps for one state; zero if there is none
    ONE_CONSTANTS = 4
    INPUTS = 5
    OPERANDS = 6
    WIDE_SCRATCH = 7  # elements of scratch a lane
    ONE_SCRATCH = 8
    RESULTS = 9  # distinct results of a tile
    INPUT_ELEMENTS = 10  # of all inputs together
    ELEMENTS = 11  # of all operands together
    LARGEST = 12  # elements of the largest operand
    BLOCK = 13  # states that a thread takes at once
    ARRAY_TYPE = 14  # address of numpy.ndarray
    DTYPE = 15  # address of the arrays' dtype
    NOT_IMPLEMENTED = 16  # address of NotImplemented
    TILES = 17  # the number of result tiles: 1, or 2 for double buffering
    WIDE_STEPS = 18  # the number of steps of a tile,
    LATE = 19  # and the number of them before the first that stores results
    ONE_STEPS = 20
    HEAD = 21


class Block(IntEnum):
    """The head of a bound call's data, before the pointers to its operands."""

    DESCRIPTION = 0  # address of the kernel's description
    ANSWER = 1  # address of the object that the call returns
    HEAD = 2


class Plan(IntEnum):
    """The head of the plan of a loop over time."""

    STEPS = 0
    EVERY = 1
    STATES = 2  # the number of arguments that are states
    SERIES = 3  # the first argument that is a series
    RECORDS = 4  # the number of records
    LARGEST = 5  # elements of the largest argument, result or record
    IDENTITY = 6  # address of a table: the offset of each vector of a tile, in bytes
    HEAD = 7


class RecordPlan(IntEnum):
    """The fields of each record, after the head of the plan."""

    STATE = 0  # the index of a state; -1 for a result
    START = 1  # the first element of a result among those of all results
    SIZE = 2
    FIELDS = 3


class RiccatiPlan(IntEnum):
    """The input of a backward pass: sizes, then addresses of arrays in C order."""

    NX = 0  # elements of a state
    NU = 1  # and of a control
    STEPS = 2
    ROUNDS = 3  # of the search for controls at their bounds; 0 if there are none
    W = 4  # (problems, steps, nx, nx + nu)
    HESSIAN = 5  # of the costs by state and control, (problems, steps, nx + nu, nx + nu)
    GRADIENT = 6  # (problems, steps, nx + nu)
    SECOND = 7  # of the final cost, (problems, nx, nx)
    LAST = 8  # its gradient, (problems, nx)
    DAMPING = 9  # (problems,)
    LOWER = 10  # bounds of the change of controls, (problems, steps, nu)
    UPPER = 11
    GAPS = 12  # between steps, (problems, steps, nx); 0 if there are none
    FEEDFORWARD = 13  # results: (problems, steps, nu),
    FEEDBACK = 14  # (problems, steps, nu, nx),
    SUMS = 15  # and (problems, RiccatiSums.FIELDS)
    PROBLEMS = 16
    HEAD = 17  # of a step by Euler's method: rows of W before those of (1) in `riccati_euler.py`,
    STEP = 18  # and the address of its length; 0 for other steps


class RiccatiSums(IntEnum):
    """The sums of a backward pass over the steps of a problem."""

    SLOPE = 0  # of the cost along the feedforward
    BEND = 1  # its curvature
    FAULT = 2  # 1 if Q_uu was not positive, 2 if bounds were crossed without a search for them
    CLOSING = 3  # the slope of the cost as gaps close
    COSTATE = 4  # the largest entry of the value's gradient, if there are gaps
    FIELDS = 5


class BandPlan(IntEnum):
    """The input of sums of second derivatives: sizes, then addresses of arrays in C order.

    The address of a missing array is 0. Blocks are n x n; pairs of q, v and a are (q, q), (q, v),
    (q, a), (v, v), (v, a), (a, a).
    """

    N = 0  # velocities
    WIDE = 1  # coefficients that affect an interval
    INTERVALS = 2
    SAMPLES = 3  # in each interval
    D = 4  # derivatives of forces by q, v and a: 3 of (problems, intervals, samples, n, n)
    BY_FORCE = 7  # second derivatives by each force, (problems, intervals, samples, n)
    BY_RATE = 8  # by each entry of q, v and a: 3 of (problems, intervals, samples, n)
    SECOND = 11  # by pairs: 6 of (problems, intervals, samples, n, n)
    COEFFICIENTS = 17  # of each pair, (intervals, samples, 6, wide^2 rounded up to 8)
    BANDS = 18  # the result, to which they are added: (problems, coefficients, wide, n, n)
    FIELDS = 19


class BandSolverPlan(IntEnum):
    """The input of the band solver: sizes, then addresses of arrays in C order."""

    N = 0  # rows of a block
    WIDE = 1  # blocks on and below the diagonal
    BLOCKS = 2  # of the whole matrix
    BANDS = 3  # (problems, blocks, wide, n, n)
    RIGHT = 4  # (problems, blocks n)
    SHIFT = 5  # added to the diagonal, (problems,)
    SOLUTION = 6  # (problems, blocks n)
    GOOD = 7  # 1 if the matrix was positive definite, else 0, (problems,)
    FIELDS = 8
