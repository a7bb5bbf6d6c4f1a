"""Draws a learning curve into a PNG file with nothing but NumPy and zlib.

A PNG file is an eight-byte signature and three chunks: IHDR (size, eight bits for each of red,
green and blue), IDAT (the rows, each after a filter byte 0, compressed by zlib) and IEND. A chunk
is its length, its name, its bytes, and the CRC-32 of name and bytes.

Source: PNG specification, third edition, W3C, sections 5 and 11.
"""

import itertools
import math
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

Color = tuple[int, int, int]
INK, GRID, PALE, BLUE = (40, 40, 40), (225, 225, 225), (170, 200, 235), (20, 90, 170)

# The picture is drawn three times too large and averaged down, which smooths slanted lines.
WIDTH, HEIGHT, OVERSAMPLE = 800, 480, 3
LEFT, RIGHT, TOP, BOTTOM = 95, 30, 45, 60

# Letters of five by seven dots, in cells six dots wide; a text is drawn in capitals.
FONT_ROWS = (
    (
        "0123456789.-",
        " ###    #    ###   ###     #  #####  ###  ##### ###   ###              ",
        "#   #  ##   #   # #   #   ##  #     #         # #   # #   #            ",
        "#  ##   #       #     #  # #  ####  #        #  #   # #   #            ",
        "# # #   #      #    ##  #  #      # ####    #    ###   ####       #####",
        "##  #   #     #       # #####     # #   #  #    #   #     #            ",
        "#   #   #    #    #   #    #  #   # #   #  #    #   #     #  ##        ",
        " ###   ###  #####  ###     #   ###   ###   #     ###   ###   ##        ",
    ),
    (
        "ABCDEFGHIJKLM",
        " ###  ####   ###  ####  ##### #####  ###  #   #  ###    ### #   # #     #   #",
        "#   # #   # #   # #   # #     #     #   # #   #   #      #  #  #  #     ## ##",
        "#   # #   # #     #   # #     #     #     #   #   #      #  # #   #     # # #",
        "##### ####  #     #   # ####  ####  # ### #####   #      #  ##    #     # # #",
        "#   # #   # #     #   # #     #     #   # #   #   #      #  # #   #     #   #",
        "#   # #   # #   # #   # #     #     #   # #   #   #   #  #  #  #  #     #   #",
        "#   # ####   ###  ####  ##### #      ###  #   #  ###   ##   #   # ##### #   #",
    ),
    (
        "NOPQRSTUVWXYZ",
        "#   #  ###  ####   ###  ####   #### ##### #   # #   # #   # #   # #   # #####",
        "##  # #   # #   # #   # #   # #       #   #   # #   # #   # #   # #   #     #",
        "# # # #   # #   # #   # #   # #       #   #   # #   # #   #  # #   # #     # ",
        "#  ## #   # ####  #   # ####   ###    #   #   # #   # # # #   #     #     #  ",
        "#   # #   # #     # # # # #       #   #   #   # #   # # # #  # #    #    #   ",
        "#   # #   # #     #  #  #  #      #   #   #   #  # #  ## ## #   #   #   #    ",
        "#   #  ###  #      ## # #   # ####    #    ###    #   #   # #   #   #   #####",
    ),
)
GLYPHS = {
    character: [[cell == "#" for cell in row[6 * i : 6 * i + 5].ljust(5)] for row in rows]
    for characters, *rows in FONT_ROWS
    for i, character in enumerate(characters)
}


