"""Each row of the table of ops, beside TensorFlow's own op."""

import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import numpy as np
import pytest
import registered_kernels as registered
import tensorflow
from ops.running import op_of, run
from ops.sample import (
    Case,
    Sample,
    Wrong,
    all_cases,
    all_rows,
    as_arrays,
    as_tensors,
    assert_close,
    one_of_each_row,
)
from tensorflow.python.framework import op_def_registry

CASES = [case for case in all_cases() if not case.sample.beside_tensorflow]
# Outputs of which TensorFlow's inference says what its kernels do not give.
FORESEEN_WRONGLY = {
    ("Conv3D", 0): "computed with the dilations of other axes",
    ("FusedBatchNormGradV3", 3): "foreseen as an empty vector, is a scalar",
    ("FusedBatchNormGradV3", 4): "foreseen as an empty vector, is a scalar",
}
# Ops whose inference refuses sizes, or a shape of any rank, that it does not know.
NEEDS_SIZES = {"SpaceToBatchND", "BatchToSpaceND"}
NEEDS_SIZES |= {op for op in graven._engine.op_names() if op.startswith("TensorList")}


def can_be_traced_by_tensorflow(row: Sample) -> bool:
    """False for what TensorFlow takes eagerly only.

    EnsureShape with None for the shape; vectors of one element for scalars of Range; and bands of
    MatrixSetDiagV3, which inference takes for one diagonal where k is not known.
    """
    if row.op == "Range":
        return np.ndim(row.inputs[0]) == 0
    if row.op == "MatrixSetDiagV3":
        return np.size(row.inputs[2]) == 1
    return row.op != "EnsureShape" or row.attrs["shape"] is not None


ONE_OF_EACH_ROW = [
    case
    for case in one_of_each_row()
    if not case.sample.beside_tensorflow and can_be_traced_by_tensorflow(case.sample)
]
REFUSED = [row for row in all_rows()[1] if not row.beside_tensorflow]


def their_op(row: Sample | Wrong, attrs: dict[str, Any]) -> Callable[..., Any]:
    """TensorFlow's op as a function of its inputs; it takes keywords only."""
    op = getattr(tensorflow.raw_ops, row.op)
    names = [name for name in op.__signature__.parameters if name != "name"]

    def call(*inputs: Any, **others: Any) -> Any:
        given = {**attrs, **others}
        free = [name for name in names if name not in given]
        return op(**dict(zip(free, inputs, strict=False)), **given)

    return call


def run_theirs(case: Case) -> list[np.ndarray[Any, Any]]:
    """The outputs of all calls of a row in TensorFlow."""
    tf = tensorflow
    application = case.sample.setup(
        tf, their_op(case.sample, case.attrs), as_tensors(tf, case.arrays())
    )
    results = []
    for _ in range(case.sample.calls):
        results += as_arrays(application.call(*application.arguments))
    return results + as_arrays(application.after())


def assert_lacks(case: Case, error: Exception) -> None:
    """That an error says that TensorFlow has no kernel for the dtype of a row, which is true."""
    messages = (
        "Could not find device for node",
        "not in list of allowed values",
        "not in the list of allowed values",
    )
    if not any(message in str(error) for message in messages):
        raise error
    for attribute in registered.dtype_attributes(case.sample.op):
        assert case.dtype not in registered.cpu_dtypes(case.sample.op, attribute)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_op_gives_what_tensorflow_gives(case: Case) -> None:
    ours = run("eager", case)
    try:
        theirs = run_theirs(case)
    except (tensorflow.errors.NotFoundError, tensorflow.errors.InvalidArgumentError) as error:
        assert_lacks(case, error)
        return
    assert len(ours) == len(theirs)
    for mine, wanted in zip(ours, theirs, strict=True):
        assert mine.dtype == wanted.dtype
        # TensorFlow rounds too: what the row allows, twice.
        assert_close(case, mine, wanted, factor=2)


