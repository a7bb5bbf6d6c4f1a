"""Every op of the registry has a row, its gradient, and TensorFlow's dtypes or an error."""

import itertools
from collections.abc import Iterator
from typing import Any

import compatibility
import graven as tf
import numpy as np
import pytest
import tensorflow_kernels
from graven import _engine

from ops.sample import WITHOUT_SAMPLES, all_cases, all_rows

KERNELS = tensorflow_kernels.read(tensorflow_kernels.FILE.read_text())
KNOWN = compatibility.known_dtypes(tf)
# The functions that TensorFlow registers for these return None for each input: see
# tests/peers/test_registered_kernels.py.
GRADIENT_IS_NONE = {
    "ArgMax", "ArgMin", "Ceil", "Floor", "FloorDiv", "Rint", "Round", "TruncateDiv",
}  # fmt: skip


def record_of(op: str) -> dict[str, Any]:
    record: dict[str, Any] = getattr(tf.raw_ops, op)._record
    return record


def test_the_records_of_ops_have_no_mistakes() -> None:
    assert _engine.registry_errors() == []


def test_every_op_has_a_row() -> None:
    names = set(_engine.op_names())
    rows = {row.op for row in all_rows()[0]}
    assert sorted(rows - names) == []
    assert sorted(set(WITHOUT_SAMPLES) - names) == []
    assert sorted(names - rows - set(WITHOUT_SAMPLES)) == []


def dtypes_in_rows() -> dict[str, set[str]]:
    """The dtypes of the inputs and attributes of the rows of each op."""
    found: dict[str, set[str]] = {}
    for case in all_cases():
        seen = found.setdefault(case.sample.op, {case.dtype})
        for array in case.arrays():
            for item in array if isinstance(array, list) else [array]:
                seen.add("string" if item.dtype.kind in "OU" else item.dtype.name)
        seen |= {value for value in case.attrs.values() if isinstance(value, str)}
    return found


def test_the_rows_of_an_op_have_every_dtype_that_it_takes() -> None:
    """Handles and variants stand in rows of the ops that give and take them."""
    missing = {
        (op, attribute, dtype)
        for op, seen in dtypes_in_rows().items()
        for attribute, allowed in record_of(op)["types"]
        for dtype in set(allowed) - seen - {"resource", "variant"}
    }
    assert sorted(missing) == []


def test_every_op_with_a_gradient_in_tensorflow_has_one_here() -> None:
    with_one = {op for op in _engine.op_names() if record_of(op)["is_differentiable"]}
    theirs = {op for op, known in KERNELS.items() if known.gradient == "function"}
    # Branches and loops are differentiated by the gradient pairs of their bodies.
    by_bodies = {op for op, where in WITHOUT_SAMPLES.items() if where.startswith("runs bodies")}
    assert sorted(theirs - with_one - by_bodies - GRADIENT_IS_NONE) == []
    assert sorted(GRADIENT_IS_NONE & with_one) == []


def test_no_gradient_flows_where_tensorflow_lets_none_flow() -> None:
    none = {op for op, known in KERNELS.items() if known.gradient == "none"}
    assert sorted(op for op in none if record_of(op)["is_differentiable"]) == []


def missing() -> Iterator[tuple[str, str, str]]:
    """Op, attribute and dtype of what TensorFlow has kernels for and we do not take."""
    for op, known in KERNELS.items():
        ours = compatibility.types_of(getattr(tf.raw_ops, op))
        for attribute, dtypes in compatibility.missing_dtypes(known, ours).items():
            for dtype in sorted(dtypes & KNOWN):
                yield op, attribute, dtype


def inputs_of(op: str, dtype_of: dict[str, str]) -> Iterator[Any]:
    """Tensors of these dtypes for the inputs of an op."""
    for argument in record_of(op)["inputs"]:
        kind = argument.partition(":")[2].rpartition("*")
        dtype = dtype_of.get(kind[2].strip(), kind[2].strip())
        if dtype == "resource":
            tensor = tf.Variable(np.array([1, 2, 3])).handle
        elif dtype == "variant":
            tensor = tf.raw_ops.TensorListReserve(
                element_shape=-1, num_elements=1, element_dtype="float32"
            )
        elif dtype == "string":
            tensor = tf.constant(["a"])
        else:
            tensor = tf.cast(tf.constant([1]), dtype)
        yield [tensor] if kind[1] else tensor


@pytest.mark.parametrize(("op", "attribute", "dtype"), list(missing()))
def test_a_dtype_that_tensorflow_takes_and_we_do_not_is_a_named_error(
    op: str, attribute: str, dtype: str
) -> None:
    record = record_of(op)
    kinds = {argument.partition(":")[2].rpartition("*")[2].strip() for argument in record["inputs"]}
    first = {name: allowed[0] for name, allowed in record["types"]}
    types = {**first, attribute: dtype}
    attrs = {name: value for name, value in types.items() if name not in kinds}
    names = [name for name, _ in getattr(tf.raw_ops, op)._parameters]
    of_dtype = f"for attr '{attribute}' of {_op_def_name(dtype)}"
    is_declared = dtype in _engine.declared_dtypes(op, attribute)
    error = tf.errors.NotFoundError if is_declared else tf.errors.InvalidArgumentError
    with pytest.raises(error) as raised:
        getattr(tf.raw_ops, op)(
            *inputs_of(op, types), **{name: value for name, value in attrs.items() if name in names}
        )
    message = str(raised.value)
    said = f"has no kernel {of_dtype}," if is_declared else f"Value {of_dtype} is not in the list"
    assert said in message
    assert f"[Op:{op}]" in message


def _op_def_name(dtype: str) -> str:
    """The name of a dtype in an OpDef, which messages use."""
    return {"float16": "half", "float32": "float", "float64": "double"}.get(dtype, dtype)


@pytest.mark.parametrize(
    "dtype",
    sorted(
        frozenset(itertools.chain(*(k[a] for o in KERNELS.values() for k in o.kernels for a in k)))
        - KNOWN
    ),
)
def test_a_dtype_that_graven_lacks_is_a_named_error(dtype: str) -> None:
    with pytest.raises(TypeError, match=dtype):
        tf.as_dtype(dtype)
    with pytest.raises(AttributeError, match=dtype):
        getattr(tf, dtype)
