"""Short programs over objects of Python: tensors, dtypes, shapes, scopes, containers.

Each gives the same in both systems: values, classes of errors, phrases that programs look for in
messages.
"""

# tf is either system here, and so are its decorators.
# mypy: disable-error-code="untyped-decorator,misc"

import collections
import copy
import functools
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import numpy as np
import pytest
import tensorflow
from both_systems import attempt, plain, says

Program = Callable[[Any], Any]
PROGRAMS: list[Program] = []


def program(f: Program) -> Program:
    """Lists a program, which is given tf and returns what the systems are to agree on."""
    PROGRAMS.append(f)
    return f


INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float16", "bfloat16", "float32", "float64"]


# --- DTypes


@program
def limits_of_integers_are_ints_of_python(tf: Any) -> Any:
    # tf.int32.max + 1000 was NumPy's sum, which overflowed in silence.
    dtypes = [tf.as_dtype(name) for name in INTEGERS]
    return [[type(d.max), type(d.min), d.min, d.max + 1000, d.limits] for d in dtypes]


@program
def limits_of_floats_are_scalars_of_numpy(tf: Any) -> Any:
    dtypes = [tf.as_dtype(name) for name in FLOATS]
    return [[type(d.max), type(d.min), d.max, d.min] for d in dtypes]


@program
def what_is_no_number_has_no_limits(tf: Any) -> Any:
    dtypes = [tf.bool, tf.string, tf.complex64]
    extremes = [attempt(functools.partial(getattr, d, n)) for d in dtypes for n in ("max", "min")]
    return extremes, [attempt(functools.partial(getattr, d, "limits")) for d in dtypes]


NAMES_OF_DTYPES: list[Any] = [
    int, float, bool, complex, str, bytes, object, type, list, None, np.int32, np.dtype("int8"),
    np.str_, np.bytes_, np.bool_, np.array(1), "int", "float", "half", "str", "S", "f4", "<f4", 3,
]  # fmt: skip


@program
def few_things_stand_for_a_dtype(tf: Any) -> Any:
    return [attempt(functools.partial(tf.as_dtype, name)) for name in NAMES_OF_DTYPES]


# --- Shapes


@program
def a_shape_becomes_a_tensor_of_integers_that_hold_it(tf: Any) -> Any:
    wide, shape = tf.TensorShape([2**31, 2]), tf.TensorShape([2, 2])
    return [
        says("a dimension is too large", lambda: tf.convert_to_tensor(wide, tf.int32)),
        attempt(lambda: tf.convert_to_tensor(wide)),
        attempt(lambda: tf.convert_to_tensor(shape, tf.int64)),
        attempt(lambda: tf.convert_to_tensor(shape, tf.float32)),
        attempt(lambda: tf.convert_to_tensor(tf.TensorShape([2, None]))),
    ]


@program
def a_sparse_tensor_may_have_a_size_that_nobody_knows(tf: Any) -> Any:
    return [
        attempt(lambda: tf.SparseTensor([[0, 2]], [1], [-1, 5]).shape),
        attempt(lambda: tf.SparseTensor([[0, 2]], [1], [-2, 5]).shape),
    ]


# --- Scopes


@program
def the_name_scope_of_a_module_is_one_object(tf: Any) -> Any:
    module, names = tf.Module(name="n"), []
    with module.name_scope as outer, module.name_scope as inner:
        names += [outer, inner]
    with module.name_scope as again:
        names.append(again)
    return module.name_scope is module.name_scope, names


@program
def a_module_can_be_copied_with_its_name_scope(tf: Any) -> Any:
    module = tf.Module(name="n")
    with copy.deepcopy(module).name_scope as name:
        return name


@program
def a_device_scope_is_left_after_those_within_it(tf: Any) -> Any:
    outer, inner = tf.device("cpu:0"), tf.device("cpu:0")
    outer.__enter__()
    inner.__enter__()
    nesting = "without proper scope nesting"
    return [
        says(nesting, lambda: outer.__exit__(None, None, None)),
        says(nesting, lambda: inner.__exit__(None, None, None)),
        says(nesting, lambda: outer.__exit__(None, None, None)),
    ]


@program
def control_dependencies_call_functions_eagerly(tf: Any) -> Any:
    calls: list[int] = []

    def enter(inputs: Any) -> None:
        with tf.control_dependencies(inputs):
            calls.append(0)

    def pending() -> None:
        calls.append(1)

    enter([tf.constant(1.0), pending, pending])
    return calls, attempt(lambda: enter(pending))


