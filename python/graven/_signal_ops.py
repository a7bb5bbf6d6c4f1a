"""Spectra of short stretches of a signal, weighted by the windows that Python functions make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graven import _engine
from graven import _functions as ops
from graven._functions import _half_of_length, _power_of_two, hann_window, vorbis_window
from graven._scopes import name_scope
from graven._types import DTypeLike, Name, Tensor, TensorLike

convert_to_tensor = _engine.convert_to_tensor

# Makes the weights of a window: window_fn(window_length, dtype=dtype).
WindowFunction = Callable[..., Any]

_SQRT_HALF = 0.5**0.5


def stft(
    signals: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike = None,
    window_fn: WindowFunction | None = hann_window,
    pad_end: bool = False,
    name: Name = None,
) -> Tensor:
    """The spectra of frames of a signal: its short-time Fourier transform.

    Args:
      signals: float32 or float64, shape [..., samples].
      frame_length: How long a frame is, an integer scalar.
      frame_step: How far it is from frame to frame.
      fft_length: The length of the transforms; None means the smallest power of 2 that is not below
        frame_length.
      window_fn: Makes the weights of a frame's samples of its length and `dtype`; None leaves these
        as they are.
      pad_end: Also take frames that reach beyond the end, where zeros are.
      name: A name for the scope while a function is traced.

    Returns:
      The first half of the spectrum of each frame, shape [..., frames, fft_length // 2 + 1].

    Raises:
      ValueError: A length is no scalar, or the signals are neither float32 nor float64.

    Source: tf.signal.stft.
    """
    with name_scope(name or "stft"):
        length = convert_to_tensor(frame_length)
        frames = ops.frame(convert_to_tensor(signals), length, frame_step, pad_end=pad_end)
        size = _power_of_two(length) if fft_length is None else fft_length
        return ops.rfft(_weighted(frames, window_fn, length), [size])


def _weighted(frames: Tensor, window_fn: WindowFunction | None, length: TensorLike) -> Tensor:
    if window_fn is None:
        return frames
    weighted: Tensor = frames * window_fn(length, dtype=frames.dtype)
    return weighted


def inverse_stft(
    stfts: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike = None,
    window_fn: WindowFunction | None = hann_window,
    name: Name = None,
) -> Tensor:
    """The signal that is made of the spectra of frames; see inverse_stft_window_fn.

    Args:
      stfts: complex64 or complex128, shape [..., frames, fft_length // 2 + 1].
      frame_length: How long a frame is, an integer scalar.
      frame_step: How far it is from frame to frame.
      fft_length: The length of the transforms; None means the smallest power of 2 that is not below
        frame_length.
      window_fn: Makes the weights of a frame's samples of its length and `dtype`; None leaves these
        as they are.
      name: A name for the scope while a function is traced.

    Returns:
      The sum of the frames, each a step behind the one before: shape [..., samples].

    Raises:
      ValueError: A length is no scalar, or the spectra are not complex.

    Source: tf.signal.inverse_stft.
    """
    with name_scope(name or "inverse_stft"):
        length = convert_to_tensor(frame_length)
        size = _power_of_two(length) if fft_length is None else fft_length
        samples = ops.irfft(convert_to_tensor(stfts), [size])
        # The first of frames side by side: cut off, or with zeros at the end.
        samples = ops.frame(samples, length, length, pad_end=True)[..., 0, :]
        return ops.overlap_and_add(_weighted(samples, window_fn, length), frame_step)


def inverse_stft_window_fn(
    frame_step: TensorLike,
    forward_window_fn: WindowFunction = hann_window,
    name: Name = None,
) -> WindowFunction:
    """Makes a window function with which inverse_stft undoes stft.

    Args:
      frame_step: How far it is from frame to frame.
      forward_window_fn: The window function of stft.
      name: A name for the scope while a function is traced.

    Returns:
      A function of the window's length and its dtype: the forward window, divided by the sum of the
      squares of all windows that overlap.

    Raises:
      ValueError: The step is no scalar.

    Source: tf.signal.inverse_stft_window_fn.
    """

    def window_fn(frame_length: TensorLike, dtype: DTypeLike) -> Tensor:
        with name_scope(name or "inverse_stft_window_fn"):
            length = convert_to_tensor(frame_length)
            window = forward_window_fn(length, dtype=dtype)
            steps = ops.frame(ops.square(window), frame_step, frame_step, pad_end=True)
            sums = ops.broadcast_to(ops.reduce_sum(steps, 0, keepdims=True), ops.shape(steps))
            sums = ops.reshape(sums, [-1])[:length]
            return ops.divide_no_nan(window, sums)

    return window_fn


def mdct(
    signals: TensorLike,
    frame_length: TensorLike,
    window_fn: WindowFunction | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """The modified discrete cosine transform of frames that overlap by half.

    Args:
      signals: float32 or float64, shape [..., samples].
      frame_length: How long a frame is: an integer scalar, a multiple of 4.
      window_fn: Makes the weights of a frame's samples of its length and `dtype`; None makes all
        sqrt(0.5).
      pad_end: Also take frames that reach beyond the end, where zeros are.
      norm: "ortho" for orthonormal transforms, or None.
      name: A name for the scope while a function is traced.

    Returns:
      The transforms, shape [..., frames, frame_length // 2].

    Raises:
      ValueError: The length is no multiple of 4.

    Source: tf.signal.mdct.
    """
    with name_scope(name or "mdct"):
        length = convert_to_tensor(frame_length)
        step = _half_of_length(length)
        frames = ops.frame(convert_to_tensor(signals), length, step, pad_end=pad_end)
        frames = _weighted(frames, window_fn or _even_window, length)
        a, b, c, d = ops.split(frames, 4, -1)
        folded = ops.concat([-ops.reverse(c, [-1]) - d, a - ops.reverse(b, [-1])], -1)
        return ops.dct(folded, type=4, norm=norm)


def _even_window(length: TensorLike, dtype: DTypeLike) -> Tensor:
    return ops.cast(_SQRT_HALF, dtype)


def inverse_mdct(
    mdcts: TensorLike,
    window_fn: WindowFunction | None = vorbis_window,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """The signal that is made of modified discrete cosine transforms.

    With the window and the norm of mdct it is the signal, but for the first and the last half of a
    frame.

    Args:
      mdcts: float32 or float64, shape [..., frames, frame_length // 2].
      window_fn: Makes the weights of a frame's samples of its length and `dtype`; None makes all
        sqrt(0.5).
      norm: "ortho" for orthonormal transforms, or None.
      name: A name for the scope while a function is traced.

    Returns:
      The sum of the frames, each half a frame behind the one before: shape [..., samples].

    Raises:
      ValueError: There is no such norm.

    Source: tf.signal.inverse_mdct.
    """
    with name_scope(name or "inverse_mdct"):
        mdcts = convert_to_tensor(mdcts)
        half = ops.shape(mdcts)[-1]
        folded = ops.dct(mdcts, type=4, norm=norm)
        if norm is None:
            folded = folded * (0.5 / ops.cast(half, mdcts.dtype))
        first, second = ops.split(folded, 2, -1)
        back = [second, -ops.reverse(second, [-1]), -ops.reverse(first, [-1]), -first]
        frames = _weighted(ops.concat(back, -1), window_fn or _even_window, 2 * half)
        return ops.overlap_and_add(frames, half)
