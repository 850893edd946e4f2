"""The recursions, one file each, over any scalar: physics only.

Each is a function of a model and plain lists of scalars, in the symbols of the paper it comes
from. None of them knows of batches, arrays, dtypes or targets.
"""

from kinetree.algorithms.aba import aba
from kinetree.algorithms.charts import chart_volumes, charts
from kinetree.algorithms.crba import crba
from kinetree.algorithms.forward_crba import forward_crba
from kinetree.algorithms.kinematics import body_poses, frame_pose
from kinetree.algorithms.manifold import difference, integrate
from kinetree.algorithms.rnea import rnea

__all__ = [
    "aba",
    "body_poses",
    "chart_volumes",
    "charts",
    "crba",
    "difference",
    "forward_crba",
    "frame_pose",
    "integrate",
    "rnea",
]
