"""The values of the arguments of ops: about so many elements of one dtype.

A *meaning* is the name of a method of `Arguments`, such as "matrix"; `op_calls.py` says which
parameter of which op has which meaning. The same meanings in the same order give the same numbers
in every system.
"""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Dtypes of the same size, for Bitcast.
_SAME_SIZE = {"float32": "int32", "float64": "int64", "int32": "float32"}


@functools.lru_cache(maxsize=64)
def _drawn(kind: str, shape: tuple[int, ...], dtype: str, number: int) -> Array:
    """The array with that number among those that a call draws."""
    random = np.random.default_rng(number)
    if dtype == "bool":
        return random.random(shape) < 0.5
    if dtype == "string":
        return np.asarray(random.integers(0, 1000, shape).astype("S3"), object)
    if dtype.startswith("complex"):
        return (random.uniform(0.1, 0.9, shape) + 1j * random.uniform(0.1, 0.9, shape)).astype(
            dtype
        )
    if "int" in dtype or kind == "whole":
        return random.integers(1, 8, shape).astype(dtype)
    low, high = {"unit": (0.1, 0.9), "signed": (-4.0, 4.0), "large": (1.5, 4.0)}[kind]
    return random.uniform(low, high, shape).astype(dtype)


class Arguments:
    """Makes the values that meanings stand for, one after another.

    Attributes:
      kept: What must live as long as the values: the variables of handles.
    """

    def __init__(self, tf: Any, elements: int, dtype: str) -> None:
        self._tf, self._elements, self._dtype = tf, elements, dtype
        self._side = int(elements**0.5)
        self._image_side = max(1, int((elements / 16) ** 0.5))
        self._number = 0
        self._memory: dict[str, Any] = {}
        self.kept: list[Any] = []

    def make(self, meaning: str) -> Any:
        return getattr(self, meaning)()

    def _numbers(self, *shape: int, kind: str = "unit", dtype: str = "") -> Any:
        """Away from 0 and 1, so that logarithms, quotients and arcsines stay finite."""
        self._number += 1
        dtype = dtype or self._dtype
        return self._tf.constant(_drawn(kind, shape, dtype, self._number), dtype)

    def _once(self, name: str, make: Any) -> Any:
        """The same value for several arguments."""
        if name not in self._memory:
            self._memory[name] = make()
        return self._memory[name]

    def _integers(self, values: Any, dtype: str = "int32") -> Any:
        return self._tf.constant(np.asarray(values, dtype))

    # Tensors of numbers.

    def matrix(self) -> Any:
        return self._numbers(self._side, self._side)

    def signed_matrix(self) -> Any:
        return self._numbers(self._side, self._side, kind="signed")

    def large_matrix(self) -> Any:
        return self._numbers(self._side, self._side, kind="large")

    def whole_matrix(self) -> Any:
        return self._numbers(self._side, self._side, kind="whole")

    def float_matrix(self) -> Any:
        return self._numbers(self._side, self._side, dtype="float32")

    def definite_matrix(self) -> Any:
        numbers = _drawn("unit", (self._side, self._side), self._dtype, 1)
        return self._tf.constant(numbers + numbers.T + np.eye(self._side, dtype=self._dtype) * 4096)

    def float_row(self) -> Any:
        return self._numbers(self._side, dtype="float32")

    def float_zero(self) -> Any:
        return self._tf.constant(np.float32(0))

    def float_one(self) -> Any:
        return self._tf.constant(np.float32(1))

    def padded_matrix(self) -> Any:
        return self._numbers(1, self._side, self._side)

    def ones_matrix(self) -> Any:
        return self._tf.constant(np.ones((self._side, self._side), self._dtype))

    def batch_shape_numbers(self) -> tuple[int, ...]:
        size = 16 if self._elements >= 1 << 12 else 1
        side = int((self._elements / size) ** 0.5)
        return (size, side, side)

    def batch(self) -> Any:
        return self._numbers(*self.batch_shape_numbers())

    def row(self) -> Any:
        return self._numbers(self._side)

    def two_rows(self) -> Any:
        return self._numbers(2, self._side)

    def column(self) -> Any:
        return self._numbers(self._side, 1)

    def flat(self) -> Any:
        return self._numbers(self._elements)

    def vectors_of_three(self) -> Any:
        return self._numbers(self._elements // 3, 3)

    def scalar(self) -> Any:
        return self._numbers()

    def matrices(self) -> Any:
        return [self.matrix(), self.matrix()]

    def four_matrices(self) -> Any:
        return [self.matrix() for _ in range(4)]

    def half_matrices(self) -> Any:
        return [self._numbers(self._side // 2, self._side) for _ in range(2)]

    def image_shape_numbers(self) -> tuple[int, ...]:
        return (1, self._image_side, self._image_side, 16)

    def images(self) -> Any:
        return self._once("images", lambda: self._numbers(*self.image_shape_numbers()))

    def more_images(self) -> Any:
        return self._numbers(*self.image_shape_numbers())

    def pooled_images(self) -> Any:
        return self._once(
            "pooled",
            lambda: self._tf.raw_ops.MaxPool(**{**self._pooling(), "input": self.images()}),
        )

    def gradient_of_pooled_images(self) -> Any:
        return self._numbers(*self.pooled_images().shape)

    def _pooling(self) -> dict[str, Any]:
        return {"ksize": self.window(), "strides": self.window(), "padding": self.same()}

    def float_images(self) -> Any:
        return self._numbers(*self.image_shape_numbers(), dtype="float32")

    def pixels(self) -> Any:
        return self._numbers(max(self._elements // 3, 1), 3)

    def colored_images(self) -> Any:
        side = max(int((self._elements / 3) ** 0.5), 1)
        return self._numbers(1, side, side, 3)

    def resized_shape_tensor(self) -> Any:
        return self._integers([self._image_side + 1, self._image_side + 1])

    def factor(self) -> Any:
        return self._tf.constant(0.4)

    def factors(self) -> Any:
        return self._tf.constant([1.1, 1.1])

    def box(self) -> Any:
        return self._tf.constant([[0.1, 0.1, 0.9, 0.9]])

    def box_of_each_image(self) -> Any:
        return self._tf.constant([[[0.1, 0.1, 0.9, 0.9]]])

    def boxes(self) -> Any:
        return self._numbers(self._side, 4)

    def color(self) -> Any:
        return self._numbers(1, 16, dtype="float32")

    def projection(self) -> Any:
        return self._tf.constant([[0.9, -0.1, 1.2, 0.1, 0.9, -0.7, 0.0, 0.0]])

    def filters(self) -> Any:
        return self._numbers(3, 3, 16, 16)

    def signals(self) -> Any:
        return self._numbers(1, self._elements // 16, 16)

    def signal_filters(self) -> Any:
        return self._numbers(3, 16, 16)

    def depthwise_filters(self) -> Any:
        return self._numbers(3, 3, 16, 1)

    def volume_shape_numbers(self) -> tuple[int, ...]:
        side = max(1, int((self._elements / 16) ** (1 / 3)))
        return (1, side, side, side, 16)

    def volumes(self) -> Any:
        return self._once("volumes", lambda: self._numbers(*self.volume_shape_numbers()))

    def volume_filters(self) -> Any:
        return self._numbers(3, 3, 3, 16, 16)

    def pooled_volumes(self) -> Any:
        attrs = {"ksize": self.volume_window(), "strides": self.volume_window()}
        return self._once(
            "pooled volumes",
            lambda: self._tf.raw_ops.MaxPool3D(input=self.volumes(), padding=self.same(), **attrs),
        )

    def gradient_of_pooled_volumes(self) -> Any:
        return self._numbers(*self.pooled_volumes().shape)

    def places(self) -> Any:
        """Of the largest elements in the windows of images."""
        shape = self.pooled_images().shape
        return self._tf.constant(np.zeros(tuple(shape), np.int64))

    def even_images(self) -> Any:
        """Of which batch, height, width and channels can be cut into blocks."""
        side = 2 * max(1, int((self._elements / 64) ** 0.5))
        return self._numbers(4, side, side, 4)

    def channels(self) -> Any:
        return self._numbers(16)

    def nothing(self) -> Any:
        return self._tf.constant(np.zeros(0, self._dtype))

    def low(self) -> Any:
        return self._tf.constant(np.asarray(2 if self._dtype == "int32" else 0.3, self._dtype))

    def high(self) -> Any:
        return self._tf.constant(np.asarray(6 if self._dtype == "int32" else 0.7, self._dtype))

    def zero(self) -> Any:
        return self._tf.constant(np.zeros((), self._dtype))

    def unit(self) -> Any:
        return self._tf.constant(np.ones((), self._dtype))

    def count(self) -> Any:
        return self._tf.constant(np.asarray(self._elements, self._dtype))

    def inner_matrix(self) -> Any:
        """What is left of a matrix without its border."""
        return self._numbers(self._side, self._side)

    def strided_matrix(self) -> Any:
        """Every second row of a matrix, from the second one on."""
        return self._numbers(self._side // 2, self._side)

    # Tensors of flags, indices, shapes and texts.

    def flags(self) -> Any:
        return self._numbers(self._side, self._side, dtype="bool")

    def truth(self) -> Any:
        return self._tf.constant(True)

    def rows(self) -> Any:
        return self._integers(self._permutation(self._side))

    def points(self) -> Any:
        return self._integers(self._permutation(self._side)[:, np.newaxis])

    def permutation(self) -> Any:
        return self._integers(self._permutation(self._elements))

    def sorted_rows(self) -> Any:
        """Four rows of each number."""
        return self._integers(np.arange(self._side) // 4)

    def parities(self) -> Any:
        return self._integers(self._permutation(self._side) % 2)

    def parted_rows(self) -> Any:
        rows = self._permutation(self._side)
        return [self._integers(rows[: self._side // 2]), self._integers(rows[self._side // 2 :])]

    def classes(self) -> Any:
        return self._integers(np.random.default_rng(0).integers(0, 64, self._elements))

    def sorted_matrix(self) -> Any:
        return self._tf.constant(np.sort(np.asarray(self.matrix()), axis=1))

    def ends(self) -> Any:
        return self._tf.stack([self.low(), self.high()])

    def _permutation(self, size: int) -> Array:
        return np.random.default_rng(0).permutation(size)

    def axis_tensor(self) -> Any:
        return self._integers(0)

    def last_axis_tensor(self) -> Any:
        return self._integers(1)

    def axes_tensor(self) -> Any:
        return self._integers([0])

    def last_axes_tensor(self) -> Any:
        return self._integers([1])

    def both_axes_tensor(self) -> Any:
        return self._integers([1, 0])

    def shape_tensor(self) -> Any:
        return self._integers([self._side, self._side])

    def batch_shape_tensor(self) -> Any:
        return self._integers(self.batch_shape_numbers())

    def row_shape_tensor(self) -> Any:
        return self._integers([self._side])

    def flat_shape_tensor(self) -> Any:
        return self._integers([self._elements])

    def image_shape_tensor(self) -> Any:
        return self._integers(self.image_shape_numbers())

    def volume_shape_tensor(self) -> Any:
        return self._integers(self.volume_shape_numbers())

    def volume_filter_shape_tensor(self) -> Any:
        return self._integers([3, 3, 3, 16, 16])

    def block_tensor(self) -> Any:
        return self._integers([2, 2])

    def margins_tensor(self) -> Any:
        return self._integers([[0, 0], [0, 0]])

    def filter_shape_tensor(self) -> Any:
        return self._integers([3, 3, 16, 16])

    def depthwise_filter_shape_tensor(self) -> Any:
        return self._integers([3, 3, 16, 1])

    def column_shape_tensor(self) -> Any:
        return self._integers([self._side, 1])

    def side_tensor(self) -> Any:
        return self._integers(self._side)

    def elements_tensor(self) -> Any:
        return self._integers(self._elements)

    def two_lengths_tensor(self) -> Any:
        return self._integers([self._side - 1, 1], "int64")

    def no_lengths_tensor(self) -> Any:
        return self._integers([], "int64")

    def minus_one_tensor(self) -> Any:
        return self._integers(-1)

    def two_tensor(self) -> Any:
        return self._integers(2)

    def one_tensor(self) -> Any:
        return self._integers(1)

    def classes_tensor(self) -> Any:
        return self._integers(64)

    def halves_tensor(self) -> Any:
        return self._integers([self._side // 2, self._side // 2])

    def half_shape_tensor(self) -> Any:
        return self._integers([self._side // 2, self._side])

    def any_size_tensor(self) -> Any:
        return self._integers(-1)

    def twice_tensor(self) -> Any:
        return self._integers([1, 2])

    def borders_tensor(self) -> Any:
        return self._integers([[1, 1], [1, 1]])

    def first_image_tensor(self) -> Any:
        return self._integers([0])

    def second_row_tensor(self) -> Any:
        return self._integers([1, 0])

    def origin_tensor(self) -> Any:
        return self._integers([0, 0])

    def every_second_row_tensor(self) -> Any:
        return self._integers([2, 1])

    def text(self) -> Any:
        return self._tf.constant("1 2 3")

    def texts(self) -> Any:
        return [self._numbers(self._elements, dtype="string") for _ in range(2)]

    # What random ops need.

    def seed_tensor(self) -> Any:
        return self._integers([1, 2])

    def key_tensor(self) -> Any:
        return self._integers([7], "uint64")

    def counter_tensor(self) -> Any:
        return self._integers([1, 2], "uint64")

    def algorithm_tensor(self) -> Any:
        return self._integers(1)

    def generator_algorithm_tensor(self) -> Any:
        return self._integers(1, "int64")

    def delta_tensor(self) -> Any:
        return self._integers(self._elements, "int64")

    def unsigned_delta_tensor(self) -> Any:
        return self._integers(self._elements, "uint64")

    def generator(self) -> Any:
        generator = self._tf.random.Generator.from_seed(1)
        self.kept.append(generator)
        return generator.state.handle

    # Variables.

    def list_of_rows(self) -> Any:
        return self._tf.raw_ops.TensorListFromTensor(tensor=self.matrix(), element_shape=-1)

    def two_lists_of_rows(self) -> Any:
        return self._tf.stack([self.list_of_rows(), self.list_of_rows()])

    def optional(self) -> Any:
        return self._tf.raw_ops.OptionalFromValue(components=self.matrices())

    def variable(self) -> Any:
        variable = self._tf.Variable(self.matrix())
        self.kept.append(variable)
        return variable.handle

    # Attributes, and arguments of functions that are no tensors.

    def dtypes_of_matrices(self) -> list[Any]:
        return [matrix.dtype for matrix in self.matrices()]

    def shapes_of_matrices(self) -> list[Any]:
        return [matrix.shape for matrix in self.matrices()]

    def axis(self) -> int:
        return 0

    def last_axis(self) -> int:
        return 1

    def boundaries(self) -> list[float]:
        return [0.2, 0.4, 0.5, 2.0, 5.0]

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

    def strides(self) -> list[int]:
        return [1, 1, 1, 1]

    def window(self) -> list[int]:
        return [1, 2, 2, 1]

    def volume_strides(self) -> list[int]:
        return [1, 1, 1, 1, 1]

    def volume_window(self) -> list[int]:
        return [1, 2, 2, 2, 1]

    def same(self) -> str:
        return "SAME"

    def bilinear(self) -> str:
        return "BILINEAR"

    def reflect(self) -> str:
        return "REFLECT"

    def equation_of_product(self) -> str:
        return "ij,jk->ik"

    def message(self) -> str:
        return "a message"

    def template(self) -> str:
        return "%s %s"

    def null_file(self) -> str:
        return "file:///dev/null"

    def dtype(self) -> Any:
        return getattr(self._tf, self._dtype)

    def index_dtype(self) -> Any:
        return self._tf.int32

    def other_dtype(self) -> Any:
        return self._tf.float32 if self._dtype != "float32" else self._tf.int32

    def bool_dtype(self) -> Any:
        return self._tf.bool

    def same_size_dtype(self) -> Any:
        return getattr(self._tf, _SAME_SIZE[self._dtype])

    def complex_dtype(self) -> Any:
        return self._tf.complex64 if self._dtype == "float32" else self._tf.complex128

    def part_dtype(self) -> Any:
        return self._tf.float32 if self._dtype == "complex64" else self._tf.float64

    def probability(self) -> float:
        return 0.5

    def small(self) -> float:
        return 1e-3


def make_arguments(
    tf: Any, meanings: Mapping[str, str], elements: int, dtype: str
) -> tuple[dict[str, Any], list[Any]]:
    """The values of a call's arguments by name, and what must live as long as they."""
    arguments = Arguments(tf, elements, dtype)
    return {name: arguments.make(meaning) for name, meaning in meanings.items()}, arguments.kept
