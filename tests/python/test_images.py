"""What the tables of ops and functions cannot say of images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graven as tf
import numpy as np
import pytest

METHODS = ("bilinear", "nearest", "bicubic", "lanczos3", "mitchellcubic")
draw = np.random.default_rng(1)


def gradient_of(f: Callable[[Any], Any], x: Any, dy: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x, output_gradients=dy)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [(7, 4), (3, 9), (40, 31)])
def test_the_gradient_of_resized_images_is_the_transposed_resizing(
    method: str, size: tuple[int, int]
) -> None:
    x = tf.constant(draw.normal(size=(2, 6, 5, 3)), tf.float32)
    dy = tf.constant(draw.normal(size=(2, *size, 3)), tf.float32)
    dx = gradient_of(lambda x: tf.image.resize(x, size, method, antialias=True), x, dy)
    forwards = tf.reduce_sum(tf.image.resize(x, size, method, antialias=True) * dy)
    backwards = tf.reduce_sum(x * dx)
    np.testing.assert_allclose(forwards, backwards, rtol=1e-4)


@pytest.mark.parametrize("method", ["nearest", "bicubic", "lanczos3"])
def test_the_gradient_of_that_gradient_is_the_resizing(method: str) -> None:
    x = tf.constant(draw.normal(size=(1, 6, 5, 2)), tf.float32)
    direction = tf.constant(draw.normal(size=(1, 6, 5, 2)), tf.float32)

    def resize(x: Any) -> Any:
        return tf.image.resize(x, [4, 8], method)

    dy = tf.ones([1, 4, 8, 2])
    found = gradient_of(lambda dy: gradient_of(resize, x, dy), dy, direction)
    np.testing.assert_allclose(found, resize(direction), rtol=1e-5, atol=1e-6)


def test_a_turn_of_any_number_of_quarters_is_made_of_single_ones() -> None:
    image = tf.constant(draw.normal(size=(2, 3, 1)))
    turn = tf.function(lambda k: tf.image.rot90(image, k), autograph=False)
    turned = image
    for quarters in range(5):
        np.testing.assert_array_equal(turn(tf.constant(quarters)), turned)
        turned = tf.image.rot90(turned)


def test_a_size_that_is_found_when_the_function_runs_is_refused_when_it_runs() -> None:
    crop = tf.function(
        lambda x, n: tf.image.crop_to_bounding_box(x, 0, 0, n, 1),
        autograph=False,
        input_signature=[tf.TensorSpec([None, None, 1]), tf.TensorSpec([], tf.int32)],
    )
    assert crop(tf.ones([3, 2, 1]), tf.constant(2)).shape == [2, 1, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="height must be >= target"):
        crop(tf.ones([3, 2, 1]), tf.constant(4))


def test_what_is_not_a_number_in_a_box_lies_outside() -> None:
    crops = tf.image.crop_and_resize(
        tf.ones([1, 2, 2, 1]), [[np.nan, 0, np.inf, 1]], [0], [2, 2], extrapolation_value=7.0
    )
    assert np.all(crops.numpy() == 7)


def test_images_that_are_smaller_than_a_window_or_unlike_are_refused() -> None:
    x = tf.ones([2, 3, 1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
        tf.image.ssim(x, x, 1.0)
    with pytest.raises(ValueError, match="Two images are not compatible"):
        tf.image.psnr(x, x[:1], 1.0)


def test_a_resize_method_that_there_is_not_is_refused() -> None:
    for method in (3, "other"):
        with pytest.raises(ValueError, match=f"Resize method is not implemented: {method}"):
            tf.image.resize(tf.ones([2, 3, 1]), [4, 2], method)


def sinc_window(radius: int) -> Callable[[Any], Any]:
    return lambda x: np.sinc(x) * np.sinc(x / radius) * (np.abs(x) < radius)


def keys(x: Any) -> Any:
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def mitchell(x: Any) -> Any:
    near = ((7 * x - 12) * x * x + 16 / 3) / 6
    far = (((-7 / 3 * x + 12) * x - 20) * x + 32 / 3) / 6
    return np.where(x < 1, near, np.where(x < 2, far, 0))


CURVES: dict[str, Callable[[Any], Any]] = {
    "bilinear": lambda x: np.maximum(0, 1 - np.abs(x)),
    "bicubic": lambda x: keys(np.abs(x)),
    "lanczos3": sinc_window(3),
    "lanczos5": sinc_window(5),
    "gaussian": lambda x: np.exp(-2 * x * x) * (np.abs(x) < 1.5),
    "mitchellcubic": lambda x: mitchell(np.abs(x)),
}


@pytest.mark.parametrize("method", CURVES)
@pytest.mark.parametrize("size", [5, 13])
def test_a_smooth_resizing_weights_pixels_by_the_curve_of_its_method(
    method: str, size: int
) -> None:
    x = draw.normal(size=(1, 11, 11, 1))
    scale = 11 / size
    # Distances of the pixels of one side from the centres of those of the result.
    centres = (np.arange(size)[:, None] + 0.5) * scale
    weights = CURVES[method]((np.arange(11) + 0.5 - centres) / max(scale, 1.0))
    weights /= weights.sum(1, keepdims=True)
    y = tf.image.resize(tf.constant(x, tf.float32), (size, size), method, antialias=True)
    expected = weights @ x[0, :, :, 0] @ weights.T
    np.testing.assert_allclose(y.numpy()[0, :, :, 0], expected, rtol=1e-4, atol=1e-5)
