"""Pictures and videos that a browser takes of the viewer's page."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from threading import RLock
from typing import Any

from kinetree.errors import KinetreeError
from kinetree.robot import Robot
from kinetree.robot.checks import count, number
from kinetree.show.view.recording import checked_ending, encoded, png, rendered
from kinetree.show.view.trajectory import Trajectory
from kinetree.typing import Array, ArrayLike


class Filmed(ABC):
    """A viewer whose page is filmed."""

    robot: Robot
    server: Any
    url: str
    _path: Trajectory | None
    _lock: RLock

    @abstractmethod
    def set(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Show a state."""

    @abstractmethod
    def _step(self, passed: float) -> None:
        """Simulate for a while."""

    @abstractmethod
    def _draw(self) -> None:
        """Show the state."""

    def screenshot(self, width: int = 1280, height: int = 800, timeout: float = 20.0) -> Array:
        """An image of the scene, rendered by a browser, which must be open at `url`.

        Arguments:
            width, height: in pixels.
            timeout: the longest wait for the browser, s.

        Returns:
            (height, width, 3), bytes.
        """
        size = count("width", width), count("height", height)
        return rendered(self._client(), *size, number("timeout", timeout, above=0.0))

    def video(
        self,
        file: str | Path,
        fps: int = 25,
        width: int = 960,
        height: int = 600,
        seconds: float | None = None,
    ) -> None:
        """Write a video of the trajectory, or of a simulation from the state that is shown.

        A browser renders it, which must be open at `url`.

        Arguments:
            file: ends with .gif, or with .mp4 if the package imageio-ffmpeg is installed.
            fps: frames per second.
            width, height: in pixels.
            seconds: the duration; by default the trajectory's, or 3 s of a simulation.
        """
        for name, size in (("fps", fps), ("width", width), ("height", height)):
            count(name, size)
        if seconds is not None:
            number("seconds", seconds, above=0.0)
        ending, client = checked_ending(file), self._client()
        pictures = self._pictures(client, fps, width, height, seconds)
        Path(file).write_bytes(encoded(pictures, fps, ending))

    def _pictures(
        self, client: Any, fps: int, width: int, height: int, seconds: float | None
    ) -> Iterator[Array]:
        """The pictures of a video; the robot is not moved otherwise meanwhile."""
        end = seconds or (3.0 if self._path is None else self._path.end)
        with self._lock:
            for k in range(max(1, math.ceil(end * fps))):
                if self._path is not None:
                    self.set(*self._path.at(k / fps))
                elif k:
                    self._step(1.0 / fps)
                self._draw()
                self.server.flush()
                rendered(client, 16, 16)  # returns after the browser has drawn the new state
                yield rendered(client, width, height)

    def _client(self) -> Any:
        """The first browser that shows the page."""
        clients = list(self.server.get_clients().values())
        if not clients:
            raise KinetreeError(f"no browser shows the robot: open {self.url}")
        return clients[0]

    def _send_screenshot(self, event: Any) -> None:
        picture = png(rendered(event.client, 1600, 1000))
        event.client.send_file_download(f"{self.robot.name}.png", picture)

    def _send_video(self, event: Any) -> None:
        content = encoded(self._pictures(event.client, 20, 800, 500, None), 20, ".gif")
        event.client.send_file_download(f"{self.robot.name}.gif", content)
