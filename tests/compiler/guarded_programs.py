"""Programs with guarded calls, for the tests of every target."""

import numpy as np

from kinetree import scalar
from kinetree.compiler.graph import trace
from kinetree.scalar import absolute, call_if, less, less_equal, logical_or, select, sin, sqrt

ITERATIONS = 30
PAIRS = 5
SIZE = 3


def root_step(x, count, a):
    """One step of Newton's iteration for a square root."""
    return 0.5 * (x + a / x), count + 1.0


def roots(a):
    """Square roots by iterations that end when the root is found; how many there were."""
    (a,) = a
    state = (0.5 * (a + 1.0), 0.0)
    for _ in range(ITERATIONS):
        error = absolute(state[0] * state[0] - a)
        state = call_if(less(1e-5 * a, error), root_step, *state, a, otherwise=state)
    return {"root": state[0], "count": state[1]}


def touch(H, g, row, depth):
    """Add a contact to a matrix and a vector: a square root that has no value where none is."""
    force = sqrt(depth)
    H = [
        [x + force * p * q for x, q in zip(line, row, strict=True)]
        for line, p in zip(H, row, strict=True)
    ]
    return H, [x + sin(depth) * p for x, p in zip(g, row, strict=True)]


def descend(x, error, rows, depths, scale):
    """One step of an iteration with contacts, of which each counts only where it touches."""
    H = [[3.0 + x[i] * x[i] if i == j else 0.1 for j in range(SIZE)] for i in range(SIZE)]
    g = [p * p * p - scale for p in x]
    for row, depth in zip(rows, depths, strict=True):
        H, g = call_if(less(0.0, depth), touch, H, g, row, depth, otherwise=(H, g))
    step = [b / (H[i][i] + 0.5 * H[i][i - 1]) for i, b in enumerate(g)]
    return [p - 0.5 * d for p, d in zip(x, step, strict=True)], sum(
        (d * d for d in step), start=0.0
    )


def contacts(q, rows, depths):
    """Guarded calls in guarded calls, with arguments that are the same in all."""
    x, error = [p * 0.5 for p in q], q[0] * q[0] + 1.0
    lines = [[2.0 * x for x in rows[SIZE * k : SIZE * (k + 1)]] for k in range(PAIRS)]
    depths = [0.5 * depth for depth in depths]
    scale = q[0] * q[1] + 2.0
    for _ in range(ITERATIONS):
        going = less(1e-4, error)
        x, error = call_if(going, descend, x, error, lines, depths, scale, otherwise=(x, error))
    return {"x": x, "error": error, "twice": [2.0 * x[0], x[0], scale]}


def swapped(a, b, c):
    """Results that are other arguments, numbers, and what is read after it is overwritten."""
    return b, a, 1.5, sin(c) * a + b, c


def mixed(x):
    """Calls in two chains of one function, whose values are needed again, twice, or never."""
    a, b, c, d = x
    one = two = (a, b, 0.0, c, d * 2.0)
    for k in range(4):
        one = call_if(less(c, d + 0.3 * k), swapped, *one[:3], otherwise=one)
        two = call_if(less_equal(d, a - 0.2 * k), swapped, two[3], *two[:2], otherwise=two)
    same = call_if(logical_or(less(a, b), less(c, d)), lambda u: [u * u] * 3, a, otherwise=[d] * 3)
    last = call_if(less(0.0, b), lambda u, v: sqrt(v) + u, a, b, otherwise=a)
    return {"one": one, "two": two, "first": [a, c], "same": same, "last": last + a}


def choosing(u, v, w):
    """A function of a function, both guarded, and neither with its results in place."""
    t = call_if(less(u, v), lambda p, q: [p * q, select(less(p, q), q, p)], u, v, otherwise=[w, u])
    return [t[0] + sin(u), t[1] * w]


def called(x):
    """Guarded calls in functions that are called without a condition."""
    rows = []
    for k in range(30):
        rows.append(scalar.call(choosing, x[0] * (k + 1.0), x[1], x[2] - 0.5 * k, times=30))
    return {"rows": rows}


SHAPES = {
    roots: {"a": (1,)},
    contacts: {"q": (SIZE,), "rows": (SIZE * PAIRS,), "depths": (PAIRS,)},
    mixed: {"x": (4,)},
    called: {"x": (3,)},
}
EVERY = list(SHAPES)


def program(function):
    return trace(function.__name__, function, SHAPES[function])


def states(function, count=37, which="some", seed=0):
    """Arguments for which conditions hold in some, in all, or in no states."""
    rng = np.random.default_rng(seed)
    arrays = [rng.normal(size=(count, *shape)) for shape in SHAPES[function].values()]
    if function is roots:
        numbers = {"some": (1.0, 7.0, 900.0), "all": (3.0, 0.1), "no": (1.0,)}[which]
        return [rng.choice(numbers, (count, 1))]
    if function is contacts and which != "some":
        arrays[-1] = np.abs(arrays[-1]) * (1.0 if which == "all" else -1.0)
    return arrays
