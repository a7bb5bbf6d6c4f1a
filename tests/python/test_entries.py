"""How traces are found among many, and how they go."""

import collections
import gc
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import graven as tf
import pytest


class Thing:
    pass


class Metaclass(type):
    pass


class WithMetaclass(metaclass=Metaclass):
    pass


class Equal:
    def __init__(self, key: int) -> None:
        self.key = key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equal) and self.key == other.key

    def __hash__(self) -> int:
        return self.key


def traces(f: Any) -> int:
    count: int = f.experimental_get_tracing_count()
    return count


def test_thousands_of_traces_are_all_found() -> None:
    f = tf.function(lambda x, n: tf.constant(n))
    for _ in range(2):
        assert [int(f(1.0, n)) for n in range(3000)] == list(range(3000))
    assert traces(f) == 3000


def test_a_new_length_of_a_general_trace_is_remembered_nowhere() -> None:
    f = tf.function(lambda x, n: x * 2.0, reduce_retracing=True)
    for length in (1, 2):
        f(tf.ones([length]), 7)
    before = f.cache_info()
    for length in range(3, 2000):
        f(tf.ones([length]), 7)
    after = f.cache_info()
    assert (after.traces, after.entries, after.bytes) == (2, 2, before.bytes)
    assert after.hits - before.hits == 1997


@pytest.mark.parametrize(
    "signature, arguments",
    [
        ([tf.TensorSpec([None])], lambda n: [tf.ones([n])]),
        ([[tf.TensorSpec([None])]], lambda n: [[tf.ones([n])]]),
        ([{"a": tf.TensorSpec([None], name="named")}], lambda n: [{"a": tf.ones([n])}]),
    ],
    ids=["tensor", "list", "dict"],
)
def test_a_signature_takes_all_lengths_without_python_code(signature: Any, arguments: Any) -> None:
    f = tf.function(lambda x: tf.nest.flatten(x)[0] * 2.0, input_signature=signature)
    for length in (1, 2):
        f(*arguments(length))
    before = f.cache_info().bytes
    given, events = arguments(1500), []
    sys.setprofile(lambda frame, event, _: events.append(event))
    try:
        f(*given)
    finally:
        sys.setprofile(None)
    assert "call" not in events
    assert traces(f) == 1 and f.cache_info().bytes == before


def test_a_signature_takes_lists_and_tensors_in_turn() -> None:
    f = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([None])])
    for values in ([1.0], tf.ones([2]), [1.0, 2.0, 3.0], tf.ones([4])):
        assert len(f(values)) == len(values)
    assert traces(f) == 1


def test_dicts_of_all_classes_share_a_trace() -> None:
    class Bag(Mapping[str, Any]):
        def __init__(self, pairs: Any = ()) -> None:
            pass

        def __getitem__(self, key: str) -> Any:
            return {"a": 1.0, "b": tf.constant(2.0)}[key]

        def __iter__(self) -> Any:
            return iter(["b", "a"])

        def __len__(self) -> int:
            return 2

    b = tf.constant(2.0)
    makers: list[Any] = [
        lambda: {"a": 1.0, "b": b},
        lambda: {"b": b, "a": 1.0},
        lambda: collections.OrderedDict(b=b, a=1.0),
        Bag,
    ]
    for first in makers:
        f = tf.function(lambda d: d["b"] + d["a"])
        for make in [first, *makers, *makers]:
            assert float(f(make())) == 3.0
        assert traces(f) == 1


def test_numbers_that_words_cannot_say_have_the_traces_that_others_have() -> None:
    numbers = (2.0**70, 2**70, 2**70, 2.0**70, 2**62, 2.0**62)
    # In TensorFlow's profile equal ones share a trace, by default those of a type do.
    f = tf.function(lambda n: tf.constant(0), stale="ignore", reduce_retracing=False)
    g = tf.function(lambda n: tf.constant(0))
    for number in numbers:
        f(number)
        g(number)
    assert traces(f) == 2
    assert traces(g) == 4


def test_numbers_of_other_types_have_traces_of_their_own() -> None:
    f = tf.function(lambda n: tf.constant(n))
    for number, dtype in ((1, tf.int32), (1.0, tf.float32), (True, tf.bool), (1, tf.int32)):
        assert f(number).dtype == dtype
    assert traces(f) == 3
    g = tf.function(lambda n: tf.constant(1.0) / n)
    assert [float(g(0.0)), float(g(-0.0))] == [float("inf"), float("-inf")]


def test_equal_objects_share_a_trace_until_the_first_goes() -> None:
    f = tf.function(lambda o: tf.constant(0))
    first, second = Equal(1), Equal(1)
    for thing in (first, second, Equal(1), first):
        f(thing)
    assert traces(f) == 1
    del first, thing
    gc.collect()
    f(second)
    assert traces(f) == 2


