"""The derivative of a constraint's joint forces by the configuration, at constant row forces.

Source: J. Carpentier, R. Budhiraja & N. Mansard, Proximal and sparse resolution of constrained
dynamic equations, Robotics: Science and Systems (2021), section V: the derivative of J^T forces.

    symbol      code      meaning
    F           F         the sum of the rows' wrenches, times their forces, on the frame b
    Lambda s    change    how F changes in b if b moves by s relative to its base a
    s_j, s_k              axes of joints between the two frames, in b

A joint force of the constraint is s_j F, negative where joint j carries a. If joint k moves,

    d(s_j F) = s_j (c s_k x* F +- Lambda s_k),    c = [k carries b] - [k carries j]

because F turns with b and s_j with the joints that carry it; where both do, nothing changes. Axes
that turn in their own body add their change.

Cost: O(d^2), d the joints between the two frames.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.constraints.relative_steps import RelativeMotion
from kinetree.algorithms.inverse_derivatives import Matrix
from kinetree.algorithms.tree import combine
from kinetree.model.constraints import FrameConstraint
from kinetree.scalar import Scalar
from kinetree.spatial import Force


def turn_forces(
    constraint: FrameConstraint,
    motion: RelativeMotion,
    turned: Sequence[Sequence[Force]],
    forces: Sequence[Scalar],
    total: Matrix,
) -> None:
    """Add the derivative by q of a constraint's joint forces to a matrix.

    Arguments:
        motion: of the constraint's frames.
        turned: the changes of the rows' wrenches along the six directions of a pose.
        forces: of the rows.
        total: the matrix, in the order of v.
    """
    F = combine(constraint.wrenches(motion.X), forces)
    Lambda = [combine(wrenches, forces) for wrenches in turned]
    for k in motion.steps:
        crossed, change = k.s.cross_force(F), combine(Lambda, k.s) * k.sign
        for j in motion.steps:
            carried = k.sign == j.sign and k.place >= j.place
            c = (k.sign > 0) - carried
            entry = j.s.dot(change + crossed * c if c else change)
            if carried and k.place == j.place:
                entry = entry + k.axes[j.index].dot(F)
            total[j.number][k.number] = total[j.number][k.number] + entry * j.sign
