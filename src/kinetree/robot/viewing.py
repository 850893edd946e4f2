"""A robot in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kinetree.compiler.runtime.foreign.through_numpy import through_numpy
from kinetree.robot import uses
from kinetree.robot.core import Core


class Viewed(Core):
    """Showing a robot."""

    @through_numpy
    def show(
        self,
        trajectory: uses.Playable | None = None,
        *,
        folder: str | Path | None = None,
        host: str = "127.0.0.1",
        port: int = 8080,
        allow: Sequence[str] = (),
    ) -> uses.Viewer:
        """Show the robot in the browser, or in a notebook; needs the extra `view`.

        Arguments:
            trajectory: a `Simulation`, a `Motion`, a file of either or a BVH file; or arrays by
                name: q (T, nq), v (T, nv) if known, and times (T,), s; by default 100 states per
                second.
            folder: where to look for meshes; by default in the folder of the robot file.
            host: the address to listen on; by default this computer only.
            port: the first to try; the first free one from there on is used.
            allow: host names, besides this computer's, under which the page is opened, such as a
                proxy's.

        Returns:
            The viewer: `url` is its address, `set(q)` shows a state, `close()` stops it.
        """
        return uses.Viewer(self, trajectory, folder, host, port, allow=allow)  # type: ignore[arg-type]
