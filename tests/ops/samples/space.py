"""Pixels moved to other axes: blocks as channels, or as images of the batch."""

from typing import Any

import numpy as np

from ops.sample import PLAIN, REAL, Sample, Wrong, int32, int64

IMAGE = np.arange(2.0 * 4 * 6 * 4).reshape(2, 4, 6, 4).tolist()
SMALL = np.arange(16.0).reshape(1, 2, 2, 4).tolist()
BATCH = np.arange(12.0 * 2 * 3).reshape(12, 2, 3).tolist()
BLOCK, NO_MARGINS = int32([2, 3]), int32([[0, 0], [0, 0]])
WORDS = np.array([f"word {i}".encode() for i in range(16)], object).reshape(1, 2, 2, 4)


def _to_depth(x: Any, block_size: int, **_: Any) -> Any:
    n, height, width, c = x.shape
    b = block_size
    blocks = x.reshape(n, height // b, b, width // b, b, c).transpose(0, 1, 3, 2, 4, 5)
    return blocks.reshape(n, height // b, width // b, b * b * c)


def _to_space(x: Any, block_size: int, **_: Any) -> Any:
    n, height, width, c = x.shape
    b = block_size
    pixels = x.reshape(n, height, width, b, b, c // b // b).transpose(0, 1, 3, 2, 4, 5)
    return pixels.reshape(n, height * b, width * b, c // b // b)


def _second(reference: Any) -> Any:
    """A reference for NHWC as one for NCHW."""
    return lambda x, **attrs: np.moveaxis(reference(np.moveaxis(x, 1, 3), **attrs), 3, 1)


TWO: Any = {"block_size": 2}

SAMPLES = [
    Sample("SpaceToDepth", (IMAGE,), _to_depth, PLAIN, attrs=TWO, smooth_at=(SMALL,)),
    Sample("DepthToSpace", (IMAGE,), _to_space, PLAIN, attrs=TWO, smooth_at=(SMALL,)),
    Sample("SpaceToDepth", (WORDS,), _to_depth, ("string",), attrs=TWO),
    Sample("DepthToSpace", (WORDS,), _to_space, ("string",), attrs=TWO),
    Sample(
        "SpaceToDepth",
        (np.arange(48.0).reshape(1, 2, 4, 6).tolist(),),
        _second(_to_depth),
        attrs={**TWO, "data_format": "NCHW"},
        beside_tensorflow="NHWC only",
    ),
    Sample(
        "DepthToSpace",
        (np.arange(48.0).reshape(1, 8, 2, 3).tolist(),),
        _second(_to_space),
        attrs={**TWO, "data_format": "NCHW"},
        beside_tensorflow="NHWC only",
    ),
    Sample(
        "SpaceToBatchND",
        (IMAGE, BLOCK, NO_MARGINS),
        None,
        REAL,
        smooth_at=(SMALL, int32([2, 1]), int32([[0, 0], [0, 1]])),
    ),
    Sample("SpaceToBatchND", (IMAGE, BLOCK, int64([[3, 1], [1, 2]]))),
    Sample("SpaceToBatchND", (IMAGE, int32([3]), int32([[0, 2]]))),
    Sample(
        "BatchToSpaceND",
        (BATCH, BLOCK, NO_MARGINS),
        None,
        REAL,
        smooth_at=(SMALL * 2, int32([2, 1]), int32([[1, 0], [0, 1]])),
    ),
    Sample("BatchToSpaceND", (BATCH, BLOCK, int64([[1, 0], [2, 3]]))),
]

WRONG = [
    Wrong("SpaceToDepth", (np.ones((1, 3, 2, 1)),), "should be divisible by", attrs=TWO),
    Wrong("DepthToSpace", (np.ones((1, 3, 2, 3)),), "Input depth dimension 3", attrs=TWO),
    Wrong("DepthToSpace", (np.ones((3, 2, 4)),), "rank should be", attrs=TWO),
    Wrong(
        "SpaceToBatchND",
        (np.ones((1, 3, 2), np.float32), int32([2]), int32([[0, 0]])),
        "is not divisible by block_shape[0]=2",
    ),
    Wrong(
        "SpaceToBatchND",
        (np.ones((1, 4, 2), np.float32), int32([0]), int32([[0, 0]])),
        "must be positive",
    ),
    Wrong(
        "BatchToSpaceND",
        (np.ones((3, 4, 2), np.float32), int32([2]), int32([[0, 0]])),
        "is not divisible by product of block sizes (2)",
    ),
]
