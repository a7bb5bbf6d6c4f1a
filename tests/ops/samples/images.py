"""Ops of images: colors, other sizes, boxes, patches and projections."""

import colorsys
from typing import Any

import numpy as np

from ops.sample import COMPLEX, DTYPE, FLOATS, REAL, REAL_FLOATS, Sample, Wrong, float32, int32

COLORS = [[0.9, 0.2, 0.5], [0.1, 0.7, 0.3], [0.0, 0.25, 1.0], [0.5, 0.5, 0.5], [0.0, 0.0, 0.0]]
SMOOTH_COLORS = [[0.9, 0.2, 0.5], [0.1, 0.7, 0.3], [0.2, 0.25, 1.0], [0.3, 0.9, 0.1]]
HALVES = ("float16", "float32")
RESIZED = ("uint8", "int8", "uint16", "int16", "int32", "int64", *FLOATS)
CROPPED = ("uint8", "int8", "uint16", "int16", "int32", "int64", "float16", *REAL_FLOATS)
ALIGNED, CENTERED = {"align_corners": True}, {"half_pixel_centers": True}
KINDS = ("NEAREST", "BILINEAR")
draw = np.random.default_rng(5)
IMAGES = draw.integers(0, 90, (2, 4, 5, 3)).tolist()
REAL_IMAGES = draw.normal(size=(1, 3, 4, 2)).tolist()
GRADS = draw.normal(size=(2, 6, 3, 3)).astype(np.float32)
# Large enough to be cut, with more channels than are summed at once.
LARGE = draw.normal(size=(2, 40, 30, 19)).astype(np.float32)
SIZE, LARGE_SIZE = int32([6, 3]), int32([50, 23])
BOXES = float32([[0, 0, 1, 1], [0.9, 0.2, 0.1, 0.7], [-0.5, 0.25, 0.6, 1.5], [0.2, 0.2, 0.2, 0.2]])
OF_IMAGES = int32([0, 1, 1, 0])
SEPARATE_BOXES = float32(
    [[[row / 14, column / 20, (row + 3) / 14, (column + 3) / 20]
      for row in (0, 5, 10) for column in (0, 5, 10, 15)]]
)  # fmt: skip
TURNS = float32([[0.9, -0.4, 1.2, 0.4, 0.9, -0.7, 0.01, 0.02], [1, 0, -2.5, 0, 1.5, 3, 0, 0]])


def _of_pixels(convert: Any) -> Any:
    return lambda images: np.apply_along_axis(lambda pixel: convert(*pixel), -1, images)


def _adjust_contrast(images: Any, factor: Any) -> Any:
    mean = images.mean(axis=(-3, -2), keepdims=True)
    return (images - mean) * factor + mean


def _adjust_hue(images: Any, delta: Any) -> Any:
    def moved(*pixel: Any) -> Any:
        hue, saturation, value = colorsys.rgb_to_hsv(*pixel)
        return colorsys.hsv_to_rgb((hue + float(delta)) % 1, saturation, value)

    return _of_pixels(moved)(images)


def _adjust_saturation(images: Any, scale: Any) -> Any:
    def scaled(*pixel: Any) -> Any:
        hue, saturation, value = colorsys.rgb_to_hsv(*pixel)
        return colorsys.hsv_to_rgb(hue, min(saturation * float(scale), 1), value)

    return _of_pixels(scaled)(images)


def _resized(op: str, *attributes: dict[str, Any]) -> list[Sample]:
    return [
        Sample(op, (IMAGES, SIZE), None, RESIZED, tolerance=1e-6),
        *(Sample(op, (IMAGES, SIZE), attrs=attrs, tolerance=1e-6) for attrs in attributes),
        Sample(op, (LARGE, LARGE_SIZE), attrs=attributes[-1], tolerance=2e-6),
    ]


def _moved(curve: str, **attrs: Any) -> Sample:
    moves = (float32([1.7, 0.6]), float32([-0.4, 0.9]))
    return Sample(
        "ScaleAndTranslate",
        (IMAGES, SIZE, *moves),
        attrs={"kernel_type": curve, **attrs},
        tolerance=1e-6,
    )


