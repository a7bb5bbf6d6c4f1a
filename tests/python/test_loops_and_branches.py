"""Loops and branches where what runs differs from what was traced."""

import pickle
import traceback
from typing import Any, NoReturn

import graven as tf
import numpy as np
import pytest
from python.autograph.beside_python import check_gradients

both = pytest.mark.parametrize("run", [lambda f: f, tf.function], ids=["eager", "traced"])


def test_a_loop_whose_first_value_has_another_size_than_its_invariant() -> None:
    """The body then runs node by node, iteration after iteration."""

    @tf.function
    def doubled(x: Any) -> Any:
        return tf.while_loop(
            lambda i, x: i < 3,
            lambda i, x: (i + 1, x * 2.0),
            [tf.constant(0), x],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([3])],
        )

    count, result = doubled(tf.constant([1.0, 2.0]))
    assert count.numpy() == 3
    assert result.numpy().tolist() == [8.0, 16.0]


def test_functions_that_run_at_once_are_not_converted() -> None:
    """They are plain Python, on tensors that have values; their exceptions pass as they are."""
    names = {0: "a", 1: "b", 2: "c"}
    seen: list[str] = []

    def body(i: Any) -> list[Any]:
        seen.append(names[int(i)])
        return [i + 1]

    tf.while_loop(lambda i: i < 3, body, [tf.constant(0)])
    assert seen == ["a", "b", "c"]

    def divide() -> NoReturn:
        raise ZeroDivisionError("as it is")

    with pytest.raises(ZeroDivisionError) as caught:
        tf.cond(tf.constant(True), divide, divide)
    assert type(caught.value) is ZeroDivisionError


def test_the_gradient_of_a_loop_whose_variable_grows() -> None:
    """Each iteration has another shape than the gradient that is given."""

    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            _, y = tf.while_loop(
                lambda i, _: i < 3,
                lambda i, x: (i + 1, tf.concat([x, x * 2.0], 0)),
                [tf.constant(0), x],
                shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
            )
        return tape.gradient(y, x, output_gradients=tf.ones([16]))

    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [27.0, 27.0]


OVERWRITTEN: dict[str, Any] = {
    "never read": lambda y, z, k: (tf.concat([y, y * k], 0), tf.sin(y) * k),
    "read without a gradient": lambda y, z, k: (
        tf.concat([y, tf.stop_gradient(z) * k], 0),
        y * y,
    ),
    "of the size that the other had": lambda y, z, k: (tf.concat([y, z * k], 0), y * 2.0),
    "constant at times": lambda y, z, k: (
        tf.concat([y, y * k], 0),
        tf.cond(k < 2.5, lambda: tf.ones_like(y), lambda: y * k),
    ),
}


