"""The rows of tests/functions/rows, and how one is evaluated in a system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "rows"
ROWS = [
    line
    for file in sorted(FOLDER.glob("*.txt"))
    for line in file.read_text().splitlines()
    if line and not line.startswith("#")
]
# The shapes of x and i while a function is traced.
SHAPES: dict[str, tuple[Any, Any]] = {
    "known": ([2, 3], [2]),
    "unknown": ([None, None], [None]),
    "unknown rank": (None, [None]),
}


def plain(tf: Any, result: Any) -> Any:
    """The result with tensors as arrays."""
    if isinstance(result, (list, tuple)):
        return [plain(tf, part) for part in result]
    return result.numpy() if tf.is_tensor(result) else repr(result)


def value(tf: Any, row: str, x: Any, i: Any) -> Any:
    """What a row gives for these tensors."""
    s = tf.IndexedSlices(x[:1], tf.constant([1]), tf.constant([2, 3]))
    z = tf.zeros_like(x)
    return eval(row, {"tf": tf, "np": np, "x": x, "i": i, "s": s, "z": z})


def known_shapes(tf: Any, row: str, shapes: tuple[Any, Any]) -> list[list[int | None] | None]:
    """What is known of the shape of each tensor of a result while it is traced.

    Args:
      tf: The system, graven or tensorflow.
      row: The call.
      shapes: Those of x and i.
    """
    known: list[list[int | None] | None] = []

    def evaluate(x: Any, i: Any) -> Any:
        parts = tf.nest.flatten(value(tf, row, x, i))
        of_tensors = [part.shape for part in parts if tf.is_tensor(part)]
        known[:] = [None if shape.rank is None else shape.as_list() for shape in of_tensors]
        return x

    specs = [tf.TensorSpec(shapes[0]), tf.TensorSpec(shapes[1], tf.int32)]
    tf.function(evaluate, autograph=False, input_signature=specs).get_concrete_function()
    return known


def outcome(tf: Any, row: str, shapes: tuple[Any, Any] | None = None) -> Any:
    """What a row gives: its result and gradient as arrays, or the name of an error's class.

    Args:
      tf: The system, graven or tensorflow.
      row: The call.
      shapes: Those of x and i in a traced call; None evaluates it at once.
    """

    def evaluate(x: Any, i: Any) -> Any:
        return value(tf, row, x, i)

    if shapes is not None:
        evaluate = tf.function(
            evaluate,
            autograph=False,
            input_signature=[tf.TensorSpec(shapes[0]), tf.TensorSpec(shapes[1], tf.int32)],
        )
    x = tf.constant([[1.0, -2.0, 3.0], [0.5, 0.25, -4.0]])
    tf.random.set_seed(5)
    try:
        with tf.GradientTape() as tape:
            tape.watch(x)
            result = evaluate(x, tf.constant([1, 2]))
        floats = [
            part
            for part in tf.nest.flatten(result)
            if tf.is_tensor(part) and part.dtype.is_floating
        ]
        dx = tape.gradient(floats, x) if floats else None
        if dx is not None:
            dx = tf.convert_to_tensor(dx)
    except Exception as error:
        return type(error).__name__
    return plain(tf, [result, dx])
