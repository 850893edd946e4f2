"""Pictures and videos of the scene, as a browser renders it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from kinetree._optional import optional
from kinetree.errors import KinetreeError
from kinetree.typing import Array

ENDINGS = (".gif", ".mp4")


def checked_ending(file: str | Path) -> str:
    """The ending of a video's file, .gif or .mp4."""
    ending = Path(file).suffix.lower()
    if ending not in ENDINGS:
        raise KinetreeError(f"{file}: a video's file ends with {' or '.join(ENDINGS)}")
    if ending == ".mp4":
        optional("imageio_ffmpeg", "an MP4 file", "or write a .gif")
    return ending


def encoded(pictures: Iterable[Any], fps: int, ending: str) -> bytes:
    """Pictures as a video.

    Arguments:
        pictures: (height, width, 3) each, of bytes.
        fps: pictures a second.
        ending: ".gif" or ".mp4".
    """
    import imageio.v2

    gif = ending == ".gif"
    how: dict[str, Any] = {"duration": 1000.0 / fps, "loop": 0}
    if not gif:
        how = {"fps": fps, "macro_block_size": 2}
    # ffmpeg's codec takes even sizes only; GIF has 256 colours a picture
    return imageio.v2.mimwrite("<bytes>", list(pictures), format=ending[1:], **how)


def png(picture: Array) -> bytes:
    """A picture as a PNG file.

    Arguments:
        picture: (height, width, 3 or 4), of bytes.
    """
    import imageio.v3

    return imageio.v3.imwrite("<bytes>", picture, extension=".png")


def rendered(client: Any, width: int, height: int, timeout: float = 20.0) -> Array:
    """The scene as a browser renders it, (height, width, 3), of bytes.

    Arguments:
        client: viser's handle of the browser.
        width, height: in pixels.
        timeout: the longest wait for the browser, s.
    """
    picture = client.get_render(height, width, transport_format="png", timeout=timeout)
    return on_white(np.asarray(picture))


def on_white(picture: Array) -> Array:
    """A picture in front of white, (height, width, 3), of bytes.

    Arguments:
        picture: (height, width, 4), of bytes, its background transparent; or without opacity.
    """
    if picture.shape[-1] == 3:
        return picture
    share = picture[..., 3:] / 255.0
    found: Array = np.round(picture[..., :3] * share + 255.0 * (1.0 - share)).astype(np.uint8)
    return found
