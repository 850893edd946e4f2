"""What the page of `kinetree paper` says of its figures: every sentence follows from them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

LIKE, UNLIKE = "as in the paper", "unlike in the paper"
EVEN = 0.05
"""Times that differ by less than this share count as the same."""

Times = tuple[float, float]
"""Of C and of all symbols, microseconds."""


def paragraph(*sentences: str) -> str:
    """Sentences as lines of the page."""
    return textwrap.fill(" ".join(x for x in sentences if x), 100, break_on_hyphens=False)


def residuals(
    ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]], states: int
) -> str:
    """Table 1: whether residuals are smaller than the paper's."""
    pairs = [(a, b) for row in zip(ours, theirs, strict=True) for a, b in zip(*row, strict=True)]
    larger = sum(a > b for a, b in pairs)
    verdict = (
        "that ours are smaller says no more than that nothing is wrong."
        if not larger
        else f"{larger} of our {len(pairs)} are larger than the paper's."
    )
    return paragraph(
        f"Serial chains with random axes and inertias, {states} random states. Residuals scale "
        f"with masses, lengths and speeds, and the paper does not say how it drew its "
        f"own: {verdict}"
    )


def mechanisms(times: Mapping[str, Times]) -> str:
    """Table 2: what branching and shorter limbs save."""
    return paragraph(
        'The paper\'s biped and quadruped have "20 actuated" degrees of freedom, so their times '
        "stand beside floating bases. The same limbs on a fixed base are listed above them. Here a "
        "floating base is one joint with a quaternion, in whose velocities Γ is the derivative of "
        "C ([coriolis.md](../coriolis.md)); the paper's Algorithm 2 takes joints of one degree of "
        "freedom.",
        _saving("branching", times["branched mechanism (20)"], times["serial chain (20)"]),
        _saving(
            "four short limbs instead of two long ones",
            times["quadruped, floating base (6 + 20)"],
            times["biped, floating base (6 + 20)"],
        ),
        "The level differs, because the paper's program takes any robot and ours is compiled "
        "for one.",
    )


def _saving(what: str, less: Times, more: Times) -> str:
    """One sentence: whether something saves time, for C and for all symbols."""
    shares = [a / b for a, b in zip(less, more, strict=True)]
    said = f"With {what}, C takes {shares[0]:.2f} times as long and Γ {shares[1]:.2f} times"
    if all(share < 1.0 for share in shares):
        return f"{said}: that saves time, {LIKE}."
    if all(share >= 1.0 for share in shares):
        return f"{said}: that saves no time, {UNLIKE}."
    return f"{said}: that saves time for {'C' if shares[0] < 1.0 else 'Γ'} alone, {UNLIKE}."


def closed_forms(
    bodies: Sequence[int],
    paper: Sequence[float],
    cached: Sequence[float],
    bare: Sequence[float],
    longer: float,
) -> str:
    """Table 3, branching by two.

    Arguments:
        bodies: sizes of the mechanisms.
        paper, cached, bare: how many times as long as Algorithm 2 the partials of H take at each
            size: in the paper, here with SymPy's cache, and here without.
        longer: how many times as long the symbols of Algorithm 2 are, written out.
    """
    last = bodies[-1]
    reason = (
        "The cache favours the partials: the entries of H share subexpressions, and with it SymPy "
        "differentiates each of them once."
        if cached[-1] < (1.0 - EVEN) * bare[-1]
        else ""
    )
    return paragraph(
        "The paper concludes that Algorithm 2 is the better way to closed forms, and the more so "
        f"the more bodies there are: with {last} bodies the partials of H take {paper[-1]:.1f} "
        "times as long.",
        f"Here, with SymPy's cache, {_gain(bodies, cached)}.",
        f"Without it, {_gain(bodies, bare)}.",
        reason,
        "The paper does not say whether MATLAB's toolbox caches derivatives. Nothing is simplified "
        f"here. Written out, the symbols of Algorithm 2 are {longer:.1f} times as long as those "
        "from the partials.",
    )


def _gain(bodies: Sequence[int], ratios: Sequence[float]) -> str:
    """What the ratios of times say of Algorithm 2: whether it is faster, and whether it gains."""
    listed = f"{', '.join(f'{x:.1f}' for x in ratios[:-1])} and {ratios[-1]:.1f}"
    sizes = f"{', '.join(map(str, bodies[:-1]))} and {bodies[-1]}"
    faster = ratios[-1] > 1.0 + EVEN
    gains = ratios[-1] > (1.0 + EVEN) * ratios[0]
    even = abs(ratios[-1] - 1.0) <= EVEN
    place = "is the faster one" if faster else "is as fast" if even else "is the slower one"
    trend = "gains" if gains else "does not gain"
    both = LIKE if faster and gains else UNLIKE
    joined = "and" if faster == gains else "but"
    return (
        f"they take {listed} times as long with {sizes} bodies: Algorithm 2 {trend} with the "
        f"number of bodies, {joined} with {bodies[-1]} it {place}, {both}"
    )


def serial_chains(bodies: int, partials: float, recursion: float, operations: int) -> str:
    """Table 3, serial chains: which way is the faster one for the longest of them.

    Arguments:
        bodies: of the longest chain.
        partials, recursion: seconds of the two ways on it.
        operations: of the symbols of Algorithm 2, written out.
    """
    slower = recursion >= partials
    verdict = (
        f"Here Algorithm 2 is the {'slower' if slower else 'faster'} one for {bodies} bodies, "
        f"{recursion:.2f} s against {partials:.2f} s, {LIKE if slower else UNLIKE}."
    )
    return paragraph(
        "For serial chains the paper finds the reverse: differentiating H is preferable, and "
        "Algorithm 2 takes 26.8 minutes for 10 bodies.",
        verdict,
        "It multiplies and adds without expanding anything, and SymPy keeps what its results share "
        f"only once; written out they have {operations:,} operations. A program that expands or "
        "simplifies results has to go through all of them, which is our guess at the paper's 26.8 "
        "minutes.",
    )


def orders(
    sizes: Sequence[int], fitted: Times, linear_until: float, call: float, times: Sequence[float]
) -> str:
    """Figures 3 to 5: the exponents of operations of serial chains beside the paper's orders.

    Arguments:
        sizes: of the chains.
        fitted: the exponents of the operations of C and of all symbols.
        linear_until: the N up to which the linear term of C is the larger one.
        call: microseconds of a call that computes almost nothing.
        times: of C, microseconds, by size.
    """
    span = f"sizes of {min(sizes)} to {max(sizes)}"
    lower = fitted[0] < 2.0 and fitted[1] < 3.0
    verdict = (
        "The exponents fitted here are lower for serial chains, because orders are limits and "
        f"{span} are far from them."
        if lower
        else f"The exponents fitted here for serial chains are {fitted[0]:.2f} and {fitted[1]:.2f}."
    )
    linear = (
        "The polynomials have the paper's orders, but in C the linear term is the larger one up to "
        f"N = {linear_until:.0f}; fitted exponents rise with N towards 2 and 3."
        if linear_until > 1.0
        else "The polynomials have the paper's orders."
    )
    share = (
        "Times grow even less, because a call"
        if call > EVEN * max(times)
        else "Of the times, a call"
    )
    return paragraph(
        "The paper reports O(N²) for C and O(N³) for Γ of serial chains, and for branching by two "
        "an exponent between 1 and 2.",
        verdict,
        linear,
        f"{share} from Python takes {call:.1f} µs before anything is computed, out of "
        f"{min(times):.1f} to {max(times):.1f} µs for C of serial chains.",
    )
