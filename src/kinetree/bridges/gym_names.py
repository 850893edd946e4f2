"""The names of environments for `gymnasium.make`, which gymnasium reads when it is imported.

Nothing else of Kinetree is imported until an environment is made.
"""

from __future__ import annotations

TASKS = {
    "CartPoleSwingUp": "gym",
    "DoublePendulumSwingUp": "gym",
    "ReachingArm": "gym",
    "QuadrupedWalk": "legged",
    "HumanoidWalk": "legged",
    "HopperHop": "hopping",
    "GripperLift": "lifting",
}
"""Maps the classes of tasks to their modules in `kinetree.bridges`."""


def register() -> None:
    """Make every task known to gymnasium, as kinetree/NAME-v0."""
    import gymnasium

    module = "kinetree.bridges.gym_single"
    for task in TASKS:
        name = f"kinetree/{task}-v0"
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point=f"{module}:single",
                vector_entry_point=f"{module}:vector",
                kwargs={"task": task},
            )
