"""examples/mandelbrot.cc draws what the same iteration in NumPy draws."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / os.environ.get("GRAVEN_PRESET", "release") / "bin" / "mandelbrot"


def gray_values(width: int, height: int, limit: int) -> np.ndarray:
    """The picture, row by row, in float32 like the program's."""
    step = np.float32(3) / np.float32(width)
    half = np.float32(0.5)
    columns = np.float32(-2.25) + step * (np.arange(width, dtype=np.float32) + half)
    rows = step * ((np.arange(height) - height // 2).astype(np.float32) + half)
    re, im = np.broadcast_arrays(columns[None, :], rows[:, None])
    x, y = np.zeros_like(re), np.zeros_like(im)
    times = np.zeros((height, width), np.int64)
    inside = np.ones((height, width), bool)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(limit):
            x2, y2 = x * x, y * y
            inside = inside & (x2 + y2 <= 4)
            times += inside
            y = 2 * x * y + im
            x = x2 - y2 + re
    return np.where(times == limit, 0, 255 - times * 255 // limit).astype(np.uint8)


@pytest.mark.parametrize(("width", "height", "limit"), [(120, 80, 50), (7, 1, 3)])
def test_the_picture_is_that_of_numpy(tmp_path: Path, width: int, height: int, limit: int) -> None:
    file = tmp_path / "set.pgm"
    command = [str(PROGRAM), str(file), str(width), str(height), str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    header = f"P5\n{width} {height}\n255\n".encode()
    written = file.read_bytes()
    assert written.startswith(header)
    pixels = np.frombuffer(written[len(header) :], np.uint8).reshape(height, width)
    np.testing.assert_array_equal(pixels, gray_values(width, height, limit))


def test_a_wrong_size_is_refused() -> None:
    done = subprocess.run([str(PROGRAM), "x.pgm", "0"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "from 1 to 10000" in done.stderr