class Canvas:
    """A white picture; positions are in pixels from its upper left corner."""

    def __init__(self, width: int, height: int) -> None:
        self._pixels = np.full((height * OVERSAMPLE, width * OVERSAMPLE, 3), 255, np.uint8)

    def rectangle(self, x: float, y: float, width: float, height: float, color: Color) -> None:
        """Fills a rectangle; what lies outside the picture is cut off."""
        x0, y0, x1, y1 = (
            max(0, round(edge * OVERSAMPLE)) for edge in (x, y, x + width, y + height)
        )
        self._pixels[y0:y1, x0:x1] = color

    def polyline(self, points: Sequence[tuple[float, float]], width: float, color: Color) -> None:
        """Joins the points by straight lines, as dots that are closer than a pixel."""
        for (x0, y0), (x1, y1) in itertools.pairwise(points):
            dots = max(1, math.ceil(OVERSAMPLE * max(abs(x1 - x0), abs(y1 - y0))))
            for i in range(dots + 1):
                x, y = x0 + (x1 - x0) * i / dots, y0 + (y1 - y0) * i / dots
                self.rectangle(x - width / 2, y - width / 2, width, width, color)

    def text(self, x: float, y: float, text: str, anchor: float = 0.0, dot: float = 2.0) -> None:
        """Writes text whose top is y and whose x is its start (anchor 0) to its end (anchor 1)."""
        x -= anchor * (6 * len(text) - 1) * dot
        for i, character in enumerate(text.upper()):
            if character == " ":
                continue
            for row, cells in enumerate(GLYPHS[character]):
                for column, inked in enumerate(cells):
                    if inked:
                        self.rectangle(x + (6 * i + column) * dot, y + row * dot, dot, dot, INK)

    def save(self, path: Path) -> None:
        """Writes the picture as a PNG file."""
        height, width = (size // OVERSAMPLE for size in self._pixels.shape[:2])
        blocks = self._pixels.reshape(height, OVERSAMPLE, width, OVERSAMPLE, 3)
        path.write_bytes(encode_png(blocks.mean(axis=(1, 3)).round().astype(np.uint8)))


def encode_png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Returns the PNG file of pixels, which have shape [height, width, 3]."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    chunks = (
        (b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def draw_learning_curve(path: Path, losses: Sequence[float], steps_per_epoch: int) -> None:
    """Draws the loss of each step, and its mean over the steps of an epoch, on a log scale.

    A loss that is zero, infinite or NaN has no place on such a scale and is left out of the line.
    """
    plotted = [(step, loss) for step, loss in enumerate(losses, 1) if 0.0 < loss < math.inf]
    low = math.floor(math.log10(min((loss for _, loss in plotted), default=1.0)))
    high = max(low + 1, math.ceil(math.log10(max((loss for _, loss in plotted), default=1.0))))

    def position(step: float, loss: float) -> tuple[float, float]:
        right = step / len(losses)
        up = (math.log10(loss) - low) / (high - low)
        return LEFT + right * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    canvas = Canvas(WIDTH, HEIGHT)
    canvas.text(WIDTH / 2, 15, "Training loss of each step and mean over an epoch", anchor=0.5)
    for power in range(low, high + 1):
        _, y = position(0, 10.0**power)
        canvas.rectangle(LEFT, y, WIDTH - LEFT - RIGHT, 1, GRID)
        canvas.text(LEFT - 10, y - 7, f"{10.0**power:.{max(0, -power)}f}", anchor=1.0)
    spacing = 10 ** math.floor(math.log10(len(losses)))
    spacing = spacing if len(losses) >= 4 * spacing else max(1, spacing // 4)
    for step in range(0, len(losses) + 1, spacing):
        x, y = position(step, 10.0**low)
        canvas.rectangle(x, y, 1, 6, INK)
        canvas.text(x, y + 12, str(step), anchor=0.5)
    canvas.text(WIDTH / 2, HEIGHT - 22, "Step", anchor=0.5)
    canvas.rectangle(LEFT, TOP, 1.5, HEIGHT - TOP - BOTTOM, INK)
    canvas.rectangle(LEFT, HEIGHT - BOTTOM, WIDTH - LEFT - RIGHT, 1.5, INK)

    canvas.polyline([position(*point) for point in plotted], 1.0, PALE)
    means = []
    for start in range(0, len(losses), steps_per_epoch):
        epoch = losses[start : start + steps_per_epoch]
        mean = sum(epoch) / len(epoch)
        if 0.0 < mean < math.inf:
            means.append(position(start + len(epoch) / 2, mean))
    canvas.polyline(means, 2.5, BLUE)
    canvas.save(path)
