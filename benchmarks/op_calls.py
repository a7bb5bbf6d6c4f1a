"""Which calls of ops are timed, found by looking at the public functions of a module.

A function is called if each of its required parameters has a meaning that its name tells, for
TensorFlow names them by convention (`x`, `axis`, `paddings`, ...). What a name alone does not tell
stands in _MEANINGS_IN for the few functions concerned.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MODULES = ("", "math", "nn", "bitwise", "random")
DTYPES = ("float32", "float64", "int32")
SIZES = (16, 1 << 20)

# Functions that compute nothing, or that are not about tensors of numbers.
_SKIPPED = frozenset(
    {"convert_to_tensor", "get_static_value", "is_tensor", "is_symbolic_tensor", "constant"}
    | {"function", "recompute_grad", "no_gradient", "as_string"}
    # Decompositions of a matrix of 1 Mi elements take seconds.
    | {"eig", "eigvals", "matrix_square_root", "norm"}
)


@dataclass(frozen=True)
class OpCall:
    """A function by its public names, and what its arguments mean, by their names."""

    names: list[str]
    meanings: dict[str, str]


class _Arguments:
    """Makes the values that meanings stand for: about `elements` numbers of one dtype."""

    def __init__(self, tf: Any, elements: int, dtype: str) -> None:
        self._tf, self._elements, self._dtype = tf, elements, dtype
        self._side = int(elements**0.5)
        self._random = np.random.default_rng(elements)

    def make(self, meaning: str) -> Any:
        return getattr(self, meaning)()

    def _numbers(self, *shape: int) -> Any:
        """Away from 0 and 1, so that logarithms, quotients and arcsines stay finite."""
        values: NDArray[Any]
        if self._dtype.startswith("int"):
            values = self._random.integers(1, 8, shape)
        else:
            values = self._random.uniform(0.1, 0.9, shape)
        return self._tf.constant(values.astype(self._dtype))

    def matrix(self) -> Any:
        return self._numbers(self._side, self._side)

    def vector(self) -> Any:
        return self._numbers(self._side)

    def scalar(self) -> Any:
        return self._numbers()

    def matrices(self) -> Any:
        return [self.matrix(), self.matrix()]

    def images(self) -> Any:
        side = max(1, int((self._elements / 16) ** 0.5))
        return self._numbers(1, side, side, 16)

    def filters(self) -> Any:
        return self._numbers(3, 3, 16, 16)

    def flags(self) -> Any:
        return self._tf.constant(self._random.random((self._side, self._side)) < 0.5)

    def rows(self) -> Any:
        return self._tf.constant(self._random.permutation(self._side).astype(np.int32))

    def points(self) -> Any:
        rows = self._random.permutation(self._side).astype(np.int32)
        return self._tf.constant(rows[:, np.newaxis])

    def low(self) -> Any:
        return self._tf.constant(np.asarray(2 if self._dtype == "int32" else 0.3, self._dtype))

    def high(self) -> Any:
        return self._tf.constant(np.asarray(6 if self._dtype == "int32" else 0.7, self._dtype))

    def axis(self) -> int:
        return 0

    def axes(self) -> list[int]:
        return [0]

    def both_axes(self) -> list[int]:
        return [1, 0]

    def shape(self) -> list[int]:
        return [self._side, self._side]

    def flat_shape(self) -> list[int]:
        return [self._elements]

    def side(self) -> int:
        return self._side

    def elements(self) -> int:
        return self._elements

    def two(self) -> int:
        return 2

    def one(self) -> int:
        return 1

    def twice(self) -> list[int]:
        return [1, 2]

    def borders(self) -> list[list[int]]:
        return [[1, 1], [1, 1]]

    def origin(self) -> list[int]:
        return [0, 0]

    def half(self) -> list[int]:
        return [self._side // 2, self._side]

    def seed(self) -> list[int]:
        return [1, 2]

    def same(self) -> str:
        return "SAME"

    def other_dtype(self) -> Any:
        return self._tf.float32 if self._dtype != "float32" else self._tf.int32

    def small(self) -> float:
        return 1e-3


_MEANINGS: Mapping[str, str] = {
    **dict.fromkeys(("x", "y", "a", "b", "input", "input_", "inputs_", "input_tensor"), "matrix"),
    **dict.fromkeys(("tensor", "value", "features", "logits", "labels", "targets"), "matrix"),
    **dict.fromkeys(("t", "params", "on_value", "predictions", "tensor1", "tensor2"), "matrix"),
    **dict.fromkeys(("values", "inputs"), "matrices"),
    **dict.fromkeys(("condition", "mask"), "flags"),
    **dict.fromkeys(("shape", "dims"), "shape"),
    **dict.fromkeys(("depth", "num_rows"), "side"),
    "start": "elements",
    "axis": "axis",
    "axes": "axes",
    "indices": "rows",
    "multiples": "twice",
    "paddings": "borders",
    "begin": "origin",
    "size": "half",
    "num_or_size_splits": "two",
    "clip_value_min": "low",
    "clip_value_max": "high",
    "dtype": "other_dtype",
    "seed": "seed",
    "repeats": "two",
    "k": "two",
    "shift": "one",
}

_POOLING = {"input": "images", "ksize": "two", "strides": "two", "padding": "same"}
_MEANINGS_IN: Mapping[str, Mapping[str, str]] = {
    "bitcast": {"type": "other_dtype"},
    "concat": {"axis": "axis"},
    "fill": {"value": "scalar"},
    "gather_nd": {"indices": "points"},
    "nn.avg_pool2d": _POOLING,
    "nn.batch_normalization": {
        "mean": "vector",
        "variance": "vector",
        "offset": "vector",
        "scale": "vector",
        "variance_epsilon": "small",
    },
    "nn.bias_add": {"bias": "vector"},
    "nn.conv2d": {"input": "images", "filters": "filters", "strides": "one", "padding": "same"},
    "nn.max_pool2d": _POOLING,
    "nn.sparse_softmax_cross_entropy_with_logits": {"labels": "rows"},
    "reshape": {"shape": "flat_shape"},
    "reverse": {"axis": "axes"},
    "roll": {"axis": "axis"},
    "scatter_nd": {"indices": "points", "updates": "matrix"},
    "tensor_scatter_nd_add": {"indices": "points", "updates": "matrix"},
    "tensor_scatter_nd_max": {"indices": "points", "updates": "matrix"},
    "tensor_scatter_nd_min": {"indices": "points", "updates": "matrix"},
    "tensor_scatter_nd_sub": {"indices": "points", "updates": "matrix"},
    "tensor_scatter_nd_update": {"indices": "points", "updates": "matrix"},
    "tensordot": {"axes": "one"},
    # Optional in the signature, and without them it is another function.
    "where": {"x": "matrix", "y": "matrix"},
    "transpose": {"perm": "both_axes"},
}


def resolve(tf: Any, name: str) -> Any:
    """What stands under that dotted name, or None."""
    found: Any = tf
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def op_calls(tf: Any) -> tuple[list[OpCall], list[str]]:
    """The calls to time, and the names of the functions whose arguments have no known meaning.

    A function that stands in several modules is one call with several names.
    """
    calls: list[OpCall] = []
    unknown: list[str] = []
    seen: dict[int, list[str]] = {}
    for module_name in MODULES:
        module = resolve(tf, module_name) if module_name else tf
        for attribute in sorted(vars(module)):
            function = getattr(module, attribute)
            name = f"{module_name}.{attribute}" if module_name else attribute
            if (
                attribute.startswith("_")
                or attribute in _SKIPPED
                or isinstance(function, type)
                or not callable(function)
            ):
                continue
            if id(function) in seen:
                seen[id(function)].append(name)
                continue
            names = seen[id(function)] = [name]
            meanings = _meanings_of(name, function)
            if meanings is None:
                unknown.append(name)
            elif meanings:
                calls.append(OpCall(names, meanings))
    return calls, unknown


def _meanings_of(name: str, function: Callable[..., Any]) -> dict[str, str] | None:
    """Meanings of the arguments to pass; empty if none is required, None if one has no meaning."""
    own = _MEANINGS_IN.get(name, {})
    meanings = dict(own)
    for parameter in inspect.signature(function).parameters.values():
        required = parameter.default is inspect.Parameter.empty
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or not required:
            continue
        meaning = own.get(parameter.name, _MEANINGS.get(parameter.name))
        if meaning is None:
            return None
        meanings[parameter.name] = meaning
    return meanings


def make_arguments(tf: Any, call: OpCall, elements: int, dtype: str) -> dict[str, Any]:
    """The values of a call's arguments by name."""
    arguments = _Arguments(tf, elements, dtype)
    return {name: arguments.make(meaning) for name, meaning in call.meanings.items()}
