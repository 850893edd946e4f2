"""The viewer's page: sliders, layers, numbers, a trajectory that plays, a simulation that runs."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinetree._optional import optional
from kinetree.errors import among, unknown
from kinetree.robot import Robot
from kinetree.robot.checks import finite_state
from kinetree.show.view import notebook
from kinetree.show.view.colliders import grounds
from kinetree.show.view.filming import Filmed
from kinetree.show.view.joint_forces import JointForces
from kinetree.show.view.live import Live, above_ground
from kinetree.show.view.markdown import literal
from kinetree.show.view.numbers import EnergyPlot, of_link, of_state
from kinetree.show.view.pictures import bars, heat_map
from kinetree.show.view.pull import Pull
from kinetree.show.view.scene import LAYERS, SHOWN, Scene
from kinetree.show.view.sliders import Sliders, closed
from kinetree.show.view.surroundings import add_surroundings
from kinetree.show.view.trajectory import Playable, Trajectory
from kinetree.show.view.visitors import check_address, start
from kinetree.typing import Array, ArrayLike

FRAME = 1 / 40
"""The time between two pictures, s."""
NUMBERS_EVERY = 0.15
"""The time between two updates of the heat maps and bars, s."""
NEARBY = 2.0
"""The distance from its start up to which a trajectory is kept in view, in sizes of the robot."""


class Viewer(Filmed):
    """A robot in the browser, until `close`.

    Arguments:
        robot: what is shown.
        trajectory: a `Simulation`, a `Motion`, a file of either or a BVH file; or arrays by name: q
            (T, nq), v (T, nv) if known, and times (T,), s; by default 100 states per second.
        folder: where to look for meshes; by default in the folder of the robot file.
        host: the address to listen on; by default this computer only.
        port: the first to try; the first free one from there on is used.
        run: whether a thread moves the robot; if not, call `tick`.
        allow: host names, besides this computer's, under which the page is opened, such as a
            proxy's.

    Attributes:
        q, v: the state that is shown, (nq,) and (nv,).
        url: the address of the page.
    """

    def __init__(
        self,
        robot: Robot,
        trajectory: Playable | None = None,
        folder: str | Path | None = None,
        host: str = "127.0.0.1",
        port: int = 8080,
        run: bool = True,
        allow: Sequence[str] = (),
    ) -> None:
        self.robot = robot
        self._neutral: Array = above_ground(robot, robot.neutral())
        self._path = None if trajectory is None else Trajectory(robot, trajectory)
        self.q: Array = self._neutral
        self.v: Array = np.zeros(robot.nv)
        if self._path is not None:
            self.q, self.v = self._path.at(0.0)
        self._changed, self._numbers_at, self._clock = True, 0.0, 0.0
        self._selected: str | None = None
        self._lock = threading.RLock()
        viser = optional("viser", "the viewer")
        check_address(host)
        self._key = secrets.token_urlsafe(24)
        self._shown_in: int | None = None
        self.server = start(
            viser, allow, self._key, host, port=port, label=robot.name, verbose=False
        )
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{self.server.get_port()}"
        place = None if folder is None else Path(folder)
        self.scene = Scene(self.server.scene, robot, place)
        self._pull = Pull(self.server.scene, robot, self._start_simulation)
        self._live = Live(robot, self._pull)
        bounds = self._bounds()
        self._cell = add_surroundings(self.server, *bounds, grounds(robot.model))
        self._add_controls()
        self._running = run
        self.scene.update(self.q)
        if run:  # the page opens first; numbers follow when their kernels are compiled
            threading.Thread(target=self._loop, name="kinetree viewer", daemon=True).start()
        if notebook.cell() is not None:
            self._ipython_display_()

    # the user's interface

    def set(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Show a state.

        Arguments:
            q: configuration, (nq,).
            v: velocity, (nv,); zero by default.
        """
        with self._lock:
            n = self.robot.nv
            self.q = self.robot.normalize(finite_state("q", q, self.robot.nq))
            self.v = np.zeros(n) if v is None else finite_state("v", v, n)
            self._live.rest()
            self._changed = True

    def layer(self, name: str, visible: bool = True) -> None:
        """Show or hide a layer.

        Arguments:
            name: one of "surfaces", "constraints", "contacts", "colliders", "frames", "axes",
                "centers", "ellipsoids" and "torques".
            visible: whether it is shown.
        """
        if not among(name, self._layers):
            raise unknown("layer", name, LAYERS, "the viewer")
        self._layers[name].value = visible

    def select(self, link: str) -> None:
        """Show the numbers of a link and the forces of its joint over time, as a click on it does.

        Arguments:
            link: the name of a body.
        """
        if not among(link, self.robot.bodies):
            raise unknown("link", link, self.robot.bodies, f"robot {self.robot.name!r}")
        with self._lock:
            self._selected = link
            self._show_link()
            self._forces.choose(link)

    def wait(self) -> None:
        """Return when the viewer is closed, or at Ctrl-C."""
        while self._running:
            time.sleep(0.2)

    def close(self) -> None:
        """Stop the viewer and its page."""
        self._running = False
        with self._lock:
            self.server.stop()

    def _ipython_display_(self) -> None:
        """Show the page in a notebook, once under each cell."""
        now = notebook.cell()
        if now is None:
            print(repr(self))
        elif now != self._shown_in:
            self._shown_in = now
            notebook.display(notebook.page(self.url, self.server.get_port(), self._key))

    def __repr__(self) -> str:
        return f"<Viewer of {self.robot.name!r} at {self.url}>"

    # the page

    def _bounds(self) -> tuple[Array, Array]:
        """The corners of a box around the robot and the nearby part of its trajectory."""
        low, high = self.scene.bounds(self.q)
        if self._path is None:
            return low, high
        reach = NEARBY * float(np.linalg.norm(high - low))
        ends = [self.scene.bounds(self._path.at(t)[0]) for t in np.linspace(0, self._path.end, 20)]
        lows, highs = np.array([x[0] for x in ends]), np.array([x[1] for x in ends])
        return np.maximum(lows.min(axis=0), low - reach), np.minimum(
            highs.max(axis=0), high + reach
        )

    def _add_controls(self) -> None:
        gui = self.server.gui
        gui.configure_theme(show_logo=False, show_share_button=False)
        gui.main_panel.dock_right()
        gui.add_markdown(
            f"**{literal(self.robot.name)}**, {self.robot.nv} degrees of freedom"
            f"{self._rows_in_words()}. A cell of the ground is {self._cell:g} m."
        )
        if failed := self.scene.failed:
            file, reason = next(iter(failed.items()))
            gui.add_markdown(
                f"Meshes that are not drawn: {len(failed)}, the first {literal(file)}: "
                f"{literal(reason)}."
            )
        self._link = gui.add_markdown("Click a link to see its numbers. Drag it to pull it.")
        self._forces = JointForces(gui, self.robot, self._path)
        for body, handle in self.scene.clickable:
            handle.on_click(lambda _, body=body: self.select(body))
            self._pull.follow(body, handle, lambda: self.q)
        for body, handle in self.scene.joint_axes:
            handle.on_click(lambda _, body=body: self.select(body))
        tabs = gui.add_tab_group()
        makers = {"Joints": self._add_joints, "Numbers": self._add_numbers}
        motion = {"Motion": self._add_motion, **self._live.tabs(gui)}
        ordered = makers | motion if self._path is None else motion | makers
        for title, add in (ordered | {"Layers": self._add_layers}).items():
            with tabs.add_tab(title):
                add()

    def _add_joints(self) -> None:
        gui, robot = self.server.gui, self.robot
        self._sliders = Sliders(gui, robot, self._from_sliders)
        gui.add_button("neutral").on_click(lambda _: self.set(self._neutral))
        gui.add_button("random").on_click(
            lambda _: self.set(above_ground(robot, closed(robot, robot.random())))
        )

    def _rows_in_words(self) -> str:
        """The number of constraint rows, in words."""
        rows = len(self.robot.model.constraint_labels)
        return f", {rows} rows of constraints" if rows else ""

    def _add_numbers(self) -> None:
        gui = self.server.gui
        self._text = gui.add_markdown("")
        self._bars = gui.add_image(
            bars(self.v, self.robot.limits.effort), label="gravity torques, share of limits"
        )
        self._heat = gui.add_image(heat_map(np.zeros((1, 1))), label="mass matrix M")
        self._coriolis = gui.add_image(heat_map(np.zeros((1, 1))), label="Coriolis matrix C")

    def _add_motion(self) -> None:
        gui = self.server.gui
        if self._path is not None:
            self._add_player(max(self._path.end, 1e-3))
        self._simulate = gui.add_checkbox("simulate", False)
        self._hold = gui.add_checkbox("hold joints", self._live.stands)
        self._damping = gui.add_slider("damping, 1/s", 0.0, 5.0, 0.05, 0.5)
        self._energy = EnergyPlot(gui, self.robot, None if self._path is None else self._path.end)
        self._simulate.on_update(lambda _: self._pause_player())

    def _add_player(self, end: float) -> None:
        gui = self.server.gui
        self._playing = gui.add_checkbox("play", True)
        self._speed = gui.add_slider("speed", 0.05, 2.0, 0.05, 1.0)
        self._time = gui.add_slider("time, s", 0.0, end, end / 1000, 0.0)
        self._time.on_update(self._from_time)

    def _add_layers(self) -> None:
        gui = self.server.gui
        self._layers = {layer: self._add_layer(layer) for layer in LAYERS}
        gui.add_button("screenshot").on_click(self._send_screenshot)
        gui.add_button("video (GIF)").on_click(self._send_video)

    def _add_layer(self, layer: str) -> Any:
        box = self.server.gui.add_checkbox(layer, layer in SHOWN)

        def switch(_: Any) -> None:
            self.scene.show(layer, box.value)
            self._changed = True

        box.on_update(switch)
        return box

    # time

    def tick(self, passed: float) -> None:
        """Advance the trajectory or the simulation, and show the state if it changed.

        Arguments:
            passed: the time since the last call, s.
        """
        with self._lock:
            if self._plays():
                self._play(passed)
            elif self._simulate.value and passed > 0.0:
                self._step(min(passed, 2 * FRAME))
            if self._changed:
                self._changed = False
                self._draw()

    def _loop(self) -> None:
        last = time.perf_counter()
        while self._running:
            now = time.perf_counter()
            try:
                self.tick(now - last)
            except Exception as e:  # of any kind: the page stays up and reports it
                self._stop_for(e)
            last = now
            time.sleep(max(0.0, FRAME - (time.perf_counter() - now)))

    def _stop_for(self, error: Exception) -> None:
        """Stop the motion, and show the error."""
        with self._lock:
            self._simulate.value = False
            if self._path is not None:
                self._playing.value = False
            self._link.content = f"Stopped: {literal(str(error) or type(error).__name__)}"

    def _plays(self) -> bool:
        return self._path is not None and self._playing.value

    def _play(self, passed: float) -> None:
        assert self._path is not None
        end = self._path.end
        t = (self._time.value + passed * self._speed.value) % end if end > 0.0 else 0.0
        self._time.value = self._clock = t
        self.q, self.v = self._path.at(t)
        self._live.rest(self._path.tau_at(t))
        self._changed = True

    def _start_simulation(self) -> None:
        """Start the simulation when a link is grabbed."""
        self._simulate.value = True
        self._pause_player()

    def _pause_player(self) -> None:
        if self._path is not None and self._simulate.value:
            self._playing.value = False

    def _step(self, passed: float) -> None:
        """Simulate for a while."""
        damping, hold = self._damping.value, self._hold.value
        self.q, self.v = self._live.step(self.q, self.v, passed, damping, hold)
        self._clock += passed
        if not (np.isfinite(self.q).all() and np.isfinite(self.v).all()):
            self._simulate.value = False
            self.q, self.v = self._neutral, np.zeros(self.robot.nv)
        self._changed = True

    # showing

    def _from_time(self, event: Any) -> None:
        if event.client is not None and self._path is not None:  # the user's, not our assignment
            self._clock = self._time.value
            self.set(*self._path.at(self._clock))
            self._live.rest(self._path.tau_at(self._clock))

    def _from_sliders(self, event: Any) -> None:
        if event.client is not None:
            joint = self._sliders.joint_of(event.target)
            self.set(closed(self.robot, self._sliders.q, held=(joint,)))

    def _draw(self) -> None:
        forces = self._live.contact_forces(self.q, self.v) if self.scene.shows("contacts") else None
        with self.server.atomic():
            self.scene.update(self.q, forces)
            self._pull.draw(self.q)
            self._sliders.show(self.q)
            if time.perf_counter() - self._numbers_at > NUMBERS_EVERY or not self._moving():
                self._numbers_at = time.perf_counter()
                self._show_numbers()

    def _moving(self) -> bool:
        return self._simulate.value or self._plays()

    def _show_numbers(self) -> None:
        q, v, robot = self.q, self.v, self.robot
        self._text.content = of_state(robot, q, v)
        self._bars.image = bars(robot.gravity_forces(q), robot.limits.effort)
        self._heat.image = heat_map(robot.mass_matrix(q))
        self._coriolis.image = heat_map(robot.coriolis_matrix(q, v))
        self._show_link()
        if self._moving():
            self._energy.add(self._clock, q, v)
        if self._simulate.value:
            self._forces.add(self._clock, self._live.tau)

    def _show_link(self) -> None:
        if self._selected is not None:
            self._link.content = of_link(self.robot, self._selected, self.q, self.v)
