"""The viewer's page: sliders, layers, numbers, a trajectory that plays, a simulation that runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.errors import KinetreeError, MissingExtraError, unknown
from kinetree.robot import Robot
from kinetree.simulate.result import Simulation
from kinetree.typing import Array, ArrayLike
from kinetree.view.pictures import bars, heat_map
from kinetree.view.scene import LAYERS, Scene

FRAME = 1 / 40
"""Between two pictures, s."""
SUBSTEPS = 20
"""Steps of a simulation between two pictures."""
NUMBERS_EVERY = 0.15
"""Between two updates of the heat maps and bars, s."""
TURN, METRE = np.pi, 1.0
"""How far sliders of joints without limits go."""


class Viewer:
    """A robot in the browser; it runs until `close`.

    Arguments:
        robot: what is shown.
        trajectory: a `Simulation`, or arrays by name: q (T, nq), and times (T,) or 100 a second.
        folder: of the robot file, where meshes are looked for.
        host: the address to listen on; by default this computer only.
        port: the first free one from here on.
        run: whether a thread of its own moves the robot; if not, call `tick`.

    q, v: the state that is shown, (nq,) and (nv,).
    url: the address of the page.
    """

    def __init__(
        self,
        robot: Robot,
        trajectory: Mapping[str, ArrayLike] | None = None,
        folder: str | Path | None = None,
        host: str = "127.0.0.1",
        port: int = 8080,
        run: bool = True,
    ) -> None:
        self.robot = robot
        self._neutral: Array = robot.neutral()
        self.v: Array = np.zeros(robot.nv)
        self._lower, self._upper = _slider_limits(robot)
        self._times, self._path = _motion(robot, trajectory)
        self.q = self._neutral if self._path is None else self._path[0]
        self._changed, self._numbers_at = True, 0.0
        self._lock = threading.RLock()
        self.server = _viser().ViserServer(host=host, port=port, label=robot.name, verbose=False)
        self.url = f"http://{host}:{self.server.get_port()}"
        self.scene = Scene(self.server.scene, robot, None if folder is None else Path(folder))
        self._add_surroundings()
        self._add_controls()
        self._running = run
        self.scene.update(self.q)
        if run:  # numbers follow when their kernels are compiled, the page is up before
            threading.Thread(target=self._loop, name="kinetree viewer", daemon=True).start()

    # what a user does

    def set(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Show a state.

        Arguments:
            q: configuration, (nq,).
            v: velocity, (nv,); zero by default.
        """
        with self._lock:
            self.q = self.robot.normalize(q)
            self.v = np.zeros(self.robot.nv) if v is None else np.asarray(v, float)
            self._changed = True

    def layer(self, name: str, visible: bool = True) -> None:
        """Show or hide a layer.

        Arguments:
            name: "surfaces", "frames", "centers", "ellipsoids" or "torques".
            visible: whether it is shown.
        """
        if name not in self._layers:
            raise unknown("layer", name, LAYERS, "the viewer")
        self._layers[name].value = visible

    def wait(self) -> None:
        """Return when the viewer is closed, or at Ctrl-C."""
        while self._running:
            time.sleep(0.2)

    def close(self) -> None:
        """Stop the viewer and its page."""
        self._running = False
        with self._lock:
            self.server.stop()

    def screenshot(self, width: int = 1280, height: int = 800, timeout: float = 20.0) -> Array:
        """The scene as a browser shows it, which must be open at `url`.

        Arguments:
            width, height: in pixels.
            timeout: how long to wait for the browser, s.

        Returns:
            (height, width, 3 or 4), of bytes.
        """
        clients = list(self.server.get_clients().values())
        if not clients:
            raise KinetreeError(f"no browser shows the robot: open {self.url} in one")
        return clients[0].get_render(height, width, transport_format="png", timeout=timeout)

    def video(self, file: str | Path, fps: int = 25, width: int = 960, height: int = 600) -> None:
        """Write the trajectory as an animation, as a browser shows it, which must be open at `url`.

        Arguments:
            file: ends with .gif, or with .mp4 if the package imageio-ffmpeg is installed.
            fps: pictures a second.
            width, height: in pixels.
        """
        import imageio.v3

        if self._path is None:
            raise KinetreeError("there is no trajectory to write: give one to the viewer")
        pictures = []
        for t in np.arange(self._times[0], self._times[-1], 1.0 / fps):
            self.set(self._at(t))
            self.tick(0.0)
            self.server.flush()
            pictures.append(self.screenshot(width, height)[..., :3])
        more = {"duration": 1000.0 / fps, "loop": 0} if str(file).endswith(".gif") else {"fps": fps}
        imageio.v3.imwrite(file, np.stack(pictures), **more)

    def _repr_html_(self) -> str:
        """The page, in a notebook."""
        return f'<iframe src="{self.url}" width="100%" height="560" style="border:0"></iframe>'

    # the page

    def _add_surroundings(self) -> None:
        size = self.scene.size
        scene = self.server.scene
        scene.set_up_direction("+z")
        floor = min(0.0, float(self.robot.poses(self.q)[:, 2, 3].min(initial=0.0)))
        grid = {"cell_size": size / 4, "section_size": size, "position": (0.0, 0.0, floor)}
        scene.add_grid("/grid", 8 * size, 8 * size, **grid)
        self.server.initial_camera.position = (1.1 * size, -1.3 * size, 0.9 * size)
        self.server.initial_camera.look_at = (0.0, 0.0, 0.35 * size)

    def _add_controls(self) -> None:
        gui = self.server.gui
        gui.configure_theme(control_layout="collapsible", show_logo=False, show_share_button=False)
        self._title = gui.add_markdown(f"**{self.robot.name}**, {self.robot.nv} degrees of freedom")
        with gui.add_folder("Layers"):
            self._layers = {layer: self._add_layer(layer) for layer in LAYERS}
        if self._path is not None:
            self._add_player()
        with gui.add_folder("Simulation", expand_by_default=False):
            self._simulate = gui.add_checkbox("simulate", False)
            self._damping = gui.add_slider("damping", 0.0, 5.0, 0.05, 0.2)
            self._add_pull()
        with gui.add_folder("Joints"):
            self._sliders = [self._add_slider(k) for k in range(self.robot.nv)]
            gui.add_button("neutral").on_click(lambda _: self.set(self._neutral))
            gui.add_button("random").on_click(lambda _: self.set(self.robot.random()))
        with gui.add_folder("Numbers"):
            self._text = gui.add_markdown("")
            self._bars = gui.add_image(
                bars(self.v, self.robot.limits.effort), label="gravity torques, share of limits"
            )
            self._heat = gui.add_image(heat_map(np.zeros((1, 1))), label="mass matrix")
            self._coriolis = gui.add_image(heat_map(np.zeros((1, 1))), label="Coriolis matrix")
        self._link = gui.add_markdown("Click a link to see its numbers.")
        for body, handle in self.scene.clickable:
            handle.on_click(lambda _, body=body: self._describe(body))
        gui.add_button("screenshot").on_click(self._send_screenshot)

    def _add_layer(self, layer: str) -> Any:
        box = self.server.gui.add_checkbox(layer, layer == "surfaces")

        def switch(_: Any) -> None:
            self.scene.show(layer, box.value)
            self._changed = True

        box.on_update(switch)
        return box

    def _add_slider(self, k: int) -> Any:
        name, unit = self.robot.velocity_names[k], self.robot.velocity_units[k].split("/")[0]
        low, high = float(self._lower[k]), float(self._upper[k])
        start = min(max(0.0, low), high)
        slider = self.server.gui.add_slider(
            f"{name}, {unit}", low, high, (high - low) / 1000, start
        )
        slider.on_update(self._from_sliders)
        return slider

    def _add_player(self) -> None:
        gui, end = self.server.gui, float(self._times[-1])
        with gui.add_folder("Trajectory"):
            self._playing = gui.add_checkbox("play", True)
            self._speed = gui.add_slider("speed", 0.05, 2.0, 0.05, 1.0)
            self._time = gui.add_slider("time, s", 0.0, max(end, 1e-3), max(end, 1e-3) / 1000, 0.0)
            self._add_energies()
        self._time.on_update(self._from_time)

    def _add_energies(self) -> None:
        """Energies over the whole trajectory; velocities are differences of its states."""
        q, times = self._path, self._times
        if q is None or len(times) < 3:
            return
        v = self.robot.difference(q[:-1], q[1:]) / np.diff(times)[:, None]
        kinetic, potential = (
            self.robot.kinetic_energy(q[:-1], v),
            self.robot.potential_energy(q[:-1]),
        )
        series = (
            {"label": "time, s"},
            *({"label": x, "stroke": c, "width": 2} for x, c in ENERGIES),
        )
        data = (times[:-1], kinetic, potential, kinetic + potential)
        self.server.gui.add_uplot(data, series, title="energy, J", aspect=1.6)

    def _add_pull(self) -> None:
        """A handle in the scene that pulls a link as a spring does, while a simulation runs."""
        links = ("nothing", *self.robot.bodies)
        self._pulled = self.server.gui.add_dropdown("pull", links)
        self._handle = self.server.scene.add_transform_controls(
            "/pull", scale=0.2 * self.scene.size, disable_rotations=True, visible=False
        )

        def choose(_: Any) -> None:
            name = self._pulled.value
            self._handle.visible = name != "nothing"
            if name != "nothing":
                self._handle.position = self.robot.pose(self.q, name)[:3, 3]

        self._pulled.on_update(choose)

    def _send_screenshot(self, event: Any) -> None:
        import imageio.v3

        picture = event.client.get_render(1000, 1600, transport_format="png")
        content = imageio.v3.imwrite("<bytes>", picture, extension=".png")
        event.client.send_file_download(f"{self.robot.name}.png", content)

    # time

    def tick(self, passed: float) -> None:
        """Advance what runs, and show the state if it changed.

        Arguments:
            passed: since the last call, s.
        """
        with self._lock:
            if self._path is not None and self._playing.value:
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
            self.tick(now - last)
            last = now
            time.sleep(max(0.0, FRAME - (time.perf_counter() - now)))

    def _play(self, passed: float) -> None:
        end = float(self._times[-1])
        t = (self._time.value + passed * self._speed.value) % end if end > 0.0 else 0.0
        self._time.value = t
        self.q, self.v, self._changed = self._at(t), np.zeros(self.robot.nv), True

    def _at(self, t: float) -> Array:
        """The configuration of the trajectory at a time, between its states along the manifold."""
        assert self._path is not None
        k = int(np.clip(np.searchsorted(self._times, t) - 1, 0, max(len(self._times) - 2, 0)))
        if len(self._times) == 1:
            return self._path[0]
        share = (t - self._times[k]) / (self._times[k + 1] - self._times[k])
        step = self.robot.difference(self._path[k], self._path[k + 1])
        return self.robot.integrate(self._path[k], np.clip(share, 0.0, 1.0) * step)

    def _step(self, passed: float) -> None:
        """Simulate for a while under gravity, damping, and the hand that pulls."""
        dt, name = passed / SUBSTEPS, self._pulled.value
        for _ in range(SUBSTEPS):
            tau = -self._damping.value * self.v
            pull = {} if name == "nothing" else {name: self._pull(name)}
            self.q, self.v = self.robot.step(self.q, self.v, tau, dt, external=pull or None)
        if not (np.isfinite(self.q).all() and np.isfinite(self.v).all()):
            self._simulate.value = False
            self.q, self.v = self._neutral, np.zeros(self.robot.nv)
        self._changed = True

    def _pull(self, name: str) -> Array:
        """The wrench of the spring between the handle and a link, in the link's axes."""
        pose = self.robot.pose(self.q, name)
        mass = sum(float(body.inertia.mass) for body in self.robot.model.bodies)
        force = 40.0 * mass * (np.asarray(self._handle.position) - pose[:3, 3])
        return np.concatenate([pose[:3, :3].T @ force, np.zeros(3)])

    # showing

    def _from_time(self, event: Any) -> None:
        if event.client is not None:  # the user's wish, and not our own assignment
            self.set(self._at(self._time.value))

    def _from_sliders(self, event: Any) -> None:
        if event.client is not None:
            moved = np.array([slider.value for slider in self._sliders])
            self.set(self.robot.integrate(self._neutral, moved))

    def _draw(self) -> None:
        with self.server.atomic():
            self.scene.update(self.q)
            moved = self.robot.difference(self._neutral, self.q)
            for slider, value in zip(self._sliders, moved, strict=True):
                slider.value = float(np.clip(value, slider.min, slider.max))
            if time.perf_counter() - self._numbers_at > NUMBERS_EVERY or not self._moving():
                self._numbers_at = time.perf_counter()
                self._show_numbers()

    def _moving(self) -> bool:
        return self._simulate.value or (self._path is not None and self._playing.value)

    def _show_numbers(self) -> None:
        q, v, robot = self.q, self.v, self.robot
        self._text.content = self.numbers()
        self._bars.image = bars(robot.gravity_forces(q), robot.limits.effort)
        self._heat.image = heat_map(robot.mass_matrix(q))
        self._coriolis.image = heat_map(robot.coriolis_matrix(q, v))

    def numbers(self) -> str:
        """The numbers of the state that is shown, as a table in Markdown."""
        q, v, robot = self.q, self.v, self.robot
        center = ", ".join(f"{x:.3f}" for x in robot.center_of_mass(q))
        energies = f"{robot.kinetic_energy(q, v):.3f} + {robot.potential_energy(q):.3f}"
        forces = robot.gravity_forces(q)
        rows = [
            f"| {name} | {x:.3f} |" for name, x in zip(robot.velocity_names, forces, strict=True)
        ]
        head = ["| gravity torque | N m or N |", "|-|-:|"]
        lines = [f"centre of mass ({center}) m", "", f"energy {energies} J", "", *head, *rows]
        return "\n".join(lines)

    def _describe(self, body: str) -> None:
        """Show the numbers of a link."""
        i = self.robot.bodies.index(body)
        inertia = self.robot.model.bodies[i].inertia
        place, _ = inertia.center_and_rotational()
        at = ", ".join(f"{x:.3f}" for x in self.robot.poses(self.q)[i, :3, 3])
        center = ", ".join(f"{float(x):.3f}" for x in place)
        self._link.content = (
            f"**{body}** at ({at}) m\n\nmass {float(inertia.mass):.3f} kg, centre of mass "
            f"({center}) m in its frame\n\njoint {self.robot.model.bodies[i].joint_name}"
        )


