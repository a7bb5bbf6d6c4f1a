"""Rows of the table of ops."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

REAL_FLOATS = ("float32", "float64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
SIGNED = ("int8", "int16", "int32", "int64")
COMPLEX = ("complex64", "complex128")
REAL = FLOATS + INTEGERS
PLAIN = (*REAL, *COMPLEX, "bool")


def _array_of(dtype: type[np.generic]) -> Callable[[Any], NDArray[Any]]:
    return partial(np.array, dtype=dtype)


# Arrays that keep their dtypes in a row: int32([1, 2]).
int32, int64, uint64 = _array_of(np.int32), _array_of(np.int64), _array_of(np.uint64)
float16, float32, float64 = _array_of(np.float16), _array_of(np.float32), _array_of(np.float64)
complex64 = _array_of(np.complex64)

# As the value of an attribute: the dtype in which the row is run.
DTYPE: Final = "the dtype of the row"

# Ops that have no values to compare, and where they are tested instead.
WITHOUT_SAMPLES = {
    "Placeholder": "an argument of a graph: tests/conformance/test_tracing.py",
    "PartitionedCall": "a call of a Function: tests/conformance/test_function_calls.py",
    "StatefulPartitionedCall": "a call of a Function: tests/conformance/test_function_calls.py",
    "NoOp": "computes nothing: tests/conformance/test_control_dependencies.py",
    **dict.fromkeys(
        ("Case", "If", "StatelessCase", "StatelessIf", "StatelessWhile", "While"),
        "runs bodies: tests/functions/rows/control_flow.txt",
    ),
    **dict.fromkeys(
        ("EagerPyFunc", "PyFunc", "PyFuncStateless"),
        "calls a function of the program: tests/python/test_host_functions.py",
    ),
    "FakeParam": "nothing reads its value: tests/functions/rows/control_flow.txt",
}

# Ops whose gradients are not compared with differences, and where they are tested instead.
WITHOUT_DIFFERENCES = {
    "PreventGradient": "has none to compare: test_asking_for_a_prevented_gradient_says_why",
    "PadV2": "constant_values has none, as in TensorFlow; for the input it is that of Pad",
    "Pack": "takes a list: tests/cpp/op_gradients_*_test.cc",
    "CropAndResize": "gives float32: beside TensorFlow, tests/functions/rows/resizing.txt",
    "ImageProjectiveTransformV2": "is not exact: tests/functions/rows/resizing.txt",
    "ImageProjectiveTransformV3": "is not exact: tests/functions/rows/resizing.txt",
    "ResizeBicubic": "gives float32: beside TensorFlow, tests/functions/rows/resizing.txt",
    "ResizeBicubicGrad": "takes float32: tests/python/test_images.py",
    "ResizeBilinear": "gives float32: beside TensorFlow, tests/functions/rows/resizing.txt",
    "ScaleAndTranslate": "gives float32: beside TensorFlow, tests/functions/rows/resizing.txt",
    "ScaleAndTranslateGrad": "takes float32: tests/python/test_images.py",
    "Einsum": "takes a list: tests/cpp/op_gradients_*_test.cc",
    "DynamicStitch": "takes lists: tests/cpp/op_gradients_*_test.cc",
    "ParallelDynamicStitch": "takes lists: tests/cpp/op_gradients_*_test.cc",
    "Eig": "scales vectors as it likes; its values: tests/functions/rows/matrices.txt",
    "Cholesky": "as in TensorFlow, that of both triangles, of which one is read; "
    "tests/functions/rows/matrices.txt",
    **dict.fromkeys(
        ("MaxPool3D", "MaxPool3DGrad", "MaxPool3DGradGrad", "LRN"),
        "has no float64; its gradient is a row, and beside TensorFlow in tests/functions/rows",
    ),
    "MaxPoolWithArgmax": "of the first order only: a row, and tests/functions/rows/pooling.txt",
    **dict.fromkeys(
        (
            "FakeQuantWithMinMaxArgs",
            "FakeQuantWithMinMaxVars",
            "FakeQuantWithMinMaxVarsPerChannel",
        ),
        "is a staircase, whose gradients are rows of their own",
    ),
    **dict.fromkeys(
        (
            "RandomGamma",
            "StatelessParameterizedTruncatedNormal",
            "StatelessRandomGammaV2",
            "StatelessRandomGammaV3",
        ),
        "is that of a share of the distribution: tests/functions/rows/distributions.txt",
    ),
    "FusedBatchNormV3": "tests/cpp/op_gradients_*_test.cc",
    "FusedBatchNormGradV3": "tests/cpp/op_gradients_*_test.cc",
}


@dataclass(frozen=True)
class Application:
    """An op with all that it needs, ready to run.

    Attributes:
      call: A function of tensors; what the mode "graph" traces.
      arguments: What it is called with.
      after: What the calls left behind, compared after their outputs.
      sources: The variables that hold inputs, by the inputs' positions.
    """

    call: Callable[..., Any]
    arguments: list[Any]
    after: Callable[[], list[Any]] = list
    sources: dict[int, Any] = field(default_factory=dict)

    def source(self, position: int, inputs: list[Any]) -> Any:
        """What a gradient for an input is asked of."""
        return self.sources.get(position, inputs[position])


# Makes an application in one of the systems (the module `tf`) from the op, as a function of its
# inputs and of attributes that replace those of the row, and from the row's inputs as tensors.
Setup = Callable[[Any, Callable[..., Any], list[Any]], Application]


def plain(tf: Any, op: Callable[..., Any], inputs: list[Any]) -> Application:
    """The op on its inputs."""
    return Application(op, inputs)


@dataclass(frozen=True)
class Sample:
    """One row: an op, its inputs, and what it must give.

    Attributes:
      op: OpDef name.
      inputs: Python lists and numbers take the dtype of the row; NumPy arrays keep theirs.
      reference: A NumPy function of the inputs, in float64 (complex128) for floats, and of the
        attributes as keywords; returns an array, or a tuple of them. None: only TensorFlow knows.
      dtypes: The dtypes in which the row is run.
      attrs: Attributes by name.
      ulp: The largest distance in units in the last place of the result's dtype.
      tolerance: The largest distance relative to the largest element of the result.
      is_elementwise: Inputs may be replaced by others of one shape.
      broadcasts: The inputs of an elementwise op may have different shapes.
      setup: What an op needs that is no function of its inputs: see setups.py.
      calls: How often the op is called; the outputs of all calls are compared, in order.
      beside_tensorflow: Why TensorFlow's result differs, or "" if it is compared.
      smooth_at: Inputs like those of the row, floats where gradients are checked against
        differences, to the second order.
      no_gradient_for: Positions of inputs to which none flows, in TensorFlow neither.
    """

    op: str
    inputs: tuple[Any, ...]
    reference: Callable[..., Any] | None = None
    dtypes: tuple[str, ...] = ("float32",)
    attrs: dict[str, Any] = field(default_factory=dict)
    ulp: float = 0
    tolerance: float = 0
    is_elementwise: bool = False
    broadcasts: bool = True
    setup: Setup = plain
    calls: int = 1
    beside_tensorflow: str = ""
    smooth_at: tuple[Any, ...] | None = None
    no_gradient_for: tuple[int, ...] = ()

    def cases(self) -> Iterator[Case]:
        """The row in each of its dtypes."""
        for dtype in self.dtypes:
            yield Case(self, dtype)


@dataclass(frozen=True)
class Wrong:
    """Inputs that an op refuses, and a piece of the message.

    Attributes:
      op: OpDef name.
      inputs: As tensors are made of them; strings become string tensors.
      message: A piece of the message.
      error: The class, one of tf.errors or Python's.
      attrs: Attributes by name.
      setup: As of a Sample.
      message_in_graph: A piece of the message while tracing, where it is another.
      beside_tensorflow: Why TensorFlow takes them, or "" if it refuses them too.
    """

    op: str
    inputs: tuple[Any, ...]
    message: str
    error: str = "InvalidArgumentError"
    attrs: dict[str, Any] = field(default_factory=dict)
    setup: Setup = plain
    message_in_graph: str = ""
    beside_tensorflow: str = ""

    def __str__(self) -> str:
        return f"{self.op}-{self.message[:40]}"


@dataclass(frozen=True)
class ListOf:
    """A list argument whose items take the dtype of the row."""

    items: tuple[Any, ...]


@dataclass(frozen=True)
class Case:
    """A row in one dtype."""

    sample: Sample
    dtype: str

    def __str__(self) -> str:
        attrs = ",".join(f"{key}={value}" for key, value in self.attrs.items())
        return f"{self.sample.op}({attrs})-{self.dtype}"

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes in this dtype."""
        return {
            name: self.dtype if value is DTYPE else value
            for name, value in self.sample.attrs.items()
        }

    def arrays(self) -> list[Any]:
        """The inputs as arrays of their dtypes; a list of arrays for a list argument."""
        return [self._array(value) for value in self.sample.inputs]

    def _array(self, value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            return np.asarray(value)
        if isinstance(value, ListOf):
            return [self._array(item) for item in value.items]
        if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
            return value
        return np.array(value).astype(numpy_dtype(self.dtype))

    def expected(self) -> list[NDArray[Any]]:
        """What the reference gives."""
        assert self.sample.reference is not None
        wide = [_widened(array) for array in self.arrays()]
        with np.errstate(all="ignore"):
            result = self.sample.reference(*wide, **self.attrs)
        return [np.asarray(part) for part in (result if isinstance(result, tuple) else (result,))]


def numpy_dtype(name: str) -> Any:
    """The NumPy dtype of a TensorFlow name."""
    if name == "bfloat16":
        import ml_dtypes

        return ml_dtypes.bfloat16
    return np.dtype("object" if name == "string" else name)


def as_tensors(tf: Any, arrays: list[Any]) -> list[Any]:
    """Arrays as tensors of a system, lists of arrays as lists of tensors."""
    return [
        [tf.constant(item) for item in array] if isinstance(array, list) else tf.constant(array)
        for array in arrays
    ]


def as_arrays(result: Any) -> list[NDArray[Any]]:
    """The outputs of an op as arrays: a tensor, a list of them, or an operation without any."""
    if result is None or not (isinstance(result, list | tuple) or hasattr(result, "numpy")):
        return []
    arrays = []
    for part in result if isinstance(result, list | tuple) else [result]:
        value = part.numpy()
        arrays.append(np.array(value, object) if isinstance(value, bytes) else np.asarray(value))
    return arrays


def _in_utf_8(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _widened(value: Any) -> Any:
    if isinstance(value, list):
        return [_widened(item) for item in value]
    if value.dtype.kind == "O":
        return np.vectorize(_in_utf_8, otypes=[object])(value) if value.size else value
    if value.dtype.kind == "f" or value.dtype.name == "bfloat16":
        return value.astype(np.float64)
    return value.astype(np.complex128) if value.dtype.kind == "c" else value


def all_rows() -> tuple[list[Sample], list[Wrong]]:
    """The rows of all families."""
    from ops import samples

    rows: list[Sample] = []
    wrong: list[Wrong] = []
    for module in pkgutil.iter_modules(samples.__path__):
        family = importlib.import_module(f"ops.samples.{module.name}")
        rows += family.SAMPLES
        wrong += getattr(family, "WRONG", [])
    return rows, wrong


def all_cases() -> list[Case]:
    """The rows of all families, each in each of its dtypes."""
    return [case for row in all_rows()[0] for case in row.cases()]


def one_of_each_row() -> list[Case]:
    """The rows of all families in their first dtypes, for what does not depend on the dtype."""
    return [next(row.cases()) for row in all_rows()[0]]


def assert_close(
    case: Case, actual: NDArray[Any], expected: NDArray[Any], factor: float = 1
) -> None:
    """Compares a result with the reference within what the row allows, times a factor."""
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    if actual.dtype.kind in "fc" or actual.dtype.name == "bfloat16":
        if actual.dtype.kind == "c":
            assert_close(case, actual.real, expected.real, factor)
            assert_close(case, actual.imag, expected.imag, factor)
            return
        with np.errstate(all="ignore"):
            rounded = expected.astype(actual.dtype)
            a, e = actual.astype(np.float64), rounded.astype(np.float64)
            same = (a == e) | (np.isnan(a) & np.isnan(e))
            assert np.all(same | (np.isfinite(a) & np.isfinite(e))), (actual, rounded)
            step = _spacing(rounded)
            distance = np.where(same, 0.0, np.abs(a - expected.astype(np.float64)) / step)
            allowed = np.full(
                a.shape, factor * float(case.sample.ulp) + (0.5 if case.sample.ulp else 0.0)
            )
            if case.sample.tolerance:
                finite = np.abs(e[np.isfinite(e)])
                largest = float(finite.max()) if finite.size else 0.0
                allowed = np.maximum(allowed, factor * case.sample.tolerance * largest / step)
        worst = float(np.nanmax(distance - allowed)) if distance.size else 0.0
        assert worst <= 0, f"{np.nanmax(distance)} ULP apart:\n{actual}\n{rounded}"
        return
    wanted = expected if actual.dtype.kind == "O" else expected.astype(actual.dtype)
    np.testing.assert_array_equal(actual, wanted)


def _spacing(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.name == "bfloat16":
        exponent = np.floor(np.log2(np.maximum(np.abs(values.astype(np.float64)), 2.0**-126)))
        return np.asarray(2.0 ** (exponent - 7))
    return np.asarray(np.spacing(np.abs(values)).astype(np.float64))
