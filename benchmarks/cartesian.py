"""Links' states to generalised coordinates and back: `python -m benchmarks.cartesian`.

Each row is checked against the other side before it is timed; nothing is compiled in between.
"""

from __future__ import annotations

import numpy as np

import kinetree as kt
from benchmarks.timing import on_the_quietest, seconds_in_turn

FRAMES = 10_000
SOLVED = 20
"""States solved by NumPy in a round: each takes as long as thousands of ours."""


def main() -> None:
    human = kt.robots.human()
    rng = np.random.default_rng(0)
    q, v = human.random(rng, FRAMES), rng.standard_normal((FRAMES, human.nv))
    cartesian = human.cartesian
    x, R, linear, angular = state = cartesian.state(q, v)
    J = cartesian.jacobians(q[:SOLVED]).reshape(SOLVED, -1, human.nv)
    V = np.concatenate([linear, angular], axis=-1)[:SOLVED].reshape(SOLVED, -1)

    def by_numpy() -> list[np.ndarray]:
        return [np.linalg.lstsq(A, b, rcond=None)[0] for A, b in zip(J, V, strict=True)]

    found = cartesian.generalized(*state)
    assert np.abs(human.difference(q, found.q)).max() < 1e-10
    assert np.abs(found.v - v).max() < 1e-10
    assert np.abs(np.array(by_numpy()) - found.v[:SOLVED]).max() < 1e-9

    calls = {
        "q, v -> states of links": lambda: cartesian.state(q, v),
        "poses of links -> q": lambda: cartesian.configuration(x, R),
        "velocities of links -> v, stacked": lambda: cartesian.velocity(q, linear, angular),
        "velocities of links -> v, joint by joint": lambda: cartesian.velocity(
            q, linear, angular, method="relative"
        ),
        "states of links -> q, v": lambda: cartesian.generalized(*state),
    }
    with on_the_quietest(calls["q, v -> states of links"]):
        *ours, numpy = seconds_in_turn([*calls.values(), by_numpy])
    print(f"human figure, {FRAMES} frames, one thread")
    for name, seconds in zip(calls, ours, strict=True):
        print(f"  {name:42} {seconds * 1e3:8.2f} ms {seconds / FRAMES * 1e6:8.3f} us a frame")
    each = numpy / SOLVED
    print(f"  {'NumPy lstsq in a loop, J already given':42} {'':11} {each * 1e6:8.1f} us a frame")
    for name, seconds in list(zip(calls, ours, strict=True))[2:4]:
        print(f"  {name}: {each / (seconds / FRAMES):.0f} times as fast as lstsq")


if __name__ == "__main__":
    main()