def static_shapes(tf: Any, op: Any, case: Case, spec_of: Callable[[Any], Any]) -> list[Any]:
    """What inference says of the outputs, for arguments of which less is known."""
    application = case.sample.setup(tf, op, as_tensors(tf, case.arrays()))
    specs = [
        [spec_of(item) for item in argument] if isinstance(argument, list) else spec_of(argument)
        for argument in application.arguments
    ]
    outputs = tf.function(application.call).get_concrete_function(*specs).outputs
    application.after()
    return [output.shape.as_list() if output.shape.rank is not None else None for output in outputs]


@pytest.mark.parametrize("dims", ["known", "unknown", "unknown rank"])
# The shapes do not depend on the dtype of a row.
@pytest.mark.parametrize("case", ONE_OF_EACH_ROW, ids=str)
def test_inference_knows_what_tensorflows_knows(case: Case, dims: str) -> None:
    def spec_of(tf: Any) -> Callable[[Any], Any]:
        shapes: dict[str, Callable[[Any], Any]] = {
            "known": lambda tensor: tensor.shape,
            "unknown": lambda tensor: [None] * len(tensor.shape),
            "unknown rank": lambda tensor: None,
        }
        return lambda tensor: tf.TensorSpec(shapes[dims](tensor), tensor.dtype)

    ours = static_shapes(graven, op_of(case.sample, case.attrs), case, spec_of(graven))
    try:
        theirs = static_shapes(
            tensorflow, their_op(case.sample, case.attrs), case, spec_of(tensorflow)
        )
    except TypeError as error:
        assert_lacks(case, error)
        return
    except ValueError:
        if case.sample.op not in NEEDS_SIZES:
            raise
        return
    for output, (mine, wanted) in enumerate(zip(ours, theirs, strict=True)):
        if wanted is not None and (case.sample.op, output) not in FORESEEN_WRONGLY:
            assert mine is not None and len(mine) == len(wanted), (mine, wanted)
            for a, b in zip(mine, wanted, strict=True):
                assert b is None or a == b, (mine, wanted)


@pytest.mark.parametrize("row", REFUSED, ids=str)
def test_what_is_refused_tensorflow_refuses_too(row: Wrong) -> None:
    tf = tensorflow
    with pytest.raises((tf.errors.OpError, ValueError, TypeError)):
        inputs = as_tensors(
            tf, [value if isinstance(value, list) else np.array(value) for value in row.inputs]
        )
        application = row.setup(tf, their_op(row, row.attrs), inputs)
        application.call(*application.arguments)


def test_ops_declare_the_dtypes_of_their_op_defs() -> None:
    # A dtype that is declared and has no kernel is a NotFoundError, which Keras catches.
    engine = graven._engine
    wrong = []
    for op in engine.op_names():
        function = engine.raw_op(op)
        assert function is not None
        for attribute, _ in function._record.get("types", []):
            try:
                allowed = registered.allowed_dtypes(op, attribute)
            except KeyError:  # an op or attribute of Graven's own
                continue
            known = {name for name in allowed if hasattr(graven.dtypes, name)}
            missing = known - set(engine.declared_dtypes(op, attribute))
            if missing and op != "Cast":  # whose kernels refuse by an UnimplementedError
                wrong.append((op, attribute, sorted(missing)))
    assert wrong == []


# Here alone: what a file holds changes, and code of the program may wait for other threads.
EFFECTS_OF_OUR_OWN = {"ReadFile", "PyFuncStateless"}


def test_ops_have_effects_where_those_of_tensorflow_do() -> None:
    engine = graven._engine
    wrong = set()
    for op in engine.op_names():
        function = engine.raw_op(op)
        assert function is not None
        theirs = op_def_registry.get(op)
        if theirs is not None and function._record["is_stateful"] != theirs.is_stateful:
            wrong.add(op)
    assert wrong == EFFECTS_OF_OUR_OWN


@pytest.mark.parametrize("tf", [graven, tensorflow], ids=lambda tf: tf.__name__)
def test_a_declared_dtype_without_a_kernel_is_not_found(tf: Any) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: tf.range(3, dtype=tf.int16),
        lambda: tf.math.reciprocal(tf.constant(1, tf.int8)),
        lambda: tf.tensor_scatter_nd_add(["a"], [[0]], ["b"]),
    ]
    for call in calls:
        with pytest.raises(tf.errors.NotFoundError, match="Could not find device for node"):
            call()