def _projected(interpolation: str, mode: str, *dtypes: str) -> Sample:
    return Sample(
        "ImageProjectiveTransformV3",
        (IMAGES, TURNS, int32([7, 9]), np.float32(5)),
        dtypes=dtypes or ("float32",),
        attrs={"interpolation": interpolation, "fill_mode": mode},
        tolerance=1e-6,
    )


def _patches(size: list[int], stride: list[int], rate: list[int], padding: str) -> Any:
    names = ("ksizes", "strides", "rates")
    lists = {name: [1, *pair, 1] for name, pair in zip(names, (size, stride, rate), strict=True)}
    return {**lists, "padding": padding}


SAMPLES = [
    Sample(
        "RGBToHSV",
        (COLORS,),
        _of_pixels(colorsys.rgb_to_hsv),
        FLOATS,
        ulp=4,
        smooth_at=(SMOOTH_COLORS,),
    ),
    Sample("HSVToRGB", (COLORS,), _of_pixels(colorsys.hsv_to_rgb), FLOATS, ulp=4),
    Sample(
        "AdjustContrastv2", ([COLORS], np.float32(1.5)), _adjust_contrast, HALVES, tolerance=1e-3
    ),
    Sample("AdjustContrastv2", ([COLORS], np.float32(0.5)), _adjust_contrast, tolerance=1e-6),
    Sample("AdjustHue", ([COLORS], np.float32(0.4)), _adjust_hue, HALVES, tolerance=1e-3),
    Sample("AdjustHue", ([COLORS], np.float32(-1.7)), _adjust_hue, tolerance=1e-6),
    Sample("AdjustSaturation", ([COLORS], np.float32(1.4)), _adjust_saturation, HALVES, ulp=8),
    *_resized("ResizeBilinear", ALIGNED, CENTERED),
    *_resized("ResizeBicubic", ALIGNED, CENTERED),
    *_resized("ResizeArea", ALIGNED),
    Sample("ResizeArea", ([[[[2.0]]]], SIZE), attrs=ALIGNED, tolerance=1e-6),
    Sample("ResizeNearestNeighbor", (IMAGES, SIZE), None, RESIZED),
    Sample(
        "ResizeNearestNeighbor",
        (IMAGES, SIZE),
        dtypes=("float64",),
        attrs=ALIGNED,
        smooth_at=(REAL_IMAGES, SIZE),
    ),
    Sample("ResizeNearestNeighbor", (LARGE, LARGE_SIZE), attrs=CENTERED),
    *(
        Sample(f"Resize{kind}Grad", (GRADS, IMAGES), dtypes=dtypes, attrs=attrs, tolerance=1e-6)
        for kind, dtypes in (("Bilinear", ("float32", "float64")), ("Bicubic", REAL_FLOATS))
        for attrs in ({}, ALIGNED, CENTERED)
    ),
    Sample(
        "ResizeNearestNeighborGrad",
        (IMAGES, SIZE),
        dtypes=("float32", "float16", "uint8", "int8", "int32"),
        attrs=CENTERED,
        tolerance=1e-6,
        smooth_at=(REAL_IMAGES, SIZE),
    ),
    Sample(
        "ResizeNearestNeighborGrad",
        (IMAGES, SIZE),
        dtypes=("float64", "bfloat16"),
        tolerance=2e-2,
    ),
    # TensorFlow adds up short floats as such.
    Sample("ResizeBilinearGrad", (GRADS, IMAGES), dtypes=("float16", "bfloat16"), tolerance=2e-2),
    Sample("ResizeNearestNeighborGrad", (LARGE, int32([7, 9])), attrs=ALIGNED, tolerance=1e-5),
    *(_moved(curve) for curve in ("lanczos1", "lanczos5", "gaussian", "box", "mitchellcubic")),
    *(_moved(curve, antialias=False) for curve in ("lanczos3", "triangle", "keyscubic")),
    Sample(
        "ScaleAndTranslate",
        (IMAGES, SIZE, float32([0.5, 2]), float32([0, 0])),
        dtypes=RESIZED,
        tolerance=1e-6,
    ),
    Sample(
        "ScaleAndTranslateGrad",
        (GRADS, np.array(IMAGES, np.float32), float32([1.7, 0.6]), float32([-0.4, 0.9])),
        attrs={"kernel_type": "triangle"},
        tolerance=1e-6,
    ),
    Sample(
        "CropAndResize",
        (IMAGES, BOXES, OF_IMAGES, int32([3, 4])),
        dtypes=CROPPED,
        attrs={"extrapolation_value": -3.5},
        tolerance=1e-6,
    ),
    Sample("CropAndResize", (IMAGES, BOXES, OF_IMAGES, int32([1, 1])), tolerance=1e-6),
    Sample(
        "CropAndResize",
        (IMAGES, BOXES, OF_IMAGES, SIZE),
        attrs={"method": "nearest"},
    ),
    *(
        Sample(
            "CropAndResizeGradImage",
            (float32(draw.normal(size=(4, *crop, 3))), BOXES, OF_IMAGES, int32([2, 4, 5, 3])),
            dtypes=REAL_FLOATS,
            attrs={"T": DTYPE, "method": method},
            tolerance=1e-6,
        )
        for method, crop in (("bilinear", (3, 4)), ("nearest", (3, 4)), ("bilinear", (1, 2)))
    ),
    Sample(
        "CropAndResizeGradImage",
        (float32(draw.normal(size=(4, 3, 4, 3))), BOXES, OF_IMAGES, int32([2, 4, 5, 3])),
        dtypes=("float16",),
        attrs={"T": DTYPE},
        tolerance=1e-2,
    ),
    *(
        Sample(
            "CropAndResizeGradBoxes",
            (float32(draw.normal(size=(4, *crop, 3))), IMAGES, BOXES, OF_IMAGES),
            dtypes=CROPPED,
            tolerance=2e-6,
        )
        for crop in ((3, 4), (1, 1))
    ),
    Sample(
        "ExtractImagePatches",
        (IMAGES,),
        dtypes=(*REAL, *COMPLEX),
        attrs=_patches([2, 3], [1, 2], [1, 1], "SAME"),
        smooth_at=(REAL_IMAGES,),
    ),
    Sample(
        "ExtractImagePatches",
        (IMAGES,),
        attrs=_patches([2, 2], [1, 1], [2, 3], "VALID"),
        smooth_at=(REAL_IMAGES,),
    ),
    Sample("ExtractImagePatches", (LARGE,), attrs=_patches([3, 3], [2, 2], [1, 2], "SAME")),
    _projected("NEAREST", "CONSTANT", "float32", "uint8", "int32", "int64", *FLOATS),
    _projected("BILINEAR", "CONSTANT", "float32", "uint8", "float64"),
    *(_projected(kind, mode) for kind in KINDS for mode in ("NEAREST", "REFLECT", "WRAP")),
    # The last row and column are of places that lie on the edge, which is outside.
    Sample(
        "ImageProjectiveTransformV3",
        (IMAGES, float32([[1, 0, 1, 0, 1, 1, 0, 0]]), int32([4, 5]), np.float32(5)),
        attrs={"interpolation": "NEAREST", "fill_mode": "CONSTANT"},
    ),
    Sample(
        "ImageProjectiveTransformV2",
        (IMAGES, TURNS[:1], int32([4, 5])),
        dtypes=("float32", "uint8", "int32", "int64", *FLOATS),
        attrs={"interpolation": "BILINEAR"},
        tolerance=1e-6,
    ),
    Sample(
        "NonMaxSuppressionV3",
        (
            [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [1, 11.1, 0, 10.1]],
            [0.9, 0.75, 0.6, 0.95, 0.5],
            np.array(3, np.int32),
            np.float32(0.5),
            np.float32(0.55),
        ),
        lambda *_: np.array([3, 0]),
        HALVES,
    ),
    Sample(
        "DrawBoundingBoxesV2",
        (IMAGES, BOXES.reshape(2, 2, 4), float32([[1, 2, 3], [4, 5, 6]])),
        dtypes=HALVES,
    ),
    Sample(
        "DrawBoundingBoxesV2",
        (
            np.array(IMAGES, np.float32)[..., :1],
            BOXES.reshape(2, 2, 4),
            np.zeros((0, 4), np.float32),
        ),
    ),
    # All of the colors that there are without any, and the first ones again.
    Sample(
        "DrawBoundingBoxesV2",
        (np.full((1, 14, 20, 4), 0.25, np.float32), SEPARATE_BOXES, np.zeros((0, 4), np.float32)),
    ),
]

