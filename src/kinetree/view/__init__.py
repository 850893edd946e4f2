"""The viewer: a robot in the browser, with its numbers (extra `view`).

geometry.py has triangles, parts.py says which of them a robot is drawn with, scene.py draws it,
pictures.py makes images of numbers, viewer.py is the page with its controls.
"""

from kinetree.view.viewer import Viewer, show

__all__ = ["Viewer", "show"]
