"""A joint given by a function: everything else comes from differentiating its transform."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kinetree.model.joints.base import Joint
from kinetree.scalar import Scalar
from kinetree.spatial import Transform


@dataclass(frozen=True)
class Custom(Joint):
    """A joint given by a function from its coordinates to its transform; v is the rate of q.

    Arguments:
        function: written over any scalar, with the functions of `kinetree.scalar` and the spatial
            types; it should give the identity at zero.
        count: the number of coordinates.
        token: identifies the function in the cache; a new one for each joint by default.
    """

    function: Callable[[Sequence[Scalar]], Transform]
    count: int
    token: str = field(default_factory=lambda: os.urandom(16).hex(), compare=False, repr=False)
    """Tells functions apart in a model's digest: no two are taken for the same."""

    @property
    def nq(self) -> int:
        return self.count

    @property
    def nv(self) -> int:
        return self.count

    def transform(self, q: Sequence[Scalar]) -> Transform:
        return self.function(q)