ENERGIES = (("kinetic", "#0b6e99"), ("potential", "#d9730d"), ("total", "#333333"))


def show(
    robot: Robot,
    trajectory: Mapping[str, ArrayLike] | None = None,
    folder: str | Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
) -> Viewer:
    """Show a robot in the browser.

    Arguments:
        robot: what is shown.
        trajectory: a `Simulation`, or arrays by name: q (T, nq), and times (T,) or 100 a second.
        folder: of the robot file, where meshes are looked for.
        host: the address to listen on; by default this computer only.
        port: the first free one from here on.

    Returns:
        The viewer: `url` is its address, `set(q)` shows a state, `close()` ends it.
    """
    return Viewer(robot, trajectory, folder, host, port)


def load_trajectory(file: Path) -> Mapping[str, ArrayLike]:
    """The trajectory of a file that a simulation was saved to, or an NPZ file with q.

    Arguments:
        file: ends with .npz or .parquet.
    """
    if file.suffix == ".npz" and file.is_file():
        with np.load(file, allow_pickle=False) as arrays:
            if "q" not in arrays.files:
                raise KinetreeError(f"{file}: array 'q' is missing; it has {arrays.files}")
            return {name: arrays[name] for name in arrays.files if name in ("q", "times")}
    return Simulation.load(file)


