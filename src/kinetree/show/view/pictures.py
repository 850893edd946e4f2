"""Small pictures of numbers, as arrays of pixels: a matrix as a heat map, forces as bars."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kinetree.typing import Array

Picture = npt.NDArray[np.uint8]

SIDE = 300
BLUE, RED, WHITE = np.array([33.0, 102, 172]), np.array([178.0, 24, 43]), np.array([247.0] * 3)
GREY = 235


def heat_map(matrix: Array, side: int = SIDE) -> Picture:
    """A matrix as a picture: blue for negative numbers, red for positive ones.

    Colours follow the square root of the size, so that small entries differ visibly from zero.

    Arguments:
        matrix: (n, m).
        side: of the picture, pixels, about.

    Returns:
        (height, width, 3), of bytes.
    """
    matrix = _drawable(matrix)
    largest = np.abs(matrix).max(initial=0.0) or 1.0
    share = np.sign(matrix) * np.sqrt(np.abs(matrix) / largest)
    colors = _mixed(share)
    zoom = max(1, side // max(matrix.shape))
    return np.repeat(np.repeat(colors, zoom, axis=0), zoom, axis=1)


def bars(values: Array, limits: Array, width: int = SIDE) -> Picture:
    """Numbers as horizontal bars from the middle, as shares of their limits.

    Arguments:
        values: (n,).
        limits: the length of a full bar, (n,); the largest number where a limit is infinite.
        width: of the picture, pixels.

    Returns:
        (height, width, 3), of bytes.
    """
    values = _drawable(values)
    largest = np.abs(values).max(initial=0.0) or 1.0
    full = np.where(np.isfinite(limits) & (limits > 0), limits, largest)
    share = np.clip(values / full, -1.0, 1.0)
    high, half = 12, width // 2
    picture = np.full((high * len(values), 2 * half, 3), GREY, np.uint8)
    for k, x in enumerate(share):
        end = half + round(x * half)
        color = _mixed(np.array([[np.sign(x) * max(abs(x), 0.35)]]))[0, 0]
        picture[k * high + 2 : (k + 1) * high - 2, min(half, end) : max(half, end)] = color
    picture[:, half] = 90
    return picture


def _drawable(values: Array) -> Array:
    """Numbers with zeros for those that are not finite: they have no colour and no length."""
    return np.where(np.isfinite(values), values, 0.0)


def _mixed(share: Array) -> Picture:
    """Colours between blue (-1), white (0) and red (1), of bytes."""
    amount = np.abs(share)[..., None]
    end = np.where(share[..., None] < 0, BLUE, RED)
    return np.round(WHITE + amount * (end - WHITE)).astype(np.uint8)