@pytest.mark.parametrize("name", OVERWRITTEN)
@pytest.mark.parametrize("invariant", [[None], None])
@pytest.mark.parametrize("which", ["y", "z", "both"])
@pytest.mark.parametrize("recompute", [0, 2])
def test_gradients_of_a_variable_that_each_iteration_gives_another_size(
    name: str, invariant: Any, which: str, recompute: int
) -> None:
    """Its gradient before an iteration, zeros, has another shape than that after it."""
    change, open_shape = OVERWRITTEN[name], tf.TensorShape(invariant)
    options: dict[str, Any] = {"recompute": recompute} if recompute else {}

    def grown(x: Any) -> Any:
        _, y, z = tf.while_loop(
            lambda i, y, z: i < 3,
            lambda i, y, z: (i + 1, *change(y, z, x[i])),
            [tf.constant(0), x[:1] * 2.0, x[:1] * x[1:2]],
            shape_invariants=[tf.TensorShape([]), open_shape, open_shape],
            **options,
        )
        return {"y": y, "z": z, "both": tf.concat([y, z], 0)}[which]

    check_gradients(grown, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("shape", [None, [None], [3]])
def test_the_second_gradient_of_a_loop_in_a_loop(shape: Any) -> None:
    """Held against differences of the first one."""

    def z(x: Any) -> Any:
        def body(i: Any, _: Any) -> Any:
            inner = [tf.constant(0), x]
            after = tf.while_loop(lambda j, _: j < 2, lambda j, b: (j + 1, tf.sin(b) * x), inner)
            return i + 1, after[1]

        return tf.while_loop(lambda i, _: i < 2, body, [tf.constant(0), x])[1]

    def first(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = z(x)
        return tape.gradient(y, x)

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float64)])
    def second(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            dx = first(x)
        return tape.gradient(dx, x)

    x = tf.constant([0.5, 0.7, 0.2], tf.float64)
    difference = (first(x + 1e-5) - first(x - 1e-5)) / 2e-5
    assert second(x).numpy() == pytest.approx(difference.numpy(), rel=1e-6)


def test_the_second_gradient_of_an_array_of_several_shapes() -> None:
    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                array = tf.TensorArray(tf.float32, 2, infer_shape=False)
                array = array.write(0, x[:1]).write(1, x[1:])
                y = tf.reduce_sum(array.concat() ** 3) + tf.reduce_sum(array.read(1) ** 3)
            dx = tape.gradient(y, x)
        return outer.gradient(dx, x)

    assert f(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [6.0, 24.0, 36.0]


def test_a_loop_with_a_long_chain_of_scalars() -> None:
    """It is not read node by node down to the end of the stack."""

    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        def body(i: Any, y: Any) -> Any:
            for _ in range(30_000):
                y = -y
            return [i + 1, y]

        return tf.while_loop(lambda i, _: i < 2, body, [tf.constant(0), x])[1]

    assert f(tf.constant(1.5)).numpy() == 1.5


@pytest.mark.parametrize("shape", [None, [None], [1]])
def test_a_predicate_of_one_element(shape: Any) -> None:
    """It counts as a scalar, whether its shape is known while tracing or not."""

    @tf.function(input_signature=[tf.TensorSpec(shape, "bool")])
    def branch(p: Any) -> Any:
        return tf.cond(p, lambda: 1, lambda: 2)

    @tf.function(input_signature=[tf.TensorSpec(shape, "bool")])
    def loop(p: Any) -> Any:
        count = [tf.constant(0)]
        return tf.while_loop(
            lambda i: tf.logical_and(p, i < 3), lambda i: [i + 1], count, maximum_iterations=2
        )

    assert branch(tf.constant([True])).numpy() == 1
    assert branch(tf.constant([False])).numpy() == 2
    assert loop(tf.constant([True]))[0].numpy() == 2
    assert loop(tf.constant([False]))[0].numpy() == 0
    if shape != [1]:
        for f in (branch, loop):
            with pytest.raises(tf.errors.InvalidArgumentError, match="a scalar of dtype bool"):
                f(tf.constant([True, True]))


@both
def test_a_number_takes_the_dtype_that_map_fn_expects(run: Any) -> None:
    def of(result: Any, elems: Any, signature: Any = None) -> Any:
        f = run(lambda x: tf.map_fn(lambda _: result, x, fn_output_signature=signature))
        return f(tf.constant(elems))

    assert of(3, [1.0, 2.0]).numpy().tolist() == [3.0, 3.0]
    assert of(3, [1.0, 2.0]).dtype == tf.float32
    a, b = of((3, 4.5), [1], ("float64", "complex64"))
    assert a.dtype == tf.float64 and b.dtype == tf.complex64
    assert a.numpy().tolist() == [3.0] and b.numpy().tolist() == [4.5]
    both_parts = of({"b": 1, "a": 2}, [1.0], {"a": "uint8", "b": "float16"})
    assert both_parts["a"].dtype == tf.uint8 and both_parts["b"].dtype == tf.float16
    assert of(np.float64(3.5), [1.0]).numpy().tolist() == [3.5]
    assert of(np.array([1, 2]), [1.0]).numpy().tolist() == [[1.0, 2.0]]
    assert of(True, [1]).numpy().tolist() == [1]
    # NumPy's values are made to fit, as TensorFlow makes them; also where digits are lost.
    for given in (np.int32(3), np.float64(3.5), np.array(3), np.array(True)):
        for wanted in ("int64", "int8", "bool"):
            fitted = of(given, [1], wanted)
            assert fitted.dtype == wanted
            assert fitted.numpy().tolist() == np.array([given]).astype(wanted).tolist()
    # What does not fit keeps its own dtype, and so does a tensor.
    for result, elems in ((3.0, [1]), (np.complex64(1j), [1]), (300, np.array([1], "uint8"))):
        with pytest.raises(tf.errors.InvalidArgumentError, match="fn_output_signature"):
            of(result, elems)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="int32 where that of elems, float32, is expected"
    ):
        run(lambda x: tf.map_fn(lambda _: tf.constant(3), x))(tf.constant([1.0]))


def test_eagerly_a_number_may_be_accumulated() -> None:
    """A scan stacks it as the others; a fold gives it as it is."""
    scanned = tf.scan(lambda _a, _x: 3, tf.constant([1.0, 2.0]))
    assert scanned.dtype == tf.float32 and scanned.numpy().tolist() == [1.0, 3.0]
    assert tf.foldl(lambda _a, _x: 3.5, tf.constant([1, 2])).numpy() == 3.5
    with pytest.raises(TypeError):
        tf.scan(lambda _a, _x: 3.5, tf.constant([1, 2]))
    with pytest.raises(TypeError):
        tf.function(lambda: tf.foldl(lambda _a, _x: 3.5, tf.constant([1, 2])))()


@both
def test_the_shape_of_a_signature_holds(run: Any) -> None:
    f = run(
        lambda x: tf.map_fn(
            lambda y: tf.stack([y, y]), x, fn_output_signature=tf.TensorSpec([3], "float32")
        )
    )
    with pytest.raises(ValueError, match="ncompatible shape"):
        f(tf.constant([1.0, 2.0]))


@both
def test_how_many_iterations_may_run_at_a_time(run: Any) -> None:
    def loops(n: int) -> list[Any]:
        return [
            lambda x: tf.scan(lambda _, y: y, x, parallel_iterations=n),
            lambda x: tf.foldl(lambda _, y: y, x, parallel_iterations=n),
            lambda x: tf.map_fn(lambda y: y, x, parallel_iterations=n),
        ]

    for f in loops(-1) + loops(0)[:2]:
        with pytest.raises(TypeError, match="parallel_iterations"):
            run(f)(tf.constant([1.0]))
    assert run(loops(0)[2])(tf.constant([1.0])).numpy() == [1.0]


def test_maximum_iterations_is_a_scalar_eagerly() -> None:
    def count(most: Any) -> Any:
        zero = [tf.constant(0)]
        return tf.while_loop(lambda i: i < 5, lambda i: [i + 1], zero, maximum_iterations=most)[0]

    for most in ([2], tf.constant([2])):
        with pytest.raises(ValueError, match="must be a scalar"):
            count(most)
    for dtype in ("int8", "int64", "float32"):
        assert count(tf.constant(2, dtype)).numpy() == 2
    assert tf.function(count)(tf.constant(2)).numpy() == 2
    with pytest.raises(ValueError, match="requested dtype int32"):
        tf.function(count)(tf.constant(2, "int64"))


def test_invariants_are_nested_like_the_variables() -> None:
    scalar = tf.TensorShape([])

    def run(variables: Any, invariants: Any) -> Any:
        return tf.function(
            lambda: tf.while_loop(
                lambda i, _: i < 2,
                lambda i, a: (i + 1, a),
                variables,
                shape_invariants=invariants,
            )
        )()

    zero = tf.constant(0)
    assert run((zero, (zero,)), (scalar, (scalar,)))[0].numpy() == 2
    assert run((zero, zero), (None, tf.TensorSpec([], "int32")))[0].numpy() == 2
    refused: list[tuple[Any, Any, type[Exception]]] = [
        ((zero, zero), [scalar, scalar], TypeError),
        ((zero, (zero,)), (scalar, [scalar]), TypeError),
        ((zero, zero), (scalar,), ValueError),
        ((zero, {"a": zero}), (scalar, {"b": scalar}), ValueError),
        ((zero, zero), (scalar, tf.TensorSpec([], "int64")), TypeError),
        ((zero, zero), (scalar, tf.TensorSpec([3], "int32")), TypeError),
    ]
    for variables, invariants, error in refused:
        with pytest.raises(error, match="shape_invariants"):
            run(variables, invariants)


@both
def test_containers_keep_their_types(run: Any) -> None:
    """A list may stand for a tuple as a loop's variables, and within them in a graph."""
    zero = tf.constant(0)
    x = tf.constant([1, 2])

    def loop(body: Any, first: Any) -> Any:
        return run(lambda: tf.while_loop(lambda i, _: i < 2, body, first))()

    loop(lambda i, a: [i + 1, a], (zero, zero))
    inner: list[Any] = [
        lambda: loop(lambda i, a: (i + 1, [*a]), (zero, (zero, zero)))[1],
        lambda: run(lambda: tf.foldl(lambda a, y: [a[0] + y, a[1]], x, (zero, zero)))(),
    ]
    if run is tf.function:
        assert [type(call()) for call in inner] == [tuple, tuple]
        inner = []
    calls = [
        *inner,
        lambda: run(lambda: tf.scan(lambda a, y: [a[0] + y, a[1]], x, (zero, zero)))(),
        lambda: run(lambda: tf.map_fn(lambda y: [y, y], x, fn_output_signature=("int32",) * 2))(),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="structure"):
            call()


@both
def test_what_is_no_branch_index(run: Any) -> None:
    functions = [lambda: 1, lambda: 2]

    def choose(index: Any) -> Any:
        return run(lambda: tf.switch_case(index, functions))()

    for index in (1, np.int32(1), np.array(1, "int32"), tf.Variable(1), tf.constant(1.0)):
        with pytest.raises(TypeError, match="branch_index"):
            choose(index)
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"):
        choose(tf.constant([1]))
    with pytest.raises(TypeError, match="not both"):
        run(lambda: tf.switch_case(tf.constant(1), [functions[0], (1, functions[1])]))()
    assert tf.switch_case(tf.constant(0, "int8"), functions) == 1


@both
def test_the_predicates_of_case_are_bools(run: Any) -> None:
    with pytest.raises(TypeError, match="type bool"):
        run(lambda: tf.case([(tf.constant(1), lambda: 1)], default=lambda: 2))()


@pytest.mark.parametrize(
    ("results", "default", "chosen", "expected"),
    [
        ([[1]], [2], 0, 1),
        ([[1]], [2], None, 2),
        ([[[1]]], [[2]], None, [2]),
        ([(1,), [[2]]], [[3]], 0, 1),
        ([(1,), [[2]]], [[3]], 1, 2),
        ([(1,), [[2]]], [[[3]]], None, [3]),
        ([[1, 2]], [3, 4], 0, [1, 2]),
        ([{"a": 1}], {"a": 2}, None, {"a": 2}),
        ([[]], [], None, []),
        ([[1]], None, 0, [1]),
        ([[[1]], [[2]]], None, 0, [1]),
        ([[[1]], [[2]]], None, 1, [2]),
    ],
)
def test_each_decision_of_an_eager_case_takes_the_item_out_of_a_sequence_of_one(
    results: list[Any], default: Any, chosen: int | None, expected: Any
) -> None:
    """It is a chain of tf.conds, as in TensorFlow; strict=True keeps the sequence."""
    pairs = [(tf.constant(i == chosen), lambda r=r: r) for i, r in enumerate(results)]
    otherwise = None if default is None else lambda: default
    assert tf.case(pairs, default=otherwise) == expected
    kept = tf.case(pairs, default=otherwise, strict=True)
    assert kept == (default if chosen is None else results[chosen])


@pytest.mark.parametrize("fold", [tf.scan, tf.foldl, tf.foldr])
def test_no_row_and_no_initializer_is_the_error_of_tensorflow(fold: Any) -> None:
    rows = tf.zeros([0, 3])
    with pytest.raises(tf.errors.OutOfRangeError, match="no element and no initializer"):
        fold(lambda a, b: a + b, rows)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no element and no initializer"):
        tf.function(lambda: fold(lambda a, b: a + b, rows))()


def test_a_key_error_of_a_function_is_a_key_error() -> None:
    """With the text of the conversion, and the name that users know; it can be pickled."""

    @tf.function
    def f() -> Any:
        empty: dict[str, Any] = {}
        return empty["missing"]

    with pytest.raises(KeyError, match="in user code") as caught:
        f()
    assert type(caught.value).__name__ == "KeyError"
    assert traceback.format_exception_only(caught.value)[0].startswith("KeyError: in user code")
    copied = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(copied, KeyError) and str(copied) == str(caught.value)


def test_a_loop_without_iterations_does_not_meet_the_sizes_that_its_body_refuses() -> None:
    """Sizes that are known since the body was traced do not make it move out of the loop."""

    @tf.function(
        input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)]
    )
    def inner(x: Any, y: Any, n: Any) -> Any:
        total: Any = 0.0
        for _ in tf.range(n):
            total += tf.reduce_sum(tf.exp(x) * tf.sin(y)) + tf.reduce_sum(tf.stack([x, y]))
        return total

    sizes = tf.TensorShape([None])

    @tf.function
    def outer(n: Any, x: Any, y: Any) -> Any:
        of_loop = tf.while_loop(
            lambda i, x, y, t: i < n,
            lambda i, x, y, t: (i + 1, x, y, t + tf.reduce_sum(x + y)),
            [0, x, y, 0.0],
            shape_invariants=[tf.TensorShape([]), sizes, sizes, tf.TensorShape([])],
        )[3]
        return of_loop + inner(x, y, n)

    assert outer(tf.constant(0), tf.ones([2]), tf.ones([3])).numpy() == 0
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        outer(tf.constant(1), tf.ones([2]), tf.ones([3]))
    assert outer(tf.constant(2), tf.zeros([3]), tf.ones([3])).numpy() == pytest.approx(
        2 * (3 + 3 * np.sin(1.0) + 3)
    )
