"""Functions without source, and autograph="replay": capture by running all ways through a function.

Programs here are texts, compiled under a name that is no file, so that there is no source.
"""

from __future__ import annotations

import logging
import textwrap
import traceback
from collections.abc import Iterator
from typing import Any

import graven as tf
import pytest
from graven import _engine
from graven.autograph._replay import runs

NOT_ALLOWED = tf.errors.OperatorNotAllowedInGraphError


def program(text: str, name: str = "<frozen program>", **names: Any) -> dict[str, Any]:
    """Runs a program whose source Python cannot find."""
    namespace = {"__name__": "program", "tf": tf, **names}
    exec(compile(textwrap.dedent(text).lstrip("\n"), name, "exec"), namespace)
    return namespace


def sourceless(text: str, **names: Any) -> Any:
    """Returns the function f of a program, without source."""
    return program(text, **names)["f"]


def node_names(function: Any, *args: Any) -> list[str]:
    graph = function.get_concrete_function(*args).graph
    return [op.type for op in graph.get_operations()]


@pytest.fixture(autouse=True)
def messages() -> Iterator[list[str]]:
    """The log."""
    texts: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            texts.append(record.getMessage())

    handler = Handler()
    tf.get_logger().addHandler(handler)
    yield texts
    tf.get_logger().removeHandler(handler)


VALUES = [-3.0, -1.0, 0.0, 0.5, 2.0, 7.0]

