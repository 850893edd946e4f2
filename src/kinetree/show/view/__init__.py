"""The viewer: a robot in the browser, with its numbers (extra `view`).

geometry.py has triangles, parts.py selects those of a robot, scene.py draws it, pictures.py makes
images of numbers, numbers.py their text and plots, with names quoted by markdown.py. visitors.py
checks requests for the page. trajectory.py has the states that are played, pull.py the mouse that
pulls a link, recording.py screenshots and videos. surroundings.py has the ground and the camera,
sliders.py the joints' sliders, controls.py those of actuators, live.py the simulation. viewer.py is
the page.
"""

from kinetree.show.view.viewer import Viewer

__all__ = ["Viewer"]
