"""Built-in robots, written for this project: nothing to download, every size to test with."""

from kinetree.robots.arm import arm
from kinetree.robots.human import human
from kinetree.robots.legged import legged, quadruped
from kinetree.robots.pendulum import cart_pole, double_pendulum
from kinetree.robots.tree import chain, tree

__all__ = [
    "arm",
    "cart_pole",
    "chain",
    "double_pendulum",
    "human",
    "legged",
    "quadruped",
    "tree",
]
