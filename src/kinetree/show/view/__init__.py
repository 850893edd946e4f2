"""The viewer: a robot in the browser, with its numbers (extra `view`).

geometry.py has triangles, parts.py says which of them a robot is drawn with, scene.py draws it,
pictures.py makes images of numbers, numbers.py their text and plots, with names as markdown.py
quotes them. visitors.py checks who asks for the page. trajectory.py has the states
that are played, pull.py the mouse that pulls a link, recording.py screenshots and videos.
surroundings.py has the ground and the camera, sliders.py the joints' sliders,
controls.py those of actuators, live.py the simulation. viewer.py is the page.
"""

from kinetree.show.view.viewer import Viewer

__all__ = ["Viewer"]