def test_threads_enter_the_name_scope_of_a_module_side_by_side() -> None:
    module, names = graven.Module(name="n"), []
    both_are_inside = threading.Barrier(2)

    def enter() -> None:
        with module.name_scope as name:
            both_are_inside.wait()
            names.append(name)
        with graven.name_scope("after") as after:
            names.append(after)

    threads = [threading.Thread(target=enter) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(names) == ["after/", "after/", "n/", "n/"]


# --- Variables


@program
def a_variable_that_is_not_lifted_starts_anew_in_each_call(tf: Any) -> Any:
    # It kept its value: 8, 13, 18.
    @tf.function
    def f() -> Any:
        v = tf.Variable(3, experimental_enable_variable_lifting=False)
        v.assign_add(5)
        return v.read_value()

    return [f(), f(), f()]


@program
def the_initial_value_of_a_variable_that_is_not_lifted_is_computed_in_each_call(tf: Any) -> Any:
    @tf.function
    def f(x: Any) -> Any:
        v = tf.Variable(lambda: x * 2, experimental_enable_variable_lifting=False)
        return v.assign_add(1).read_value()

    return [f(tf.constant(1)), f(tf.constant(5))]


SLICES: list[tuple[Any, Any, Any]] = [
    (5, None, [9]),
    (5, ..., 9),
    ([[1, 2, 3], [4, 5, 6]], (1, 2), [66]),
    ([1, 2, 3, 4], slice(1, 3), [[7, 8]]),
    ([1, 2, 3, 4], slice(1, 3), [7]),
    ([1, 2, 3], slice(0, 2), [[[[5]]]]),
    ([[1, 2], [3, 4]], 0, [[7, 8]]),
    ([[1, 2], [3, 4]], slice(0, 1), [[[7, 8]]]),
    ([[1, 2], [3, 4]], (slice(None), 0), [[7], [8]]),
    ([1, 2, 3, 4], slice(1, 3), [1, 2, 3]),
    ([1, 2, 3, 4], slice(1, 3), [[7, 8], [7, 8]]),
    ([1, 2, 3], slice(2, 2), []),
]


@program
def a_slice_of_a_variable_takes_a_value_with_leading_ones(tf: Any) -> Any:
    def assign(initial: Any, key: Any, value: Any) -> Any:
        variable = tf.Variable(initial)
        variable[key].assign(value)
        return variable.read_value()

    return [attempt(functools.partial(assign, *row)) for row in SLICES]


@program
def slices_are_assigned_in_a_function_too(tf: Any) -> Any:
    variable = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def f(x: Any) -> Any:
        variable[1:].assign([x * 9.0])
        variable[0].assign([x])
        return variable + 0.0

    return f(tf.constant(2.0))


@program
def a_variable_may_be_asked_to_be_a_resource(tf: Any) -> Any:
    return tf.Variable(1.0, use_resource=True) + 1.0


@program
def the_text_of_a_variable_that_cannot_be_read(tf: Any) -> Any:
    def broken() -> Any:
        raise ValueError("It cannot be read")

    variable = tf.Variable(1, name="v")
    whole = repr(variable)
    variable.read_value = broken
    return whole, repr(variable)


# --- Tapes


@program
def an_integer_depends_on_itself(tf: Any) -> Any:
    x, v, b = tf.constant(3), tf.Variable(3), tf.constant(True)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        product, read = x * x, v.read_value()
    return [
        tape.gradient(x, x),
        tape.gradient([x, product], [x]),
        tape.gradient([x, x], x, output_gradients=[tf.constant(2), tf.constant(5)]),
        tape.gradient(v, v),
        tape.gradient(read, v),
        tape.gradient(b, b),
        tape.gradient(product, x),
        tape.gradient(tf.constant("a"), x),
    ]


@program
def the_jacobian_of_nothing_has_a_shape(tf: Any) -> Any:
    v, w, x = tf.Variable(1.0), tf.Variable([1.0, 2.0]), tf.ones([3, 0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = v * tf.zeros([0, 7]), x * 2.0
    results = [*tape.jacobian(y, [v, w]), *tape.jacobian(y, [v, w], "zero"), tape.jacobian(z, x)]
    return [None if r is None else [r.shape, r.dtype] for r in results]


# --- Functions


@program
def functions_are_arguments_with_what_they_are_bound_to(tf: Any) -> Any:
    # The method of an instance lost the instance.
    class Scale:
        def __init__(self, factor: float) -> None:
            self.factor = factor

        @tf.function
        def of(self, x: Any) -> Any:
            return x * self.factor

    double, triple = Scale(2.0), Scale(3.0)

    @tf.function
    def apply(f: Any, x: Any) -> Any:
        return f(x) + 1.0

    @tf.function
    def is_it(f: Any) -> Any:
        return tf.constant([f is double.of, isinstance(f, type(apply))])

    one = tf.constant(1.0)
    plain = tf.function(lambda x: x * 5.0)
    results = [apply(f, one) for f in (double.of, double.of, triple.of, plain)]
    called = [op.type for op in apply.get_concrete_function(plain, one).graph.get_operations()]
    return [
        [results, apply.experimental_get_tracing_count()],
        [is_it(double.of), is_it(triple.of)],
        "PartitionedCall" in called,
        says("missing a required argument: 'x'", lambda: apply(Scale.of, one)),
    ]


@program
def a_function_that_is_to_be_compiled_runs(tf: Any) -> Any:
    @tf.function(jit_compile=True)
    def f(x: Any) -> Any:
        return x * 2.0

    return [f(tf.ones([2])), f.get_concrete_function(tf.ones([2])).function_def.attr["_noinline"].b]


@program
def a_concrete_function_says_that_arguments_were_bound(tf: Any) -> Any:
    @tf.function
    def f(a: Any, b: Any) -> Any:
        return a["x"] * b

    vector = tf.ones([2])
    trace = f.get_concrete_function({"x": tf.TensorSpec([2])}, 5)
    failed = "Binding inputs to tf.function failed due to `"
    return [
        says(failed + "Can not cast 8 to Literal[5]`. Received args: (", lambda: trace(vector, 8)),
        says(failed + "Can not cast ", lambda: trace([vector], 5)),
        says(failed, lambda: trace({"y": vector}, 5)),
        says(failed + "Can not cast TensorSpec(shape=(3,)", lambda: trace({"x": tf.ones(3)}, 5)),
        says(failed + "Can not cast ", lambda: trace(a={"x": vector}, b="x")),
        says(failed + "too many positional arguments`", lambda: trace(vector, 5, 6)),
        attempt(lambda: trace({"x": vector}, 5)),
    ]


@program
def what_is_no_function_says_so(tf: Any) -> Any:
    one = tf.TensorSpec([])
    return [
        says("1 is not a callable object", lambda: tf.function(1)),
        says(
            "input_signature missing type constraint for b",
            lambda: tf.function(lambda a, b: a, input_signature=[one]),
        ),
        says(
            "input_signature contains 1 extra type constraints",
            lambda: tf.function(lambda a: a, input_signature=[one, one]),
        ),
    ]


# --- Values that become tensors


class Labelled:
    """A sequence that is looked up by labels, as pandas' series are."""

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[float]:
        return iter([4.0, 5.0])

    def __getitem__(self, label: Any) -> Any:
        raise KeyError(label)


class Counted:
    """A sequence that cannot be iterated over but by numbers."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, i: int) -> int:
        if i > 1:
            raise IndexError
        return i + 10


@program
def sequences_of_all_kinds_become_tensors(tf: Any) -> Any:
    values = [
        Labelled(), [Labelled(), Labelled()], Counted(), collections.deque([1, 2]), range(3),
        collections.UserList([1, 2]), {1: 2}.values(), {1, 2}, {1: 2}, bytearray(b"ab"),
    ]  # fmt: skip
    return [attempt(functools.partial(tf.constant, value)) for value in values]


def scalar(value: Any, dtype: Any = np.int32) -> Any:
    return np.array(value, dtype)


@program
def arrays_of_no_dimensions_are_elements(tf: Any) -> Any:
    lists = [
        [scalar(65), scalar(16)],
        [1, scalar(2)],
        [[scalar(1), scalar(2)], [3, scalar(4)]],
        [scalar(1.0, np.float64), 2.0],
        [scalar(1.5, np.float16)],
        [scalar(1.0, np.float32), scalar(2)],
        [scalar(2, np.int8), scalar(3, np.int64)],
        [scalar(2**40, np.int64)],
        [scalar(True, bool), scalar(False, bool)],
        [scalar(1j, np.complex64)],
        [scalar("a", object), scalar("b", object)],
        [scalar("a", "U")],
    ]
    return [
        *(attempt(functools.partial(tf.convert_to_tensor, value)) for value in lists),
        attempt(lambda: tf.constant([scalar(2), scalar(3)], tf.float32)),
        attempt(lambda: tf.constant([scalar(2.5, float), scalar(3)], tf.int32)),
        tf.function(lambda: tf.constant([scalar(1), scalar(2)]))(),
    ]


@program
def lists_of_tensors_of_several_dtypes(tf: Any) -> Any:
    def results() -> list[Any]:
        one, two, three = tf.constant(1.0), tf.constant(2.0, tf.float64), tf.constant(3)
        convert = tf.convert_to_tensor
        return [
            attempt(lambda: convert([[0.0, 0.0], tf.stack([two, two])], dtype=tf.float32)),
            attempt(lambda: convert([three, one], tf.float32)),
            attempt(lambda: convert([one, three], tf.float32)),
            attempt(lambda: convert([one, two])),
            attempt(lambda: convert([1.5, three])),
            attempt(lambda: convert([1, one])),
        ]

    traced: list[Any] = []

    @tf.function(autograph=False)
    def f() -> Any:
        plain = [result if "Error" in result else None for result in map(str, results())]
        traced.extend(plain)
        return 0

    f()
    return results(), traced


HUGE = 10**310


@program
def integers_that_no_float_holds(tf: Any) -> Any:
    dtypes = [tf.float64, tf.float32, tf.float16, tf.bfloat16, tf.complex128, tf.int64, None]
    return [
        *(says("out-of-range integer", functools.partial(tf.constant, HUGE, d)) for d in dtypes),
        attempt(lambda: tf.constant([HUGE, 1], tf.float64)),
        attempt(lambda: tf.constant([1.0, HUGE])),
        attempt(lambda: tf.constant(1.0) + HUGE),
        attempt(lambda: tf.function(lambda: tf.constant(HUGE, tf.float64), autograph=False)()),
        attempt(lambda: tf.constant(2**64, tf.float64)),
        attempt(lambda: tf.constant(10**40, tf.float32)),
    ]


@program
def integers_of_64_bits_without_a_sign_are_found_in_functions(tf: Any) -> Any:
    top = 2**63
    return [
        tf.function(lambda x: x)(top),
        tf.function(lambda: tf.constant([top, top + 1]))(),
        tf.function(lambda: [top, 1.5, 2**40])(),
        attempt(lambda: tf.constant(top)),
        attempt(lambda: tf.function(lambda x: x)(2 * top)),
        attempt(lambda: tf.function(lambda x: x)(-top - 1)),
    ]


@program
def the_sizes_of_a_shape_are_numbers_to_a_constant(tf: Any) -> Any:
    shape = tf.TensorShape([2, 3])
    return [tf.constant(shape, tf.float32), tf.constant(shape), tf.constant(shape, tf.int64)]


# --- What is a tensor already


@program
def a_tensor_is_converted_to_itself(tf: Any) -> Any:
    # What was set on a tensor, such as Keras's masks, was lost.
    x, convert = tf.constant([1.0]), tf.convert_to_tensor
    results = [
        convert(x) is x, convert(x, tf.float32) is x, convert(x, "float32") is x,
        convert(x, dtype_hint=tf.int32) is x, convert(x, name="x") is x, tf.constant(x) is x,
        tf.constant(x, tf.float32) is x, attempt(lambda: convert(x, tf.int32)),
    ]  # fmt: skip

    @tf.function(autograph=False)
    def f(y: Any) -> Any:
        results.append(convert(y) is y)
        return convert(x) * y

    return results, f(x)


@program
def a_symbolic_dense_shape_is_known_in_part(tf: Any) -> Any:
    shapes = []

    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        wide = functools.partial(tf.constant, dtype=tf.int64)
        dense = [
            [x, wide(3)],
            [x, -1],
            tf.stack([x, wide(4)]),
            tf.shape(tf.zeros([2, 3]), tf.int64),
        ]
        for sizes in [*dense, tf.concat([[x], [wide(5)]], 0), [-1, 5]]:
            shapes.append(str(tf.SparseTensor([[0, 2]], [1], sizes).shape))
        return x

    f(tf.constant(2, tf.int64))
    return shapes


# --- Operators and numbers


def reflecting() -> Any:
    names = ["add", "sub", "mul", "truediv", "floordiv", "mod"]
    names += ["pow", "matmul", "and", "or", "xor"]
    methods = {f"__r{name}__": lambda self, other, name=name: name for name in names}
    return type("Reflecting", (), methods)()


class Failing:
    def __radd__(self, other: Any) -> Any:
        raise KeyError("of one's own")

    def __rsub__(self, other: Any) -> Any:
        raise TypeError("of one's own")

    def __rmul__(self, other: Any) -> Any:
        return NotImplemented


@program
def an_object_on_the_right_answers_where_it_is_no_tensor(tf: Any) -> Any:
    x, v, own, failing = tf.ones([1]), tf.Variable([1.0]), reflecting(), Failing()
    convert = "Attempt to convert a value"
    return [
        *([f(x, own), f(v, own)] for f in BINARY),
        tf.function(lambda y: [y + own == "add"] and y)(x),
        attempt(lambda: x + failing),
        says(convert, lambda: x - failing),
        says(convert, lambda: x * failing),
        says(convert, lambda: x + object()),
        says(convert, lambda: object() + x),
        attempt(lambda: tf.constant(1) - 2.5),
    ]


BINARY: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / y,
    lambda x, y: x // y,
    lambda x, y: x % y,
    lambda x, y: x**y,
    lambda x, y: x @ y,
    lambda x, y: x & y,
    lambda x, y: x | y,
    lambda x, y: x ^ y,
]


@program
def tensors_become_numbers_of_python(tf: Any) -> Any:
    with np.testing.suppress_warnings() as warnings:
        warnings.filter(np.exceptions.ComplexWarning)
        return [
            int(tf.constant(3 + 0j)),
            float(tf.constant(3 + 4j)),
            float(tf.Variable(1 + 2j)),
            complex(tf.constant(3 + 4j)),
            int(tf.constant("12")),
            attempt(lambda: float(tf.constant([1.0]))),
        ]


@program
def nothing_is_false(tf: Any) -> Any:
    return [
        *(bool(tf.zeros([0], dtype)) for dtype in (tf.float32, tf.bool, tf.string)),
        bool(tf.zeros([0, 3])),
        not tf.Variable(tf.zeros([0])),
        bool(tf.constant([[1]])),
        attempt(lambda: bool(tf.constant([1, 2]))),
    ]


# --- DLPack


PLAIN = [*INTEGERS, "float16", "float32", "float64", "bool", "complex64", "complex128"]


@program
def other_libraries_read_tensors_without_a_copy(tf: Any) -> Any:
    def arrays(x: Any) -> Any:
        array = np.from_dlpack(x)
        return [array.tolist(), array.shape, array.dtype.name, array.flags.writeable]

    return [
        *(arrays(tf.cast(tf.constant([[1, 2], [3, 0]]), dtype)) for dtype in PLAIN),
        arrays(tf.constant(1.0)),
        np.from_dlpack(tf.zeros([0, 2])).shape,
        tf.constant([1.0]).__dlpack_device__(),
        attempt(lambda: np.from_dlpack(tf.constant([1.0]), copy=True)),
        attempt(lambda: np.from_dlpack(tf.zeros([2], tf.bfloat16))),
        attempt(lambda: np.from_dlpack(tf.Variable([1.0]))),
        tf.function(lambda x: [hasattr(x, "__dlpack__")] == [False] and x)(tf.constant([1.0])),
    ]


def test_an_array_of_a_tensor_outlives_it() -> None:
    array = np.from_dlpack(graven.constant([1.0, 2.0]) + 1.0)
    noise = [graven.zeros([2]) + 9.0 for _ in range(100)]
    assert array.tolist() == [2.0, 3.0] and len(noise) == 100


def test_a_capsule_that_nobody_takes_and_a_dtype_that_has_none() -> None:
    capsule = graven.constant([1.0]).__dlpack__(max_version=(1, 0), dl_device=(1, 0), copy=False)
    assert '"dltensor"' in repr(capsule)
    with pytest.raises(BufferError, match="dtype string"):
        graven.constant("a").__dlpack__()
    with pytest.raises(BufferError, match=r"not to \(2, 0\)"):
        graven.constant(1.0).__dlpack__(dl_device=(2, 0))


# --- Arrays, indices and texts


@program
def tensors_that_no_array_holds(tf: Any) -> Any:
    deep, wide = tf.constant(1.0, shape=[1] * 65), tf.ones((0, 2**31, 2**31))
    most = "NumPy arrays can have at most 64 dimensions"
    return [
        says(most, deep.numpy),
        says(most, lambda: repr(deep)),
        says(most, lambda: np.array(deep)),
        says(most, tf.ones([1] * 65, tf.bfloat16).numpy),
        tf.constant(1.0, shape=[1] * 64).numpy().ndim,
        says("Failed to create numpy array from tensor of shape", wide.numpy),
        says("Failed to create numpy array from tensor of shape", lambda: repr(wide)),
    ]


@program
def indices_have_64_bits(tf: Any) -> Any:
    x = tf.constant([1])
    return [
        says("out-of-range integer", lambda: x[2**64 :]),
        says("out-of-range integer", lambda: x[2**63]),
        says("out-of-range integer", lambda: x[:: -(2**64)]),
        attempt(lambda: x[2**40 :]),
        attempt(lambda: x[2**40]),
    ]


@program
def a_scalar_has_no_slices(tf: Any) -> Any:
    x = tf.constant(1.0)
    return [
        says("Attempting to slice scalar input", lambda: x[0]),
        says("Attempting to slice scalar input", lambda: x[..., 0]),
        says("Attempting to slice scalar input", lambda: tf.Variable(1.0)[0]),
        says("Attempting to slice scalar input", lambda: tf.function(lambda y: y[0])(x)),
        attempt(lambda: x[...]),
        attempt(lambda: x[None]),
    ]


@program
def a_symbolic_tensor_has_no_value_to_format(tf: Any) -> Any:
    x = tf.constant(1.0)

    def formatted(specification: str) -> Any:
        f = tf.function(lambda y: tf.constant(format(y, specification)), autograph=False)
        return says("unsupported format string passed to SymbolicTensor", lambda: f(x))

    return [formatted(""), formatted(".2f"), formatted(">80"), f"{x:.2f}"]


# --- Structures


Pair = collections.namedtuple("Pair", "a b")

DIFFERENT: list[tuple[Any, Any, str]] = [
    ([1], 2, 'Substructure "type=list str=[1]" is a sequence, while substructure "type=int str=2"'),
    ([1, [2]], [[1], 2], '"type=list str=[1]" is a sequence, while substructure "type=int str=1"'),
    ([1], None, 'while substructure "type=NoneType str=None" is not'),
    ([1, 2], (1, 2), "First structure: type=list str=[1, 2]\n\nSecond structure: type=tuple str="),
    ({"a": [1]}, {"a": (1,)}, "Entire first structure:\n{'a': [.]}\nEntire second structure:\n"),
    ([1, [2, 3]], [1, [2, 3, 4]], "Second structure: type=list str=[2, 3, 4]"),
    ([1, [2, 3]], [1, [2, 3, 4]], "Entire second structure:\n[., [., ., .]]"),
    ([1, 2], [1, 2, 3], "The two structures don't have the same number of elements."),
    ({"a": 1}, {"b": 1}, "has keys type=list str=['a'], while second structure has keys type="),
    ({"a": 1}, {"a": 1, "b": 2}, "The two dictionaries don't have the same set of keys."),
    (Pair(1, 2), (1, 2), "Entire first structure:\nPair(a=., b=.)"),
    ([], (), "same sequence type. First"),
]


@program
def structures_that_differ_are_described(tf: Any) -> Any:
    same = tf.nest.assert_same_structure
    return [says(phrase, functools.partial(same, a, b)) for a, b, phrase in DIFFERENT]


@program
def structures_are_the_same_whatever_their_types(tf: Any) -> Any:
    same = functools.partial(tf.nest.assert_same_structure, check_types=False)
    return [
        attempt(lambda: same([1], (1,))),
        attempt(lambda: same({"a": 1}, [1])),
        attempt(lambda: same({"a": 1, "b": 2}, {"a": 1, "c": 2})),
        attempt(lambda: same({"a": 1}, [1, 2])),
        attempt(lambda: same({"a": 1}, 1)),
    ]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program_does_what_it_does_in_tensorflow(f: Program) -> None:
    assert plain(f(graven)) == plain(f(tensorflow))
