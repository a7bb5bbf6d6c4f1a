"""Budgets of caches: what is kept, what goes, and that results stay right."""

import gc
import logging
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import graven as tf
import pytest

WHY = ["why", "traced"]  # the last column of a table


def function(*arguments: Any, **options: Any) -> Any:
    """tf.function that has a trace for each shape, by a dict of options."""
    return tf.function(*arguments, **{"reduce_retracing": False, **options})


def shapes_called(f: Any, number: int) -> None:
    for n in range(1, number + 1):
        assert f(tf.fill([n], 2.0)).numpy().tolist() == [5.0] * n


def double(x: Any) -> Any:
    return x * 2.0 + 1.0


def test_ten_thousand_shapes_leave_ten_traces(caplog: Any) -> None:
    f = function(double, max_traces=10)
    for n in range(1, 10_001):
        y = f(tf.ones([n % 100 + 1, n // 100 + 1]))
        assert n % 500 or f.cache_info().entries == 10
        assert y.shape == [n % 100 + 1, n // 100 + 1] and float(y[0, 0]) == 3.0
    info = f.cache_info()
    assert (info.entries, info.traces, info.evictions) == (10, 10_000, 9990)
    assert "made again" not in caplog.text  # none was
    assert len(info.gone) == 64 and {gone.why for gone in info.gone} == {"max_traces=10"}


def test_ten_thousand_shapes_stay_within_max_bytes() -> None:
    f = function(double, max_bytes=200_000)
    for n in range(1, 10_001):
        assert float(f(tf.ones([n % 100 + 1, n // 100 + 1]))[0, 0]) == 3.0
        if n % 500 == 0:
            info = f.cache_info()
            assert info.bytes <= 200_000 and info.entries > 5
    assert {gone.why for gone in f.cache_info().gone} == {"max_bytes=200000"}


def test_results_are_right_while_traces_come_and_go() -> None:
    f = function(lambda x, n: x * float(n) + float(x.shape[0]), max_traces=3)
    for k in range(200):
        n, size = k % 7, k % 5 + 1
        assert f(tf.fill([size], 2.0), n).numpy().tolist() == [2.0 * n + size] * size
    assert f.cache_info().entries == 3


def test_without_a_budget_nothing_goes() -> None:
    f = function(double)
    shapes_called(f, 200)
    info = f.cache_info()
    assert (info.entries, info.evictions, info.gone) == (200, 0, ())
    assert (info.max_traces, info.max_bytes) == (None, None)


def test_a_type_that_is_called_more_often_gets_the_place() -> None:
    f = function(double, max_traces=1)
    for _ in range(5):
        f(tf.ones([1]))
    for _ in range(60):
        f(tf.ones([2]))
    (kept,) = f.cache_info().signatures
    assert "shape=(2,)" in kept.signature
    traces = f.experimental_get_tracing_count()
    f(tf.ones([2]))
    assert f.experimental_get_tracing_count() == traces


def test_a_budget_smaller_than_one_trace_runs_each_call_and_keeps_none() -> None:
    f = function(double, max_bytes=1)
    for _ in range(2):
        shapes_called(f, 3)
    info = f.cache_info()
    assert (info.entries, info.traces, info.hits) == (0, 6, 0)


def test_nested_functions_have_budgets_of_their_own() -> None:
    inner = function(lambda x: x * 3.0, max_traces=2)
    outer = function(lambda x: inner(x) + 1.0, max_traces=2)
    for _ in range(3):
        for n in range(1, 8):
            assert outer(tf.ones([n])).numpy().tolist() == [4.0] * n
    assert outer.cache_info().entries == 2
    outer.clear_cache()
    gc.collect()
    inner(tf.ones([99]))  # graphs that called them are gone
    assert inner.cache_info().entries == 2


def test_a_trace_that_a_live_graph_calls_stays() -> None:
    inner = function(lambda x: x * 3.0, max_traces=1)
    outer = function(lambda x: inner(x) + 1.0)
    for n in range(1, 5):
        outer(tf.ones([n]))
    assert inner.cache_info().entries == 4
    outer.clear_cache()
    gc.collect()
    inner(tf.ones([9]))
    assert inner.cache_info().entries == 1


@pytest.mark.parametrize("options", [{"max_traces": 1}, {"max_bytes": 1}])
def test_variables_are_created_once_whatever_goes(options: dict[str, int]) -> None:
    made: list[Any] = []

    @function(**options)  # type: ignore[untyped-decorator]
    def f(x: Any) -> Any:
        if not made:
            made.append(tf.Variable(10.0))
        return made[0].assign_add(1.0) + x

    results = [float(f(tf.zeros([]))), float(tf.reduce_max(f(tf.zeros([2]))))]
    for n in range(3, 8):
        results.append(float(tf.reduce_max(f(tf.zeros([n])))))
    f.clear_cache()
    results.append(float(f(tf.zeros([]))))
    assert results == [11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0]
    assert len(made) == 1


def test_variables_whose_first_values_depend_on_arguments_survive_clear_cache() -> None:
    made: list[Any] = []

    @function(max_traces=1)  # type: ignore[untyped-decorator]
    def f(x: Any) -> Any:
        if not made:
            made.append(tf.Variable(x * 2.0))
        return made[0] + x

    assert float(f(tf.constant(3.0))) == 9.0
    f.clear_cache()
    assert float(f(tf.constant(1.0))) == 7.0


def test_creating_variables_again_is_refused_after_clear_cache_too() -> None:
    @function
    def f(x: Any) -> Any:
        return tf.Variable(1.0) + x

    with pytest.raises(ValueError, match="singleton"):
        f(1.0)
    f.clear_cache()
    with pytest.raises(ValueError, match="singleton"):
        f(1.0)


def test_a_concrete_function_that_is_held_stays_in_the_cache() -> None:
    f = function(double, max_traces=2)
    held = f.get_concrete_function(tf.TensorSpec([3]))
    shapes_called(f, 20)
    assert f.get_concrete_function(tf.TensorSpec([3])) is held
    assert any("shape=(3,)" in trace.signature for trace in f.cache_info().signatures)
    many = [f.get_concrete_function(tf.TensorSpec([n])) for n in range(30, 35)]
    assert f.cache_info().entries >= 6  # more than two are held
    del many, held
    gc.collect()
    shapes_called(f, 1)
    assert f.cache_info().entries <= 2


def test_a_tape_gives_gradients_through_a_trace_that_went() -> None:
    f = function(lambda x: x * x * x, max_traces=1)
    x = tf.constant([2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        dx = inner.gradient(y, x)
    for n in range(3, 9):
        f(tf.ones([n]))
    f.clear_cache()
    gc.collect()
    assert tape.gradient(y, x).numpy().tolist() == [12.0, 27.0]
    assert tape.gradient(dx, x).numpy().tolist() == [12.0, 18.0]


def test_bytes_that_a_gradient_adds_are_counted_when_the_next_traces_come() -> None:
    f = function(lambda x: tf.tanh(x) * x, max_bytes=60_000)
    for _ in range(3):
        for n in range(1, 9):
            x = tf.ones([n])
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            assert tape.gradient(y, x).shape == [n]
    for n in range(20, 30):
        f(tf.ones([n]))
    assert f.cache_info().bytes <= 60_000


def test_captured_tensors_do_not_count_for_max_bytes() -> None:
    table = tf.ones([100_000])
    f = function(lambda x: x + table[0], max_bytes=100_000)
    for _ in range(2):
        f(tf.ones([2]))
    info = f.cache_info()
    assert info.hits == 1 and info.captured_bytes >= 400_000
    assert info.bytes - info.captured_bytes <= 100_000
    of_process = tf.config.trace_cache_info()
    assert info.captured_bytes in [row.captured_bytes for row in of_process.functions]
    assert of_process.captured_bytes == sum(row.captured_bytes for row in of_process.functions)


def test_clear_cache_drops_all_and_keeps_counts_and_history() -> None:
    f = function(double)
    shapes_called(f, 3)
    shapes_called(f, 3)
    f.clear_cache()
    info = f.cache_info()
    assert (info.entries, info.traces, info.hits, info.misses) == (0, 3, 3, 3)
    assert [gone.why for gone in info.gone] == ["cleared"] * 3
    shapes_called(f, 1)
    (again,) = f.cache_info().signatures
    assert again.why == "no trace was left: all went"


def test_clear_cache_within_a_trace_keeps_that_trace_and_drops_the_others() -> None:
    @function
    def f(x: Any) -> Any:
        f.clear_cache()
        return x + 1.0

    for n in range(1, 4):
        assert f(tf.zeros([n])).numpy().tolist() == [1.0] * n
        (kept,) = f.cache_info().signatures
        assert f"shape=({n},)" in kept.signature
    assert f(tf.zeros([3])).shape == [3]
    assert f.cache_info().hits == 1


def test_clear_cache_frees_what_only_a_trace_captured() -> None:
    @function
    def f(x: Any) -> Any:
        with tf.init_scope():
            table = tf.ones([10_000])
        return x + table

    in_use = tf.config.experimental.get_memory_info
    before = in_use("CPU:0")["current"]
    f(tf.ones([]))
    assert in_use("CPU:0")["current"] >= before + 40_000
    f.clear_cache()
    gc.collect()
    assert in_use("CPU:0")["current"] < before + 20_000


def test_methods_have_budgets_per_instance() -> None:
    class Model:
        @function(max_traces=2)  # type: ignore[untyped-decorator]
        def call(self, x: Any) -> Any:
            return x * 2.0

    models = [Model(), Model()]
    for model in models:
        for n in range(1, 6):
            model.call(tf.ones([n]))
        info = model.call.cache_info()
        assert (info.entries, info.max_traces) == (2, 2)
    models[0].call.clear_cache()
    assert models[0].call.cache_info().entries == 0
    assert models[1].call.cache_info().entries == 2


def test_traces_of_objects_go_with_them_and_say_so() -> None:
    class Thing:
        pass

    f = function(lambda thing, x: x)
    f(Thing(), 1.0)
    gc.collect()
    (gone,) = f.cache_info().gone
    assert gone.why == "an object of it died"


def test_memory_does_not_grow_with_the_traces_that_went() -> None:
    import resource

    f = function(lambda x, n: x * float(n), max_traces=4)
    for n in range(500):
        f(1.0, n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for n in range(500, 6000):
        f(1.0, n)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before <= 2048  # KiB


# --- What is said


@pytest.mark.parametrize(
    "arguments, reason",
    [
        ([([1.0], 1), ([1.0, 2.0], 1)], "x: TensorSpec(shape=(2,)"),
        ([([1.0], 1), ([1.0], 2)], "n: 2, was 1"),
        ([([1.0], 1), ([1.0], "a")], "n: 'a', was 1"),
        ([([1.0], [1, {"k": 2}]), ([1.0], [1, {"k": 3}])], "n[1]['k']: 3, was 2"),
        ([([1.0], [1]), ([1.0], [1, 2])], "n: a list of 2 items, was a list of 1 items"),
        ([([1.0], 1), ([1.0, 2.0], 2)], "(and 1 more)"),
        ([([1.0], object()), ([1.0], object())], "n: another object"),
    ],
)
def test_the_reason_of_a_trace_names_what_differs(arguments: Any, reason: str) -> None:
    f = function(lambda x, n: x)
    kept = [f.get_concrete_function(tf.constant(x), n) for x, n in arguments]
    first, second = f.cache_info().signatures
    assert first.why == "the first trace"
    assert reason in second.why
    del kept


def test_the_nearest_trace_is_the_one_compared_with() -> None:
    f = function(lambda x, y, n: x)
    f(tf.ones([1]), tf.ones([1]), 1)
    f(tf.ones([2]), tf.ones([2]), 2)
    f(tf.ones([1]), tf.ones([1]), 3)
    assert f.cache_info().signatures[2].why == "n: 3, was 1"


def test_objects_are_not_compared_for_a_reason() -> None:
    class Equal:
        comparisons = 0

        def __eq__(self, other: object) -> bool:
            Equal.comparisons += 1
            return self is other

        def __hash__(self) -> int:
            return 1

    f = function(lambda x, y: x)
    things = [Equal() for _ in range(10)]
    for thing in things:
        f(1.0, thing)
    # Only the search for a trace compares: with each of the traces before, both ways.
    assert Equal.comparisons <= 90
    assert f.cache_info().signatures[9].why == "y: another object"


def test_cache_info_prints_a_table() -> None:
    @function(max_traces=2)  # type: ignore[untyped-decorator]
    def area(x: Any, scale: Any) -> Any:
        return x * scale

    for n in range(1, 5):
        area(tf.ones([n, 2]), 2)
    area(tf.ones([1, 2]), 2)
    lines = str(area.cache_info()).splitlines()
    assert lines[0].startswith("area: 2 traces of 4 ever made, ")
    assert lines[0].endswith("; 1 hit, 4 misses, 2 traces gone; max_traces=2")
    assert lines[1].split() == ["hits", "age", "trace", "ms", "bytes", "signature", *WHY]
    assert "(x: float32[1, 2], scale: Literal[2])" in lines[2]
    assert lines[3].endswith("x: float32[2, 2], was float32[1, 2]")
    assert lines[4] == "Gone, the last 2:"
    assert lines[6].endswith("max_traces=2")


def test_traces_that_must_be_made_again_are_reported_once(caplog: Any) -> None:
    f = function(double, max_traces=2)
    with caplog.at_level(logging.WARNING, "graven"):
        shapes_called(f, 8)
        assert "made again" not in caplog.text
        for _ in range(3):
            shapes_called(f, 8)
    told = [r.getMessage() for r in caplog.records if "made again" in r.getMessage()]
    assert len(told) == 1
    for advice in ("max_traces=2", "input_signature", "reduce_retracing=True", "docs/cache.md"):
        assert advice in told[0]


# --- Bad arguments


@pytest.mark.parametrize("name", ["max_traces", "max_bytes"])
@pytest.mark.parametrize("given", [0, -1, 1 << 63])
def test_a_budget_that_is_not_positive_is_a_value_error(name: str, given: int) -> None:
    with pytest.raises(
        ValueError, match=f"{name} must be positive and below 2\\*\\*63, not {given}"
    ):
        function(double, **{name: given})


@pytest.mark.parametrize("name", ["max_traces", "max_bytes"])
@pytest.mark.parametrize("given", [True, 1.5, "10", [1]])
def test_a_budget_that_is_no_int_is_a_type_error(name: str, given: Any) -> None:
    with pytest.raises(TypeError, match=f"{name} must be a positive int or None, not "):
        function(double, **{name: given})


def test_a_run_that_fails_leaves_the_cache_within_its_budget() -> None:
    @function(max_traces=2)  # type: ignore[untyped-decorator]
    def f(x: Any) -> Any:
        tf.debugging.assert_positive(x)
        return x

    for n in range(1, 9):
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(-tf.ones([n]))
    assert f.cache_info().entries == 2


# --- The budget of the process


@pytest.fixture
def process_limit() -> Iterator[None]:
    before = tf.config.get_trace_cache_bytes()
    yield
    tf.config.set_trace_cache_bytes(before)


def test_the_limit_of_the_process_is_a_quarter_of_that_of_tensors_until_it_is_set() -> None:
    code = (
        "import graven as tf\n"
        "tf.config.set_memory_limit(1 << 30)\n"
        "print(tf.config.get_trace_cache_bytes())\n"
        "tf.config.set_trace_cache_bytes(12345)\n"
        "print(tf.config.get_trace_cache_bytes())"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [str(1 << 28), "12345"]


@pytest.mark.usefixtures("process_limit")
def test_functions_share_the_limit_of_the_process() -> None:
    functions = [function(lambda x, k=k: x * float(k)) for k in range(3)]
    gc.collect()
    held = tf.config.trace_cache_info()
    tf.config.set_trace_cache_bytes(held.bytes - held.captured_bytes + 200_000)
    for n in range(1, 201):
        for k, f in enumerate(functions):
            assert f(tf.ones([n])).numpy().tolist() == [float(k)] * n
    info = tf.config.trace_cache_info()
    assert info.bytes - info.captured_bytes <= info.limit
    assert sum(f.cache_info().entries for f in functions) < 100
    (why,) = {gone.why for f in functions for gone in f.cache_info().gone}
    assert why == f"set_trace_cache_bytes({info.limit})"


@pytest.mark.usefixtures("process_limit")
def test_functions_that_are_gone_take_nothing_from_the_limit_of_the_process() -> None:
    gc.collect()
    held = tf.config.trace_cache_info()
    tf.config.set_trace_cache_bytes(held.bytes - held.captured_bytes + 100_000)
    for k in range(100):
        function(lambda x, k=k: x + float(k))(1.0)
        gc.collect(0)
    kept = function(lambda x: x * 2.0)
    for n in range(1, 4):
        kept(tf.ones([n]))
    assert kept.cache_info().evictions == 0 and kept.cache_info().entries == 3


@pytest.mark.usefixtures("process_limit")
def test_a_function_that_is_called_keeps_its_trace_when_another_one_floods_the_process() -> None:
    hot, flood = function(lambda x: x + 1.0), function(lambda x, n: x * float(n))
    for _ in range(500):
        hot(1.0)
    gc.collect()
    held = tf.config.trace_cache_info()
    tf.config.set_trace_cache_bytes(held.bytes - held.captured_bytes + 100_000)
    for n in range(300):
        flood(1.0, n)
        hot(1.0)
    assert hot.experimental_get_tracing_count() == 1
    assert flood.cache_info().evictions > 250


@pytest.mark.usefixtures("process_limit")
def test_traces_that_the_process_must_make_again_are_reported_once(caplog: Any) -> None:
    f = function(lambda x, n: x * float(n))
    gc.collect()
    held = tf.config.trace_cache_info()
    tf.config.set_trace_cache_bytes(held.bytes - held.captured_bytes + 50_000)
    with caplog.at_level(logging.WARNING, "graven"):
        for k in range(100):
            f(1.0, k % 20)
    told = [r.getMessage() for r in caplog.records if "made again" in r.getMessage()]
    assert len(told) == 1 and "config.set_trace_cache_bytes" in told[0]


def test_the_functions_of_the_process_are_listed() -> None:
    def listed_by_its_name(x: Any) -> Any:
        return x

    f = function(listed_by_its_name)
    f(1.0)
    f(1.0)
    info = tf.config.trace_cache_info()
    (row,) = [row for row in info.functions if row.name == "listed_by_its_name"]
    assert (row.entries, row.traces, row.hits, row.misses, row.evictions) == (1, 1, 1, 1, 0)
    assert row.bytes == f.cache_info().bytes
    assert info.bytes >= row.bytes and "kernels of bodies" in info.beside
    lines = str(info).splitlines()
    assert lines[0].startswith(f"{len(info.functions)} Function")
    assert any(line.endswith(" listed_by_its_name") for line in lines)
    del f
    gc.collect()
    names = [row.name for row in tf.config.trace_cache_info().functions]
    assert "listed_by_its_name" not in names


def test_functions_made_and_dropped_leave_nothing_behind() -> None:
    gc.collect()
    before = len(tf.config.trace_cache_info().functions)
    for k in range(300):
        function(lambda x, k=k: x + float(k), max_traces=2)(1.0)
    gc.collect()
    assert len(tf.config.trace_cache_info().functions) == before


@pytest.mark.parametrize("given", [0, -5, 1 << 63])
def test_a_limit_of_the_process_that_is_not_positive_is_a_value_error(given: int) -> None:
    with pytest.raises(ValueError, match="num_bytes must be positive and below 2\\*\\*63, not"):
        tf.config.set_trace_cache_bytes(given)


@pytest.mark.parametrize("given", [True, 1.5, "1", None])
def test_a_limit_of_the_process_that_is_no_int_is_a_type_error(given: Any) -> None:
    with pytest.raises(TypeError, match="num_bytes must be a positive int, not "):
        tf.config.set_trace_cache_bytes(given)


# --- The policy, on real traces. graven/function/budget_test.cc has it on simulated ones.


def hit_rate(f: Any, types: list[int]) -> float:
    before = f.cache_info().hits
    for n in types:
        f(1.0, n)
    return float(f.cache_info().hits - before) / len(types)


def test_twenty_types_in_turn_do_not_thrash_ten_places() -> None:
    f = function(lambda x, n: x * float(n), max_traces=10)
    assert hit_rate(f, [i % 20 for i in range(2000)]) >= 0.45


# --- Users' TraceTypes


def test_types_of_users_are_remembered_by_their_hash() -> None:
    class Tag(tf.types.experimental.TraceType):
        def __init__(self, name: str) -> None:
            self.name = name

        def is_subtype_of(self, other: Any) -> bool:
            return bool(self == other)

        def most_specific_common_supertype(self, others: Any) -> Any:
            return self if all(self == other for other in others) else None

        def placeholder_value(self, context: Any = None) -> Any:
            return self.name

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Tag) and self.name == other.name

        def __hash__(self) -> int:
            return hash(self.name)

    class Tagged:
        def __init__(self, name: str) -> None:
            self.name = name

        def __tf_tracing_type__(self, context: Any) -> Any:
            return Tag(self.name)

    f = function(lambda tag, x: x, max_traces=1)
    for _ in range(4):
        f(Tagged("a"), 1.0)
    for _ in range(40):
        f(Tagged("b"), 1.0)
    traces = f.experimental_get_tracing_count()
    f(Tagged("b"), 1.0)
    assert f.experimental_get_tracing_count() == traces