ONE = [[[[1.0]]]]
WRONG = [
    Wrong(
        "RGBToHSV",
        ([[1.0, 2.0]],),
        "input must have 3 channels but instead has 2",
        "FailedPreconditionError",
    ),
    Wrong("RGBToHSV", (1.0,), "input must be at least 1-D"),
    Wrong("AdjustContrastv2", ([[1.0]], np.float32(1)), "input must be at least 3-D"),
    Wrong("AdjustHue", ([[[1.0, 1.0, 1.0]]], [1.0]), "delta must be scalar"),
    Wrong("ResizeBilinear", ([[1.0]], SIZE), "input must be 4-dimensional"),
    Wrong("ResizeBilinear", (ONE, int32([0, 1])), "output dimensions must be positive"),
    Wrong("ResizeBilinear", (ONE, int32([1, 1, 1])), "shape_t must have two elements"),
    Wrong("ResizeBicubic", ([[[]]], SIZE), "input must be 4-dimensional"),
    Wrong("ResizeArea", (np.zeros((1, 0, 1, 1)), SIZE), "input image must be of non-zero size"),
    Wrong(
        "ResizeNearestNeighbor",
        (ONE, SIZE),
        "If half_pixel_centers is True, align_corners must be False.",
        attrs={**ALIGNED, **CENTERED},
    ),
    Wrong(
        "ScaleAndTranslate",
        (ONE, SIZE, float32([1, 1]), float32([0, 0])),
        "Unrecognized kernel type: other",
        attrs={"kernel_type": "other"},
    ),
    Wrong(
        "ScaleAndTranslate",
        (ONE, SIZE, float32([1, 0]), float32([0, 0])),
        "Scale must be greater than zero.",
    ),
    Wrong(
        "CropAndResize",
        (ONE, BOXES, int32([0, 0, 1, 0]), SIZE),
        "box_index has values outside [0, batch_size)",
        "OutOfRangeError",
    ),
    Wrong("CropAndResize", (ONE, BOXES[:, :3], OF_IMAGES, SIZE), "boxes must have 4 columns"),
    Wrong("CropAndResize", (ONE, BOXES, int32([0]), SIZE), "box_index has incompatible shape"),
    Wrong("CropAndResize", (ONE, BOXES, int32([0] * 4), -SIZE), "crop dimensions must be positive"),
    Wrong(
        "ExtractImagePatches",
        (ONE,),
        "Only support strides across space.",
        "UnimplementedError",
        attrs={**_patches([1, 1], [1, 1], [1, 1], "SAME"), "strides": [1, 1, 1, 2]},
    ),
    Wrong(
        "ImageProjectiveTransformV3",
        (ONE, TURNS, SIZE, np.float32(0)),
        "Input transform should be num_images x 8 or 1 x 8",
        attrs={"interpolation": "NEAREST"},
    ),
    Wrong(
        "NonMaxSuppressionV3",
        (BOXES, [1.0] * 4, np.array(1, np.int32), np.float32(1.5), np.float32(0)),
        "iou_threshold must be in [0, 1]",
    ),
    Wrong(
        "NonMaxSuppressionV3",
        (BOXES, [1.0], np.array(1, np.int32), np.float32(0.5), np.float32(0)),
        "scores has incompatible shape",
    ),
    Wrong(
        "DrawBoundingBoxesV2",
        (ONE, [[[0.0, 0.0, 1.0]]], [[1.0]]),
        "The size of boxes must be [batch, boxes, 4]",
    ),
]