def _motion(robot: Robot, given: Mapping[str, ArrayLike] | None) -> tuple[Array, Array | None]:
    """The times and configurations of a trajectory; of several, the first."""
    if given is None:
        return np.zeros(1), None
    q = np.asarray(given["q"], float)
    q = q.reshape(-1, *q.shape[-2:])[0] if q.ndim > 2 else q
    if q.ndim != 2 or q.shape[1] != robot.nq or not len(q):
        raise KinetreeError(
            f"the trajectory's q has shape {q.shape}; (T, {robot.nq}) is expected for robot "
            f"{robot.name!r}"
        )
    times = np.asarray(given["times"], float) if "times" in given else np.arange(len(q)) / 100
    if times.shape != q.shape[:1] or (np.diff(times) <= 0).any():
        raise KinetreeError(
            f"the trajectory's times have shape {times.shape}; {len(q)} rising numbers are expected"
        )
    return times - times[0], robot.normalize(q)


def _slider_limits(robot: Robot) -> tuple[Array, Array]:
    """How far each slider goes: the limits of joints, or a turn or a metre where there are none."""
    model = robot.model
    free = np.array([TURN if u.startswith("rad") else METRE for u in robot.velocity_units])
    lower, upper = -free, free.copy()
    for i in model.coordinate_order:
        joint, limits = model.bodies[i].joint, model.bodies[i].limits
        if joint.nq == joint.nv == 1:
            k, bounds = model.v_slices[i].start, sorted((limits.lower, limits.upper))
            lower[k] = bounds[0] if np.isfinite(bounds[0]) else lower[k]
            upper[k] = bounds[1] if np.isfinite(bounds[1]) else upper[k]
            upper[k] = max(upper[k], lower[k] + 1e-3)
    return lower, upper


def _viser() -> Any:
    try:
        import viser
    except ImportError:
        raise MissingExtraError(
            "the viewer needs viser, which is not installed: run pip install 'kinetree[view]'"
        ) from None
    return viser
