"""Quadratic programs by a primal-dual interior-point method with predictor and corrector.

Source: S. Mehrotra, On the implementation of a primal-dual interior point method (1992); for
quadratic programs J. Nocedal & S. Wright, Numerical Optimization (2006), section 16.6, whose
Algorithm 16.4 this is; the start is that of L. Vandenberghe, The CVXOPT linear and quadratic cone
program solvers (2010), section 5.3; the small diagonal of the equations that of a proximal method:
A. Schwan et al., PIQP: a proximal interior-point quadratic programming solver (2023).

    book        code      meaning
    x           x         the unknowns
    y, z        y z       multipliers of equations and of bounds
    s           s         the distances of the bounds, slacks
    mu          mu        s^T z / m
    sigma       sigma     (mu_affine / mu)^3

    [H + C^T W C    A^T   ] [dx]     W = z / s of each bound
    [A              -delta] [dy]

Unknowns are eliminated before equations, by least degree, so that the pivots of the ones are
positive, of the others negative. The order is found when the program is traced.

The number of iterations is fixed, and those after the last one that is needed are left out. At the
end bounds whose multiplier is larger than their slack are taken for active, and the program with
these as equations is solved for by an augmented Lagrangian with one factor (the polishing of B.
Stellato et al., OSQP: an operator splitting solver for quadratic programs, 2020, section 4), which
may show that others are active. Its solution is kept if it violates less. What is left of the
conditions of optimality is a result.

Cost: that of one sparse factor and two solutions in each iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.algorithms.dense import dot
from kinetree.algorithms.ltl import Factor, Row, factor
from kinetree.algorithms.quadratic.problem import Pattern, Quadratic, equilibrated
from kinetree.scalar import Scalar, absolute, call_if, less, maximum, select

DELTA = 1e-9
"""What is subtracted from the diagonal of the equations: it does not change the solution."""
SHORT = 0.995
"""The share of the longest step that is made."""
STIFF, CORRECTIONS = 1e4, 3
"""The penalty of active bounds while the solution is polished, and how often it is corrected."""
POLISHES, FINE = 4, 1e-11
"""How many sets of active bounds are tried at most, and what may be left."""
OPEN = 1e30
"""What is left at the start, which was not looked at."""


@dataclass(frozen=True)
class Iterate:
    """x, the multipliers, the slacks; and what is left, at most."""

    x: list[Scalar]
    y: list[Scalar]
    s: list[Scalar]
    z: list[Scalar]
    left: Scalar


@dataclass(frozen=True)
class Optimum:
    """A solution.

    x: the unknowns.
    residual: the largest violation of the conditions of optimality, of the equilibrated program.
    equations, bounds: how much each of them is violated; negative where a bound has room.
    """

    x: list[Scalar]
    residual: Scalar
    equations: list[Scalar]
    bounds: list[Scalar]


class InteriorPoint:
    """The method for programs of one pattern.

    Arguments:
        pattern: where there are entries.
        iterations: how many are made at most.
        tolerance: of what is left.
    """

    def __init__(self, pattern: Pattern, iterations: int, tolerance: float) -> None:
        self.pattern, self.iterations, self.tolerance = pattern, iterations, tolerance
        self.order = elimination_order(pattern)
        self._step = Step(pattern, self.order)

    def __call__(self, unscaled: Quadratic) -> Optimum:
        """The solution of a program."""
        given, scales = equilibrated(self.pattern, unscaled)
        reached = self._start(given)
        for _ in range(self.iterations):
            ahead = less(self.tolerance, reached.left)
            reached = call_if(ahead, self._step, reached, given, otherwise=reached)
        polish = Polish(self.pattern, self.order)
        best = Polished(reached, reached.x, OPEN + reached.left)
        for _ in range(POLISHES):
            ahead = less(FINE, best.left)
            best = call_if(ahead, polish, best, given, otherwise=best)
        found = Residuals.at(self.pattern, reached, given)
        over = [r - s for r, s in zip(found.slack, reached.s, strict=True)]
        left = left_at(found, over, reached.z)
        better = less(best.left, left)
        x = [select(better, u, v) * d for u, v, d in zip(best.x, reached.x, scales, strict=True)]
        return Optimum(x, select(better, best.left, left), *self._violations(x, unscaled))

    def _violations(
        self, x: Sequence[Scalar], given: Quadratic
    ) -> tuple[list[Scalar], list[Scalar]]:
        """How much equations and bounds are violated at x."""
        none = [0.0] * len(self.pattern.sides)
        at = Iterate(list(x), [0.0] * self.pattern.equations, none, none, 0.0)
        r = Residuals.at(self.pattern, at, given)
        return [absolute(e) for e in r.primal], r.slack

    def _start(self, given: Quadratic) -> Iterate:
        """The solution with z = -s, both then moved until they are positive."""
        pattern = self.pattern
        n, ones = pattern.unknowns, [1.0] * len(pattern.sides)
        K = assembled(pattern, given, ones)
        factored = factor(K, self.order)
        rhs = [-x for x in given.g]
        C = pattern.rows(given.C, "C")
        for (i, _), bound in zip(pattern.sides, given.bounds, strict=True):
            for j, entry in C[i].items():
                rhs[j] = rhs[j] + entry * bound
        found = factored.solve([*rhs, *given.b])
        x, y = found[:n], found[n:]
        Cx = [sum((v * x[j] for j, v in row.items()), start=0.0) for row in C]
        room = [
            (bound - Cx[i]) * sign
            for (i, sign), bound in zip(pattern.sides, given.bounds, strict=True)
        ]
        s = _moved(room)
        z = _moved([-r for r in room])
        return Iterate(x, y, s, z, OPEN + given.g[0] * 0.0)


def _moved(x: Sequence[Scalar]) -> list[Scalar]:
    """x, or x plus what makes it at least one."""
    if not x:
        return []
    lack = -x[0]
    for value in x[1:]:
        lack = maximum(lack, -value)
    shift = select(less(lack, 0.0), 0.0, lack + 1.0)
    return [value + shift for value in x]


@dataclass(frozen=True)
class Residuals:
    """What is left of the conditions of optimality.

    dual: H x + g + A^T y + C^T z.
    primal: A x - b.
    slack: C x + s - u of an upper bound, l - C x + s of a lower one.
    """

    dual: list[Scalar]
    primal: list[Scalar]
    slack: list[Scalar]

    @staticmethod
    def at(pattern: Pattern, at: Iterate, given: Quadratic) -> Residuals:
        """Those at an iterate."""
        dual = list(given.g)
        for (i, j), h in zip(pattern.H, given.H, strict=True):
            dual[i] = dual[i] + h * at.x[j]
            if i != j:
                dual[j] = dual[j] + h * at.x[i]
        primal = [-b for b in given.b]
        for (i, j), a in zip(pattern.A, given.A, strict=True):
            primal[i] = primal[i] + a * at.x[j]
            dual[j] = dual[j] + a * at.y[i]
        Cx: list[Scalar] = [0.0] * pattern.inequalities
        total: list[Scalar] = [0.0] * pattern.inequalities
        for (i, sign), z in zip(pattern.sides, at.z, strict=True):
            total[i] = total[i] + z * sign
        for (i, j), c in zip(pattern.C, given.C, strict=True):
            Cx[i] = Cx[i] + c * at.x[j]
            dual[j] = dual[j] + c * total[i]
        slack = [
            (Cx[i] - bound) * sign + s
            for (i, sign), bound, s in zip(pattern.sides, given.bounds, at.s, strict=True)
        ]
        return Residuals(dual, primal, slack)


def left_at(r: Residuals, over: Sequence[Scalar], z: Sequence[Scalar]) -> Scalar:
    """The largest violation of the conditions of optimality.

    over: how much each bound is exceeded, negative where there is room.
    """
    left: Scalar = 0.0
    for x in (*r.dual, *r.primal):
        left = maximum(left, absolute(x))
    for x, v in zip(over, z, strict=True):
        left = maximum(left, maximum(x, maximum(-v, absolute(x * v))))
    return left


@dataclass(frozen=True)
class Polished:
    """The last solution with active bounds as equations; and the best, with what is left of it."""

    at: Iterate
    x: list[Scalar]
    left: Scalar


class Polish:
    """The program whose active bounds are equations: a function of scalars alone."""

    def __init__(self, pattern: Pattern, order: Sequence[int]) -> None:
        self.pattern, self.order = pattern, order

    def __call__(self, before: Polished, given: Quadratic) -> Polished:
        pattern, at, n = self.pattern, before.at, self.pattern.unknowns
        active = [less(s, z) for s, z in zip(at.s, at.z, strict=True)]
        W = [select(a, STIFF, 0.0) for a in active]
        K = factor(assembled(pattern, given, W), self.order)
        C = pattern.rows(given.C, "C")
        none = [0.0] * len(active)
        z = [select(a, v, 0.0) for a, v in zip(active, at.z, strict=True)]
        x, y = at.x, at.y
        r = Residuals.at(pattern, Iterate(x, y, none, z, 0.0), given)
        for _ in range(CORRECTIONS):
            pulls: list[Scalar] = [0.0] * pattern.inequalities
            for k, (i, sign) in enumerate(pattern.sides):
                pulls[i] = pulls[i] + W[k] * r.slack[k] * sign
            rhs = [-v for v in r.dual]
            for row, pull in zip(C, pulls, strict=True):
                for j, entry in row.items():
                    rhs[j] = rhs[j] - entry * pull
            d = K.solve([*rhs, *(-v for v in r.primal)])
            Cd = [sum((v * d[j] for j, v in row.items()), start=0.0) for row in C]
            sides = enumerate(zip(pattern.sides, z, strict=True))
            z = [v + W[k] * (r.slack[k] + Cd[i] * sign) for k, ((i, sign), v) in sides]
            x = [a + b for a, b in zip(x, d[:n], strict=True)]
            y = [a + b for a, b in zip(y, d[n:], strict=True)]
            r = Residuals.at(pattern, Iterate(x, y, none, z, 0.0), given)
        left = left_at(r, r.slack, z)
        better = less(left, before.left)
        best = [select(better, u, v) for u, v in zip(x, before.x, strict=True)]
        after = Iterate(x, y, [-v for v in r.slack], z, 0.0)
        return Polished(after, best, select(better, left, before.left))


class Step:
    """One iteration: a function of scalars alone."""

    def __init__(self, pattern: Pattern, order: Sequence[int]) -> None:
        self.pattern, self.order = pattern, order

    def __call__(self, at: Iterate, given: Quadratic) -> Iterate:
        r = Residuals.at(self.pattern, at, given)
        s_inv = [1.0 / s for s in at.s]
        z_inv = [1.0 / z for z in at.z]
        W = [z * s for z, s in zip(at.z, s_inv, strict=True)]
        K = factor(assembled(self.pattern, given, W), self.order)
        C = self.pattern.rows(given.C, "C")
        share = 1.0 / max(len(at.s), 1)
        mu = dot(at.s, at.z) * share

        sz = [s * z for s, z in zip(at.s, at.z, strict=True)]
        _, _, ds, dz = self._direction(K, C, at, r, s_inv, W, sz)
        alpha = _longest(at, ds, dz, s_inv, z_inv, 1.0)
        after = [
            (s + alpha * d) * (z + alpha * e) for s, d, z, e in zip(at.s, ds, at.z, dz, strict=True)
        ]
        ratio = sum(after, start=0.0) * share / mu
        sigma_mu = ratio * ratio * ratio * mu
        products = [x + d * e - sigma_mu for x, d, e in zip(sz, ds, dz, strict=True)]
        dx, dy, ds, dz = self._direction(K, C, at, r, s_inv, W, products)
        alpha = _longest(at, ds, dz, s_inv, z_inv, SHORT)

        def moved(x: Sequence[Scalar], d: Sequence[Scalar]) -> list[Scalar]:
            return [u + alpha * v for u, v in zip(x, d, strict=True)]

        s, z = moved(at.s, ds), moved(at.z, dz)
        left: Scalar = 0.0
        for x in (*r.dual, *r.primal, *r.slack):
            left = maximum(left, absolute(x))
        left = left * (1.0 - alpha)  # they are linear in the step
        for u, v in zip(s, z, strict=True):
            left = maximum(left, u * v)
        return Iterate(moved(at.x, dx), moved(at.y, dy), s, z, left)

    def _direction(
        self,
        K: Factor,
        C: Sequence[Row],
        at: Iterate,
        r: Residuals,
        s_inv: Sequence[Scalar],
        W: Sequence[Scalar],
        products: Sequence[Scalar],
    ) -> tuple[list[Scalar], list[Scalar], list[Scalar], list[Scalar]]:
        """dx, dy, ds, dz, for what s z is to be lowered by."""
        n = self.pattern.unknowns
        pulls: list[Scalar] = [0.0] * self.pattern.inequalities
        for k, (i, sign) in enumerate(self.pattern.sides):
            pulls[i] = pulls[i] + (W[k] * r.slack[k] - products[k] * s_inv[k]) * sign
        rhs = [-x for x in r.dual]
        for i, row in enumerate(C):
            for j, entry in row.items():
                rhs[j] = rhs[j] - entry * pulls[i]
        found = K.solve([*rhs, *(-x for x in r.primal)])
        dx, dy = found[:n], found[n:]
        Cdx = [sum((v * dx[j] for j, v in row.items()), start=0.0) for row in C]
        ds = [-r.slack[k] - Cdx[i] * sign for k, (i, sign) in enumerate(self.pattern.sides)]
        dz = [-p * t - w * d for p, t, w, d in zip(products, s_inv, W, ds, strict=True)]
        return dx, dy, ds, dz


def _longest(
    at: Iterate,
    ds: Sequence[Scalar],
    dz: Sequence[Scalar],
    s_inv: Sequence[Scalar],
    z_inv: Sequence[Scalar],
    share: float,
) -> Scalar:
    """The longest step up to one that keeps s and z positive, or a share of it."""
    most: Scalar = share
    for d, inverse in zip((*ds, *dz), (*s_inv, *z_inv), strict=True):
        most = maximum(most, -d * inverse)
    return share / most


def assembled(pattern: Pattern, given: Quadratic, W: Sequence[Scalar]) -> list[list[Scalar]]:
    """The matrix of a step, with its zeros."""
    n, m = pattern.unknowns, pattern.equations
    K: list[list[Scalar]] = [[0] * (n + m) for _ in range(n + m)]
    for (i, j), h in zip(pattern.H, given.H, strict=True):
        K[i][j] = h
    weights: list[Scalar] = [0.0] * pattern.inequalities
    for (i, _), w in zip(pattern.sides, W, strict=True):
        weights[i] = weights[i] + w
    for w, row in zip(weights, pattern.rows(given.C, "C"), strict=True):
        for i, x in row.items():
            scaled = w * x
            for j, y in row.items():
                if j <= i:
                    K[i][j] = K[i][j] + scaled * y
    for (i, j), a in zip(pattern.A, given.A, strict=True):
        K[n + i][j] = a
    for i in range(m):
        K[n + i][n + i] = -DELTA
    for i in range(n + m):
        for j in range(i):
            K[j][i] = K[i][j]
    return K


def elimination_order(pattern: Pattern) -> list[int]:
    """An order of elimination, its last first: unknowns, then equations, each by least degree."""
    n, total = pattern.unknowns, pattern.unknowns + pattern.equations
    near: dict[int, set[int]] = {k: set() for k in range(total)}

    def join(group: Sequence[int]) -> None:
        for i in group:
            near[i] |= {j for j in group if j != i}

    for i, j in pattern.H:
        join((i, j))
    for i, j in pattern.A:
        join((n + i, j))
    rows: list[list[int]] = [[] for _ in range(pattern.inequalities)]
    for i, j in pattern.C:
        rows[i].append(j)
    for row in rows:
        join(row)
    order: list[int] = []
    for phase in (range(n), range(n, total)):
        rest = set(phase)
        while rest:
            k = min(rest, key=lambda i: (len(near[i]), i))
            rest.remove(k)
            others = near.pop(k)
            for i in others:
                near[i] |= others - {i}
                near[i].discard(k)
            order.append(k)
    return order[::-1]