PROGRAMS = {
    "if": """
        def f(x):
            if x > 0:
                y = x * 2
            else:
                y = x - 1
            return y + 1
        """,
    "two ways out": """
        def f(x):
            if x > 1:
                return x * 2
            return -x
        """,
    "elif": """
        def f(x):
            if x > 1:
                y = x
            elif x > 0:
                y = x * x
            else:
                y = -x
            z = y + x
            if z > 3:
                z = z / 2
            return z
        """,
    "nested": """
        def f(x):
            y = x
            if x > 0:
                if x > 1:
                    y = x * 3
                y = y + 1
            else:
                if x < -2:
                    y = -x
            return y * 2
        """,
    "and, or, not": """
        def f(x):
            if x > -2 and not x > 1:
                x = x + 1
            if x < 0 or x > 5:
                x = x * 2
            return x
        """,
    "conditional expression": """
        def f(x):
            y = x if x > 0 else -x
            return y + (1.0 if y > 1 else 2.0)
        """,
    "chained comparison": """
        def f(x):
            if 0 < x < 3:
                return x
            return x - 10
        """,
    "helper": """
        def relu(x):
            if x > 0:
                return x
            return x * 0.1

        def f(x):
            return relu(x) + relu(x - 1) * relu(-x)
        """,
    "loop over Python values": """
        def f(x):
            for i in range(3):
                if x > i:
                    x = x - 0.5
                else:
                    x = x + i
            return x
        """,
    "break": """
        def f(x):
            for i in range(4):
                if x > 3:
                    break
                x = x + 1
            return x
        """,
    "comprehension": """
        def f(x):
            return sum([v if v > 1 else v * 2 for v in (x, x + 1, x + 2)])
        """,
    "min and max": """
        def f(x):
            return min(x, 1.0) + max(x, x * x, 0.25)
        """,
    "closure": """
        def f(x):
            def g(y):
                if y > x:
                    return y
                return x
            return g(x * x) - g(0.5)
        """,
    "the same condition twice": """
        def f(x):
            c = x > 0
            if c:
                y = x
            else:
                y = -x
            if x > 1:
                return y
            if c:
                return y * 2
            return y * 3
        """,
    "a value for one way only": """
        def f(x):
            y = x * 2
            if x > 0:
                pass
            else:
                y = x * 3
            if x > 1:
                return x
            return y
        """,
    "try and with": """
        def f(x):
            with tf.name_scope("a"):
                try:
                    if x > 0:
                        x = x + 1
                finally:
                    x = x * 2
                if x > 3:
                    x = x - 1
            return x
        """,
    "gradient inside": """
        def f(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                if x > 0:
                    y = x * x
                else:
                    y = x * 3
            return tape.gradient(y, x)
        """,
    "cond inside": """
        def f(x):
            def inner():
                if x > 1:
                    return x * 5
                return x
            y = tf.cond(x > 0, inner, lambda: -x)
            if y > 2:
                y = y - 2
            return y
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_without_source_gives_what_python_gives(name: str) -> None:
    f = sourceless(PROGRAMS[name])
    g = tf.function(f)
    for value in VALUES:
        x = tf.constant(value)
        assert float(g(x)) == pytest.approx(float(f(x))), value
    assert g.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_without_source_has_gradients(name: str) -> None:
    f = sourceless(PROGRAMS[name])
    g = tf.function(f)
    for value in VALUES:
        x = tf.constant(value)
        gradients = []
        for function in (f, g):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x)
            gradients.append(tape.gradient(y, x))
        eager, traced = gradients
        if eager is None:  # it does not depend on x
            assert traced is None or float(traced) == 0, value
        else:
            assert float(traced) == pytest.approx(float(eager)), value


@pytest.mark.parametrize("name", PROGRAMS)
def test_replay_is_an_option_for_functions_with_source(name: str) -> None:
    f = program(PROGRAMS[name], "<string>")["f"]
    g = tf.function(f, autograph="replay")
    for value in VALUES:
        x = tf.constant(value)
        assert float(g(x)) == pytest.approx(float(f(x))), value


def test_another_text_than_replay_is_refused() -> None:
    with pytest.raises(ValueError, match='True, False or "replay"'):
        tf.function(lambda x: x, autograph="reply")


def sign(x: Any) -> Any:
    if x > 0:
        return 1
    return -1


def test_the_option_replays_a_function_that_has_source() -> None:
    g = tf.function(sign, autograph="replay")
    assert [int(g(tf.constant(v))) for v in (2.0, -2.0)] == [1, -1]
    assert "If" in " ".join(node_names(g, tf.constant(2.0)))


# --- What is written


def test_code_without_conditions_runs_once() -> None:
    calls: list[int] = []
    f = sourceless("def f(x):\n    calls.append(1)\n    return x + 1\n", calls=calls)
    g = tf.function(f)
    assert float(g(tf.constant(1.0))) == 2.0
    assert calls == [1]
    assert node_names(g, tf.constant(1.0)).count("AddV2") == 1


def chain(count: int) -> str:
    lines = ["def f(x):"]
    for i in range(count):
        lines += [f"    if x > {i}:", "        x = x + 1", "    else:", "        x = x * 2"]
    return "\n".join([*lines, "    return x"])


def test_conditions_one_after_the_other_take_one_run_each(capfd: Any) -> None:
    f = sourceless(chain(20).replace("def f(x):", "def f(x):\n    print('run')", 1))
    g = tf.function(f)
    x = tf.constant(3.5)
    traced = float(g(x))
    assert capfd.readouterr().out.count("run") == 21
    assert traced == float(f(x))
    assert node_names(g, x).count("StatelessIf") == 20


def test_what_lies_before_a_condition_happens_once() -> None:
    v = tf.Variable(0.0)
    f = sourceless(
        """
        def f(x):
            v.assign_add(1.0)
            if x > 0:
                v.assign_add(10.0)
            else:
                v.assign_add(100.0)
            v.assign_add(1000.0)
            return v.read_value()
        """,
        v=v,
    )
    g = tf.function(f)
    assert float(g(tf.constant(1.0))) == 1011.0
    v.assign(0.0)
    assert float(g(tf.constant(-1.0))) == 1101.0


def test_random_ops_have_the_seeds_of_a_run() -> None:
    text = """
        def f(x):
            a = tf.random.uniform([])
            if x > 0:
                b = tf.random.uniform([])
            else:
                b = -tf.random.uniform([])
            return a, b, tf.random.uniform([])
        """
    values = []
    for value in (1.0, 1.0, -1.0):
        tf.random.set_seed(5)
        g = tf.function(sourceless(text))
        values.append([float(v) for v in g(tf.constant(value))])
    assert values[0] == values[1]
    assert values[0] == [values[2][0], -values[2][1], values[2][2]]
    assert len({abs(v) for v in values[0]}) == 3


def test_an_argument_of_unknown_shape_goes_through() -> None:
    f = sourceless(
        """
        def f(x):
            if tf.reduce_sum(x) > 0:
                y = x[:1]
            else:
                y = x
            return y * 2
        """
    )
    g = tf.function(f, input_signature=[tf.TensorSpec([None])])
    assert g(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0]
    assert g(tf.constant([-1.0, -2.0])).numpy().tolist() == [-2.0, -4.0]


def test_structures_are_results() -> None:
    f = sourceless(
        """
        def f(x):
            if x > 0:
                return {"a": (x, [x + 1]), "b": None}
            return {"a": (x * 2, [1.5]), "b": None}
        """
    )
    g = tf.function(f)
    for value in (1.0, -1.0):
        got, wanted = g(tf.constant(value)), f(tf.constant(value))
        assert tf.nest.map_structure(float, got["a"]) == tf.nest.map_structure(float, wanted["a"])
        assert got["b"] is None


def test_a_function_without_source_is_replayed_where_converted_code_calls_it() -> None:
    callee = sourceless(PROGRAMS["elif"])

    def f(x: Any) -> Any:
        y = tf.zeros([])
        for i in tf.range(3):
            y += callee(x + tf.cast(i, tf.float32))
        if y > 2:
            y = callee(y)
        return y

    g = tf.function(f)
    for value in VALUES:
        assert float(g(tf.constant(value))) == float(f(tf.constant(value)))


def test_a_method_and_a_lambda_and_a_callable_object() -> None:
    names = program(
        """
        class C:
            def __init__(self):
                self.w = tf.Variable(2.0)
            def m(self, x):
                if x > self.w:
                    return x
                return self.w + x
            def __call__(self, x):
                return self.m(x) if x > 0 else -x
        l = lambda x: x if x > 0 else -x
        """
    )
    c = names["C"]()
    for function in (c.m, c, names["l"]):
        g = tf.function(function)
        for value in VALUES:
            assert float(g(tf.constant(value))) == float(function(tf.constant(value)))


def test_an_outer_tape_sees_through() -> None:
    callee = sourceless(PROGRAMS["nested"])

    @tf.function
    def g(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = callee(x * 2)
        return y, tape.gradient(y, x)

    for value in VALUES:
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = callee(x * 2)
        assert [float(v) for v in g(x)] == [float(y), float(tape.gradient(y, x))]


def test_functions_replay_within_functions() -> None:
    inner = tf.function(sourceless(PROGRAMS["if"]))
    outer = sourceless(
        "def f(x):\n    y = inner(x)\n    if y > 0:\n        return inner(y)\n    return y\n",
        inner=inner,
    )
    g = tf.function(outer)
    for value in VALUES:
        assert float(g(tf.constant(value))) == float(outer(tf.constant(value)))


def test_marshalled_code_is_replayed() -> None:
    import marshal
    import types

    code = marshal.loads(marshal.dumps(compile(chain(2), "<marshalled>", "exec").co_consts[0]))
    f = types.FunctionType(code, {"__name__": "program"})
    assert float(tf.function(f)(tf.constant(0.5))) == float(f(tf.constant(0.5)))


# --- The log


def test_one_line_of_the_log_says_that_a_function_is_replayed(messages: list[str]) -> None:
    g = tf.function(sourceless(PROGRAMS["if"]))
    g(tf.constant(1.0))
    g(tf.constant(1))
    (line,) = [m for m in messages if "could not transform" in m]
    assert "will run it as-is" in line and "Cause: " in line and "do_not_convert" in line
    assert "\n" not in line


def test_code_of_a_string_is_replayed_without_a_word(messages: list[str]) -> None:
    g = tf.function(program(PROGRAMS["if"], "<string>")["f"])
    assert float(g(tf.constant(1.0))) == 3.0
    assert not [m for m in messages if "could not transform" in m]


def test_what_must_not_be_converted_is_not_replayed() -> None:
    f = sourceless(PROGRAMS["if"])
    with pytest.raises(NOT_ALLOWED, match="Using a symbolic"):
        tf.function(f, autograph=False)(tf.constant(1.0))
    with pytest.raises(NOT_ALLOWED, match="Using a symbolic"):
        tf.function(tf.autograph.experimental.do_not_convert(f))(tf.constant(1.0))


# --- What cannot be done


def line_of(text: str, mark: str) -> int:
    lines = textwrap.dedent(text).lstrip("\n").split("\n")
    return next(i for i, line in enumerate(lines, 1) if mark in line)


REFUSED = {
    "a loop": (
        """
        def f(x):
            while x > 0:  # here
                x = x - 1
            return x
        """,
        "tf.while_loop",
    ),
    "a counter": (
        """
        n = [0]
        def f(x):
            n[0] += 1
            if x > 0:  # here
                return x
            return -x
        """,
        "it changes",
    ),
    "a global": (
        """
        n = 0
        def f(x):
            global n
            if x > 0:  # here
                n += 1
            n += 1
            return x
        """,
        "it changes the variable 'n'",
    ),
    "an attribute": (
        """
        class C: pass
        c = C()
        c.log = []
        def f(x):
            if x > 0:  # here
                c.log.append(x)
            return x
        """,
        "it changes",
    ),
    "an attribute in a slot": (
        """
        class C:
            __slots__ = ("last",)
        c = C()
        def f(x):
            c.last = x * 2
            if x > 0:  # here
                return x
            return -x
        """,
        "it changes what the attribute 'last' of a C holds",
    ),
    "a queue": (
        """
        import collections
        queue = collections.deque()
        def f(x):
            if x > 0:  # here
                return x
            queue.append(1)
            return -x
        """,
        "it changes",
    ),
    "a count": (
        """
        import itertools
        it = itertools.count()
        def f(x):
            x = x + next(it)
            if x > 0:  # here
                return x
            return -x
        """,
        "it changes",
    ),
    "an iterator": (
        """
        it = iter([1.0, 2.0, 3.0, 4.0])
        def f(x):
            if x > 0:  # here
                return x
            return x * next(it)
        """,
        "it changes",
    ),
    "other operations": (
        """
        import logging
        log = logging.getLogger("with a number")
        log.n = 0
        def f(x):
            log.n += 1  # out of sight
            for _ in range(log.n):
                x = x + 1
            if x > 0:  # here
                return x
            return -x
        """,
        "other operations before it",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_replayed_is_an_error_at_its_line(name: str) -> None:
    text, phrase = REFUSED[name]
    f = sourceless(text)
    g = tf.function(f)
    with pytest.raises(NOT_ALLOWED) as raised:
        g(tf.constant(5.0))
    line = line_of(text, "# here")
    assert phrase in str(raised.value)
    assert f'File "<frozen program>", line {line}, in f' in str(raised.value)
    frames = traceback.extract_tb(raised.value.__traceback__)
    assert ("<frozen program>", line) in [(frame.filename, frame.lineno) for frame in frames]
    assert tf.executing_eagerly() and _engine.set_truth_oracle(None) is None


def test_ways_of_different_types_are_an_error_at_the_condition() -> None:
    text = """
        def f(x):
            if x > 0:  # here
                return x
            return 1
        """
    with pytest.raises(TypeError) as raised:
        tf.function(sourceless(text))(tf.constant(1.0))
    assert "must have the same number, type, and overall structure" in str(raised.value)
    assert "float32" in str(raised.value) and "int32" in str(raised.value)
    assert f'File "<frozen program>", line {line_of(text, "# here")}, in f' in str(raised.value)


@pytest.mark.parametrize("other", ["None", "(x, x)", "[x]", "{'a': x}", "object()"])
def test_ways_of_different_structures_are_an_error(other: str) -> None:
    f = sourceless(f"def f(x):\n    if x > 0:\n        return x\n    return {other}\n")
    with pytest.raises(TypeError, match="must have the same number, type, and overall structure"):
        tf.function(f)(tf.constant(1.0))


def test_a_condition_that_is_no_bool_is_refused() -> None:
    f = sourceless("def f(x):\n    if x:\n        return x\n    return -x\n")
    with pytest.raises(NOT_ALLOWED, match=r"expected to be `tf\.bool` scalar"):
        tf.function(f)(tf.constant(1.0))
    f = sourceless("def f(x):\n    if x > 0:\n        return x\n    return -x\n")
    with pytest.raises(NOT_ALLOWED, match=r"expected to be `tf\.bool` scalar"):
        tf.function(f)(tf.constant([1.0, 2.0]))


def test_code_that_catches_the_error_of_a_truth_goes_on() -> None:
    f = sourceless(
        """
        def f(x):
            try:
                if x:
                    return x
            except TypeError:
                return x * 2
        """
    )
    assert tf.function(f)(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]


def test_too_many_conditions_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MAX_CONDITIONS", 10)
    with pytest.raises(NOT_ALLOWED, match=r"line 42, in f.* more than 10 conditions"):
        tf.function(sourceless(chain(20).replace("        x = x * 2", "        pass")))(
            tf.constant(1.0)
        )


def test_a_run_may_come_to_a_condition_a_hundred_times() -> None:
    f = sourceless(
        """
        def f(x, n):
            for i in range(n):
                if x < i:
                    return x * i
            return -x
        """
    )
    traced = tf.function(f)
    results = [float(traced(tf.constant(x), 100)) for x in (41.5, 98.5, 99.5)]
    assert results == [41.5 * 42, 98.5 * 99, -99.5]
    with pytest.raises(NOT_ALLOWED, match="came to this condition more than 100 times"):
        traced(tf.constant(1.0), 101)


def test_too_many_ways_are_an_error() -> None:
    f = sourceless(
        """
        def f(x):
            for i in range(40):
                if x > i:
                    x = x + 1
            return x
        """
    )
    with pytest.raises(NOT_ALLOWED, match="more than 2000 ways"):
        tf.function(f)(tf.constant(1.0))


def test_an_exception_on_a_later_way_is_raised_and_leaves_nothing() -> None:
    v = tf.Variable(0.0)
    f = sourceless(
        """
        def f(x):
            v.assign_add(1.0)
            if x > 0:
                return x
            raise ValueError("no")
        """,
        v=v,
    )

    def caught(x: Any) -> Any:
        try:
            return f(x)
        except ValueError:
            return x + v

    with pytest.raises(ValueError, match="no"):
        tf.function(f)(tf.constant(1.0))
    assert float(tf.function(caught)(tf.constant(3.0))) == 4.0
    assert float(v) == 1.0


def test_a_tensor_of_a_dropped_run_is_refused() -> None:
    box: Any = logging.getLogger("a box")  # out of sight
    f = sourceless(
        """
        def f(x):
            if x > 0:
                box.tensor = x * 2
                return x
            return -x
        """,
        box=box,
    )

    @tf.function
    def g(x: Any) -> Any:
        y = f(x)
        return y + box.tensor

    with pytest.raises(tf.errors.InaccessibleTensorError, match="out of scope"):
        g(tf.constant(1.0))


def test_variables_may_be_made_in_the_first_run() -> None:
    names = program(
        """
        class Layer(tf.Module):
            def __init__(self):
                super().__init__()
                self.w = self.b = None
            def __call__(self, x):
                if self.w is None:
                    self.w = tf.Variable(tf.ones([]) * 2)
                if x > 0:
                    return x * self.w
                return x
        class Late(Layer):
            def __call__(self, x):
                if x > 0:
                    x = x + 1
                if self.b is None:
                    self.b = tf.Variable(tf.ones([]) * 3)
                return x * self.b
        """
    )
    g = tf.function(names["Layer"]())
    assert [float(g(tf.constant(v))) for v in (3.0, -3.0)] == [6.0, -3.0]
    g = tf.function(names["Late"]())
    assert [float(g(tf.constant(v))) for v in (3.0, -3.0)] == [12.0, -9.0]


def test_calls_that_python_has_specialised_are_the_same_place() -> None:
    f = sourceless(
        "def f(x):\n    if any([x > 0, x < -5]):\n        return x + 1\n    return x - 1\n"
    )
    for _ in range(20):
        g = tf.function(f)
        assert [float(g(tf.constant(v))) for v in (-6.0, -1.0, 3.0)] == [-5.0, -2.0, 4.0]
