"""Minimax polynomials by Remez's exchange: the coefficients in compiler/native/functions.py.

    python tools/minimax.py

prints, for each function and precision, the coefficients of P in the form the routine uses and
the largest relative error of the approximation in exact arithmetic. Needs mpmath.
"""

from __future__ import annotations

from collections.abc import Callable

from mpmath import atan, cos, lu_solve, matrix, mp, mpf, pi, sin, sqrt, tan

mp.dps = 50
Function = Callable[[mpf], mpf]


def remez(f: Function, weight: Function, low: mpf, high: mpf, terms: int) -> tuple[list[mpf], mpf]:
    """The polynomial P of least max |weight (P - f)| on [low, high], and that maximum."""
    points = [(low + high) / 2 - (high - low) / 2 * cos(pi * i / terms) for i in range(terms + 1)]
    for _ in range(12):
        system = matrix(terms + 1, terms + 1)
        right = matrix(terms + 1, 1)
        for i, z in enumerate(points):
            for k in range(terms):
                system[i, k] = z**k
            system[i, terms] = (-1) ** i / weight(z)
            right[i] = f(z)
        solution = lu_solve(system, right)
        coefficients = [solution[k] for k in range(terms)]

        def error(z: mpf, c: list[mpf] = coefficients) -> mpf:
            return weight(z) * (sum(a * z**k for k, a in enumerate(c)) - f(z))

        samples = [low + (high - low) * i / 2000 for i in range(2001)]
        values = [error(z) for z in samples]
        points, run = [], [0]
        for i in range(1, len(samples)):  # one extremum per run of equal sign
            if (values[i] > 0) != (values[run[0]] > 0):
                points.append(samples[max(run, key=lambda j: abs(values[j]))])
                run = []
            run.append(i)
        points.append(samples[max(run, key=lambda j: abs(values[j]))])
        if len(points) != terms + 1:
            break
    return coefficients, max(abs(v) for v in values)


def at_root(z: mpf) -> mpf:
    """sqrt(z), away from the removable singularity at zero."""
    return sqrt(max(z, mpf(10) ** -30))


def sine(z: mpf) -> mpf:
    """(sin(x) - x) / x^3 with z = x^2."""
    x = at_root(z)
    return (sin(x) - x) / x**3


def cosine(z: mpf) -> mpf:
    """(cos(x) - 1 + x^2 / 2) / x^4 with z = x^2."""
    x = at_root(z)
    return (cos(x) - 1 + x * x / 2) / x**4


def arctangent(z: mpf) -> mpf:
    """(atan(x) - x) / x^3 with z = x^2."""
    x = at_root(z)
    return (atan(x) - x) / x**3


def main() -> None:
    mp.dps = 90  # the quotients lose digits near zero
    quarter, eighth = (pi / 4) ** 2 * mpf("1.0001"), tan(pi / 8) ** 2 * mpf("1.0001")

    def odd(function: Function) -> Function:
        """The weight that makes the error of x^3 P relative to an odd function."""
        return lambda z: z * at_root(z) / function(at_root(z))

    cases = (
        ("sin", sine, odd(sin), quarter, {"double": 6, "float": 3}),
        ("cos", cosine, lambda z: z * z / cos(at_root(z)), quarter, {"double": 6, "float": 3}),
        ("atan", arctangent, odd(atan), eighth, {"double": 11, "float": 5}),
    )
    for name, f, weight, high, terms in cases:
        for precision, count in terms.items():
            coefficients, worst = remez(f, weight, mpf(10) ** -12, high, count)
            print(f"{name} {precision}: relative error {float(worst):.2e}")
            for c in coefficients:
                print(f"    {float(c)!r},")


if __name__ == "__main__":
    main()