@pytest.mark.parametrize("kind", [Thing, WithMetaclass])
def test_the_trace_of_an_object_goes_when_the_object_does(kind: Any) -> None:
    f = tf.function(lambda o, x: x + 1.0)
    for _ in range(3):
        f(tf.constant, 1.0)
    thing = kind()
    for _ in range(3):
        f(thing, tf.constant(1.0))
    assert f.cache_info().entries == 2
    del thing
    gc.collect()
    info = f.cache_info()
    assert (info.entries, info.traces, info.evictions, info.hits) == (1, 2, 1, 4)


def test_objects_that_come_and_go_leave_nothing_behind() -> None:
    f = tf.function(lambda o, x: x + 1.0)
    sizes = []
    for _ in range(3):
        for _ in range(300):
            f(Thing(), tf.constant(1.0))
        sizes.append(f.cache_info().bytes)
    assert f.cache_info().entries == 0
    assert sizes[2] == sizes[0]


def test_the_traces_of_objects_that_die_together_go_with_them() -> None:
    f = tf.function(lambda o, x: x + 1.0)
    x = tf.constant(1.0)

    def call(number: int) -> None:
        things = [Thing() for _ in range(number)]
        for thing in things:
            f(thing, x)
        info = f.cache_info()
        assert info.entries == number and info.bytes > 1000 * number

    for _ in range(3):
        call(1000)
        info = f.cache_info()
        # 10 KB for each trace while it lives; what is left is that of one at most.
        assert info.entries == 0 and info.bytes < 10_000


def test_the_trace_of_an_object_in_a_list_goes_too() -> None:
    f = tf.function(lambda items: items[1] + 1.0)
    items = [Thing(), tf.constant(1.0)]
    f(items)
    assert f.cache_info().entries == 1
    items[0] = None
    f(items)
    assert f.cache_info().entries == 1 and traces(f) == 2


def test_an_object_may_go_while_its_trace_runs() -> None:
    held = [Thing()]

    @tf.function
    def f(thing: Any, x: Any) -> Any:
        del thing
        held.clear()
        return x + 1.0

    # The call's own list of arguments is the last to hold the object.
    assert float(f(*[held[0], tf.constant(1.0)])) == 2.0
    gc.collect()
    assert f.cache_info().entries == 0


def test_a_trace_may_be_dropped_at_any_time() -> None:
    @tf.function
    def f(x: Any) -> Any:
        for entry in f._entries():
            f._drop(entry)
        return x * x

    for value in (tf.constant(2.0), tf.constant([2.0]), tf.constant(2.0)):
        with tf.GradientTape() as tape:
            tape.watch(value)
            y = f(value)
        for entry in f._entries():
            assert f._drop(entry) and not f._drop(entry)
        assert float(tf.reduce_sum(tape.gradient(y, value))) == 4.0
    assert f.cache_info().evictions == 3


def test_a_concrete_function_outlives_its_place_in_the_cache() -> None:
    f = tf.function(lambda x: x * 2.0)
    concrete = f.get_concrete_function(tf.TensorSpec([None]))
    assert f._drop(f._entries()[0])
    assert concrete(tf.ones([2])).numpy().tolist() == [2.0, 2.0]
    assert f.get_concrete_function(tf.TensorSpec([None])) is not concrete


def test_a_function_with_variables_finds_its_second_trace_only() -> None:
    held: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        if not held:
            held.append(tf.Variable(2.0))
        return held[0] * x

    assert [float(f(tf.constant(3.0))) for _ in range(3)] == [6.0] * 3
    for entry in f._entries():
        f._drop(entry)
    assert float(f(tf.constant(3.0))) == 6.0
    assert traces(f) == 3 and len(held) == 1


def test_hits_of_functions_of_one_code_are_counted_together() -> None:
    total = tf._engine.HitTotal()
    f, g = (tf.function(lambda n: tf.constant(n)) for _ in range(2))
    f.get_concrete_function(1), g.get_concrete_function(2)
    for _ in range(3):
        f(1), g(2)
    f._count_hits_in(total)
    assert total.value == 3
    g._count_hits_in(total)
    f._count_hits_in(total)
    for _ in range(5):
        f(1), g(2)
    assert total.value == 16


def test_objects_and_traces_may_be_left_when_the_interpreter_ends() -> None:
    program = """
import logging, threading, time
import graven as tf

tf.get_logger().setLevel(logging.ERROR)

class Thing:
    pass

things = [Thing() for _ in range(50)]
f = tf.function(lambda thing, x: x + 1.0)
for thing in things:
    f(thing, tf.constant(1.0))

def work():
    while True:
        for thing in things:
            f(thing, tf.constant(1.0))

for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
for _ in range(30):
    for entry in f._entries()[:5]:
        f._drop(entry)
    time.sleep(0.01)
del entry
print("the end")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "the end\n", "")
