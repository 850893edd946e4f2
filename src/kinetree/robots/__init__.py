"""Built-in robots, written for this project: nothing to download, every size to test with."""

from kinetree._lazy import listing
from kinetree.robots.arm import arm
from kinetree.robots.bricard import bricard
from kinetree.robots.files import file
from kinetree.robots.human import human
from kinetree.robots.legged import legged, quadruped
from kinetree.robots.linkage import four_bar, four_bars, slider_crank
from kinetree.robots.parallel import hexapod, parallel_ankle
from kinetree.robots.pendulum import cart_pole, double_pendulum
from kinetree.robots.squeezer import squeezer, squeezer_forces
from kinetree.robots.tree import chain, tree

__all__ = [
    "arm",
    "bricard",
    "cart_pole",
    "chain",
    "double_pendulum",
    "file",
    "four_bar",
    "four_bars",
    "hexapod",
    "human",
    "legged",
    "parallel_ankle",
    "quadruped",
    "slider_crank",
    "squeezer",
    "squeezer_forces",
    "tree",
]

__dir__ = listing(__all__)
