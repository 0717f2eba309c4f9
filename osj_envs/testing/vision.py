"""Pictures judged by colour difference: CIE 1976, in which 2.3 is just noticed side by side.

Colour blindness is simulated after Machado, Oliveira and Fernandes (2009), at full severity.
"""

import itertools
from collections.abc import Hashable, Mapping

import numpy as np

PLAINLY = 20.0
"""A colour difference that nobody overlooks."""

VISION = {
    "full": np.eye(3),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.01182, 0.04294, 0.968881],
        ]
    ),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.3039],
        ]
    ),
}


def lab(picture: np.ndarray, vision: str = "full") -> np.ndarray:
    """CIELAB of an sRGB picture as somebody sees it (a name of `VISION`)."""
    share = picture / 255.0
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    linear = np.clip(linear @ VISION[vision].T, 0, 1)
    to_xyz = np.array(
        [
            [0.4124564, 0.3575761, 0.1804375],
            [0.2126729, 0.7151522, 0.072175],
            [0.0193339, 0.119192, 0.9503041],
        ]
    )
    xyz = linear @ to_xyz.T / to_xyz.sum(axis=1)
    root = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = np.moveaxis(root, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def difference(first: np.ndarray, second: np.ndarray, vision: str = "full") -> float:
    """Share of the pixels that differ plainly."""
    distance = np.linalg.norm(lab(first, vision) - lab(second, vision), axis=-1)
    return float((distance > PLAINLY).mean())


def least_difference(
    pictures: Mapping[Hashable, np.ndarray], vision: str = "full"
) -> tuple[float, tuple]:
    """Of the most similar two, the difference and the names."""
    return min(
        (difference(pictures[a], pictures[b], vision), (a, b))
        for a, b in itertools.combinations(pictures, 2)
    )


def cell(picture: np.ndarray, row: int, col: int, size: int = 32) -> np.ndarray:
    """One cell of a picture of a board."""
    return picture[row * size : (row + 1) * size, col * size : (col + 1) * size]


def is_shown(sheet: np.ndarray, tile: np.ndarray) -> bool:
    """Whether the sheet holds the tile, pixel for pixel."""
    windows = np.lib.stride_tricks.sliding_window_view(sheet, tile.shape[:2], axis=(0, 1))
    corners = np.argwhere((windows[..., 0, 0] == tile[0, 0]).all(axis=-1))
    height, width, _ = tile.shape
    return any((sheet[r : r + height, c : c + width] == tile).all() for r, c in corners)
