"""explain(): why each trace was made, what it cost, and what a call would do."""

import gc
import html.parser
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import graven as tf
import pytest


def function(*arguments: Any, **options: Any) -> Any:
    """tf.function, whose overloads mypy cannot choose among by a dict of options."""
    return tf.function(*arguments, **options)


def only(explanation: Any) -> Any:
    """The one function of an explanation, as a dict."""
    (made,) = explanation.to_dict()["functions"]
    return made


class Config:
    """An object that is known by identity."""


class Point(NamedTuple):
    x: Any
    y: Any


# --- Reasons


def first() -> Any:
    f = tf.function(lambda x: x)
    f(1)
    return f


def differs(*calls: tuple[Any, ...]) -> Callable[[], Any]:
    def run() -> Any:
        f = tf.function(lambda x, y=0: (x, y))
        for call in calls:
            f.get_concrete_function(*call)
        return f

    return run


def another_object() -> Any:
    f = tf.function(lambda x, y: x)
    f.kept = [Config(), Config()]
    for config in f.kept:
        f(1, config)
    return f


def other_parameters() -> Any:
    f = tf.function(lambda *x: x[0])
    f(tf.ones([1]))
    f(tf.ones([1]), tf.ones([1]))
    return f


def created_variables() -> Any:
    made: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        if not made:
            made.append(tf.Variable(1.0))
        return x + made[0]

    f(1.0)
    return f


def made_again() -> Any:
    f = function(lambda x: x, max_traces=1, reduce_retracing=False)
    for n in (1, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1):
        f(tf.ones([n]))
    return f


def all_gone() -> Any:
    f = tf.function(lambda x: x)
    f(1)
    f.clear_cache()
    f(2)
    return f


def watched_value() -> Any:
    k = 1
    f = tf.function(lambda x: x * k)
    f(1)
    k = 2
    f(1)
    return f


def beside_open_sizes() -> Any:
    f = tf.function(lambda x: x * 2.0)
    for n in (1, 2):
        f(tf.ones([n]))
    f.get_concrete_function(tf.ones([3]))
    return f


def unfinished() -> Any:
    inside: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        if not inside:
            inside.append(f)
            return f(x) + 1.0
        return x * 1.0

    f(1.0)
    f(1.0)
    return f


MISSES: dict[str, tuple[Callable[[], Any], str, str]] = {
    "first": (first, "first", "the first trace"),
    "size": (
        differs((tf.ones([1, 2]),), (tf.ones([3, 2]),)),
        "differs",
        "x: TensorSpec(shape=(3, 2), dtype=tf.float32, name=None), was ",
    ),
    "rank": (
        differs((tf.ones([1]),), (tf.ones([1, 2]),)),
        "differs",
        "x: TensorSpec(shape=(1, 2), dtype=tf.float32, name=None), was ",
    ),
    "dtype": (differs((tf.ones([1]),), (tf.ones([1], tf.int32),)), "differs", "x: TensorSpec("),
    "number": (differs((1,), (2,)), "differs", "x: 2, was 1"),
    "text": (differs(("a",), ("b",)), "differs", "x: 'b', was 'a'"),
    "kind": (differs((1,), (None,)), "differs", "x: None, was 1"),
    "item": (
        differs(([1, {"mask": tf.ones([1])}],), ([1, {"mask": tf.ones([2])}],)),
        "differs",
        "x[1]['mask']: TensorSpec(",
    ),
    "field": (differs((Point(1, 2),), (Point(1, 3),)), "differs", "x.y: 3, was 2"),
    "structure": (differs(([1],), ([1, 2],)), "differs", "x: a list of 2 items, was "),
    "several": (differs((1, 2), (2, 3)), "differs", "x: 2, was 1 (and 1 more)"),
    "variable": (
        differs((tf.Variable([1.0]),), (tf.Variable([1.0, 2.0]),)),
        "differs",
        "x: VariableSpec(",
    ),
    "object": (another_object, "object", "y: another object"),
    "parameters": (other_parameters, "parameters", "another number or other names of arguments"),
    "variables": (
        created_variables,
        "variables",
        "the first trace created variables, which calls use",
    ),
    "made again": (made_again, "made again", "made again: trace "),
    "all gone": (all_gone, "all gone", "no trace was left: all went"),
    "watched": (watched_value, "watched", "k, read at "),
    "sizes of get_concrete_function": (
        beside_open_sizes,
        "other",
        "get_concrete_function makes a trace of the sizes that its arguments have",
    ),
}


@pytest.mark.parametrize("kind", MISSES)
def test_each_kind_of_miss_has_a_reason(kind: str) -> None:
    make, cause, text = MISSES[kind]
    f = make()
    traces = only(f.explain())["traces"]
    why = traces[-1]["why"]
    assert why["cause"] == cause
    assert why["text"].startswith(text)
    assert all(trace["why"]["text"] for trace in traces)
    if cause in ("differs", "object"):
        assert why["nearest"] == 1 and why["path"] and why["now"] and why["before"]
        assert f"{why['now']}, was {why['before']} in " in str(f.explain())


def test_a_trace_within_a_trace_of_the_same_type_has_a_reason_too() -> None:
    f = unfinished()
    assert all(trace["why"]["text"] for trace in only(f.explain())["traces"])


def test_a_difference_is_told_in_short_types() -> None:
    f = differs(([1, {"mask": tf.ones([1])}],), ([1, {"mask": tf.ones([2])}],))()
    why = only(f.explain())["traces"][1]["why"]
    assert why["path"] == "x[1]['mask']"
    assert (why["now"], why["before"]) == ("float32[2]", "float32[1]")


def test_an_object_is_named_by_its_class() -> None:
    why = only(another_object().explain())["traces"][1]["why"]
    assert why["now"] == f"an object of class {__name__}.Config"


# --- Advice


@pytest.mark.parametrize(
    "calls, advice",
    [
        (
            [(tf.ones([1, 2]),), (tf.ones([3, 2]),)],
            "get_concrete_function with tf.TensorSpec(shape=(None, 2), dtype=tf.float32) in the "
            "place of x, or reduce_retracing=True",
        ),
        (
            [(tf.ones([1, 2]), tf.ones([1])), (tf.ones([3, 2]), tf.ones([1]))],
            "input_signature=[tf.TensorSpec(shape=(None, 2), dtype=tf.float32), "
            "tf.TensorSpec(shape=(1,), dtype=tf.float32)], or reduce_retracing=True",
        ),
        (
            [(tf.ones([1]), tf.ones([1])), (tf.ones([3, 2]), tf.ones([1]))],
            "input_signature=[tf.TensorSpec(shape=None, dtype=tf.float32), ",
        ),
        ([(tf.ones([1], tf.int32),), (tf.ones([1]),)], "tf.cast(x, tf.int32)"),
        ([(1,), (2,)], "Pass x as a tensor, tf.TensorSpec(shape=(), dtype=tf.int32)"),
        ([(1,), (2.5,)], "Pass x as a tensor, tf.TensorSpec(shape=(), dtype=tf.float32)"),
        ([(1,), (1 << 31,)], "Pass x as a tensor, tf.TensorSpec(shape=(), dtype=tf.int64)"),
        ([(1,), ((1 << 31) - 1,)], "Pass x as a tensor, tf.TensorSpec(shape=(), dtype=tf.int32)"),
        ([(1,), (-1 << 31,)], "Pass x as a tensor, tf.TensorSpec(shape=(), dtype=tf.int32)"),
        ([(1,), ((-1 << 31) - 1,)], "Pass x as a tensor, tf.TensorSpec(shape=(), dtype=tf.int64)"),
        ([("a",), ("b",)], "tf.TensorSpec(shape=(), dtype=tf.string)"),
        (
            [(tf.constant(1.0),), (2.0,)],
            "Pass x always as a tensor, tf.TensorSpec(shape=(), dtype=tf.float32)",
        ),
        ([([1],), ([1, 2],)], "one tensor with an unknown first size in the place of x"),
    ],
)
def test_advice_has_a_spec_that_can_be_used(calls: list[Any], advice: str) -> None:
    f = differs(*calls)()
    assert advice in only(f.explain())["traces"][1]["why"]["advice"]


def test_following_the_advice_of_a_signature_leaves_one_trace() -> None:
    f = function(lambda x, y: x * 2.0, reduce_retracing=False)
    for n in (1, 2):
        f(tf.ones([n, 2]), tf.ones([1]))
    advice = only(f.explain())["traces"][1]["why"]["advice"]
    signature = advice[advice.index("[") : advice.rindex("]") + 1]
    g = function(lambda x, y: x * 2.0, input_signature=eval(signature, {"tf": tf}))
    for n in range(1, 6):
        g(tf.ones([n, 2]), tf.ones([1]))
    assert g.experimental_get_tracing_count() == 1


def test_sizes_that_are_left_open_need_no_advice_and_those_that_are_read_tf_shape() -> None:
    f = tf.function(lambda x: x * 2.0)
    g = tf.function(lambda x: x * x.shape[0])
    for n in (1, 2):
        f(tf.ones([n]))
        g(tf.ones([n]))
    assert only(f.explain())["traces"][1]["why"]["advice"] == ""
    assert "tf.shape(x)" in only(g.explain())["traces"][1]["why"]["advice"]


def test_a_call_whose_trace_would_leave_sizes_open_needs_no_advice() -> None:
    # It said that reduce_retracing=True would leave one trace, which the default does by itself.
    f = tf.function(lambda x, n: x * 2.0)
    f(tf.ones([1]), 1)
    call = only(f.explain(tf.ones([2]), 1))["call"]
    assert call["why"]["advice"].startswith("None needed: the trace would leave the sizes open")
    f(tf.ones([2]), 1)
    assert only(f.explain(tf.ones([3]), 1))["call"]["is_hit"]


def test_a_call_whose_sizes_are_read_is_advised_before_it_is_made() -> None:
    f = tf.function(lambda x: x * x.shape[0])
    for n in (1, 2):
        f(tf.ones([n]))
    assert "tf.shape(x)" in only(f.explain(tf.ones([3])))["call"]["why"]["advice"]


def advices(f: Any) -> list[str]:
    return [trace["why"]["advice"] for trace in only(f.explain())["traces"]]


def test_a_concrete_function_beside_open_sizes_is_not_advised_to_make_one_more() -> None:
    # Its advice was a signature of unknown sizes, which made a second trace of all of them.
    f = tf.function(lambda x: x * 2.0)
    for n in (1, 2):
        f.get_concrete_function(tf.ones([n]))
    assert "One trace serves all of these: " in advices(f)[1]
    for n in (3, 4):
        f(tf.ones([n]))
    assert advices(f)[1] == (
        "None needed for calls: trace #3 leaves these sizes open, and serves them all. "
        "get_concrete_function does not give it, and a spec of unknown sizes would make one trace "
        "more."
    )
    assert f.cache_info().traces == 3


def test_functions_of_methods_go_by_class_and_name(tmp_path: Path) -> None:
    # All of a program's modules were "__call__".
    class Dense(tf.Module):
        @tf.function
        def __call__(self, x: Any) -> Any:
            return x

    class Model(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.dense = Dense()

        @tf.function
        def __call__(self, x: Any) -> Any:
            return self.dense(x)

    model = Model()
    model(tf.ones([1]))
    explained = only(model.__call__.explain(tf.ones([1])))
    assert explained["name"] == "Model.__call__"
    text = str(model.__call__.explain(tf.ones([1])))
    assert "A call Model.__call__(x: float32[1]) finds Model.__call__#1(x: float32[1])" in text
    info = model.__call__.cache_info()
    assert str(info).startswith("Model.__call__: 1 trace")
    assert info.signatures[0].signature.startswith("Model.__call__(x: ")
    names = [row.name for row in tf.config.trace_cache_info().functions]
    assert {"Model.__call__", "Dense.__call__"} <= set(names) and "__call__" not in names
    named = [made["name"] for made in tf.explain().to_dict()["functions"]]
    assert {"Model.__call__", "Dense.__call__"} <= set(named)
    (entry,) = model.__call__._entries()
    assert entry.name.startswith("__inference___call___")  # in graphs as in TensorFlow


# --- What a call would do


def test_a_call_that_would_hit_is_told_its_trace() -> None:
    f = function(lambda x: x, reduce_retracing=False)
    f(tf.ones([1]))
    f(tf.ones([2]))
    explanation = f.explain(tf.ones([2]))
    call = only(explanation)["call"]
    assert call["is_hit"] and call["trace"] == 2 and call["trace_signature"] == "(x: float32[2])"
    assert "A call <lambda>(x: float32[2]) finds <lambda>#2(x: float32[2])" in str(explanation)


def test_a_call_of_a_general_trace_is_a_hit() -> None:
    f = tf.function(lambda x: x)
    f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    call = only(f.explain(tf.ones([7])))["call"]
    assert call["is_hit"] and call["trace_signature"] == "(x: float32[None])"


def test_a_call_that_would_miss_is_told_why_and_the_price() -> None:
    f = tf.function(lambda x, n: x)
    f(tf.ones([2]), 1)
    call = only(f.explain(tf.ones([3]), n=1))["call"]
    assert not call["is_hit"] and call["why"]["path"] == "x" and call["why"]["nearest"] == 1
    assert call["usual_ms"] > 0 and call["usual_bytes"] > 1000
    assert only(f.explain(tf.ones([2]), 2))["call"]["why"]["text"] == "n: 2, was 1"


def test_before_the_first_call_any_call_is_the_first() -> None:
    f = tf.function(lambda x: x)
    assert only(f.explain(1))["call"]["why"]["cause"] == "first"
    assert only(f.explain())["call"] is None


def test_explaining_traces_nothing_and_counts_nothing() -> None:
    calls: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        calls.append(x)
        return x

    f(tf.ones([1]))
    before = f.cache_info()[:6]
    for x in (tf.ones([1]), tf.ones([2]), 3, [4], "a"):
        f.explain(x)
    f.explain()
    after = f.cache_info()
    assert after[:2] == before[:2] and after[3:6] == before[3:6] and len(calls) == 1


def test_a_spec_may_stand_for_a_value() -> None:
    f = tf.function(lambda x: x)
    f(tf.ones([2]))
    assert only(f.explain(tf.TensorSpec([2], tf.float32)))["call"]["is_hit"]
    assert not only(f.explain(tf.TensorSpec([None], tf.float32)))["call"]["is_hit"]


def test_a_call_is_explained_with_the_trace_that_it_would_find_after_variables() -> None:
    f = created_variables()
    assert only(f.explain(1.0))["call"] == {
        "signature": "(x: 1.0)",
        "is_hit": True,
        "trace": 2,
        "trace_signature": "(x: 1.0)",
    }


def test_methods_and_signatures_are_explained() -> None:
    class Model:
        @function(input_signature=[tf.TensorSpec([None], tf.float32)])  # type: ignore[untyped-decorator]
        def step(self, x: Any) -> Any:
            return x

    model = Model()
    model.step(tf.ones([1]))
    assert only(model.step.explain([1.0, 2.0]))["call"]["is_hit"]
    with pytest.raises(TypeError, match="Can not cast"):
        model.step.explain(tf.ones([1, 1]))


def test_arguments_that_do_not_fit_are_a_type_error() -> None:
    f = tf.function(lambda x: x)
    with pytest.raises(TypeError):
        f.explain(1, 2)
    with pytest.raises(TypeError):
        f.explain(y=2)


# --- Call sites, graphs, kernels


def here(f: Any, *arguments: Any) -> Any:
    return f(*arguments)  # the call


def test_a_trace_knows_the_line_of_its_call() -> None:
    @tf.function
    def inner(x: Any) -> Any:
        return x + 1.0

    @tf.function
    def outer(x: Any) -> Any:
        return inner(x) * 2.0  # the inner call

    here(outer, tf.ones([2]))
    place = only(outer.explain())["traces"][0]["called_at"]
    assert place["file"] == __file__ and place["function"] == "here"
    assert place["text"] == "return f(*arguments)  # the call"
    inner_place = only(inner.explain())["traces"][0]["called_at"]
    assert inner_place["text"] == "return inner(x) * 2.0  # the inner call"


def test_the_graph_stands_beside_the_lines_that_made_it() -> None:
    w = tf.Variable([[1.0], [2.0]], name="weights")

    @tf.function
    def f(x: Any) -> Any:
        y = tf.tanh(x) * 2.0
        return tf.matmul(y, w)

    f(tf.ones([3, 2]))
    (trace,) = only(f.explain())["traces"]
    lines = {line["text"].strip(): line for line in trace["graph"]}
    (tanh,) = [line for text, line in lines.items() if "= Tanh(" in text]
    (product,) = [line for text, line in lines.items() if "= MatMul(" in text]
    assert tanh["source"]["text"] == "y = tf.tanh(x) * 2.0"
    assert product["source"]["text"] == "return tf.matmul(y, w)"
    fused = trace["kernels"][tanh["kernel"]]
    assert {node["op"] for node in fused["nodes"]} >= {"Tanh", "Mul"}
    assert all(node["source"]["file"] == __file__ for node in fused["nodes"])
    place = f"{__file__}:{product['source']['line']} in f"
    assert trace["captures"][0] == f"weights: variable float32[2, 1], used at {place}"
    assert trace["run_ns"] > 0


def test_nodes_that_passes_have_moved_or_made_keep_their_lines() -> None:
    @tf.function
    def inner(x: Any) -> Any:
        return tf.tanh(x) * 2.0

    @tf.function
    def f(a: Any, b: Any) -> Any:
        products = [tf.matmul(a, x, transpose_a=True) for x in (b, b + 1.0, b + 2.0)]
        y = inner(tf.add_n(products))
        for _ in tf.range(3):
            y = y + tf.exp(tf.reduce_sum(a)) * tf.matmul(a, b, transpose_a=True)
        return y

    f(tf.ones([4, 8]), tf.ones([4, 1024]))
    (trace,) = only(f.explain())["traces"]
    nodes = [node for kernel in trace["kernels"] for node in kernel["nodes"]]
    lines = {(node["op"], node["source"] and node["source"]["text"]) for node in nodes}
    in_loop = "y = y + tf.exp(tf.reduce_sum(a)) * tf.matmul(a, b, transpose_a=True)"
    assert lines == {
        ("AddV2", "products = [tf.matmul(a, x, transpose_a=True) for x in (b, b + 1.0, b + 2.0)]"),
        ("MatMul", "products = [tf.matmul(a, x, transpose_a=True) for x in (b, b + 1.0, b + 2.0)]"),
        ("AddN", "y = inner(tf.add_n(products))"),  # two of them, of two products each
        ("Tanh", "return tf.tanh(x) * 2.0"),
        ("Mul", "return tf.tanh(x) * 2.0"),
        ("Sum", in_loop),  # before the loop
        ("Exp", in_loop),
        ("StatelessWhile", "for _ in tf.range(3):"),
    }


def test_values_that_a_trace_watches_are_listed() -> None:
    rate = 3.0
    f = tf.function(lambda x: x * rate)
    f(1.0)
    (trace,) = only(f.explain())["traces"]
    assert any(line.startswith("watches rate = 3.0, read ") for line in trace["captures"])
    rate = 4.0
    f(1.0)
    why = only(f.explain())["traces"][-1]["why"]
    assert why["cause"] == "watched" and why["text"].startswith("rate, read ")
    assert why["nearest"] == 1 and "tf.Variable" in why["advice"]


def test_a_size_that_the_body_reads_is_a_fact_of_the_function() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return x * float(x.shape[0])

    for n in (1, 2, 3):
        f(tf.ones([n]))
    assert only(f.explain())["facts"] == [
        "pinned: x.shape[0], because the body reads it: each number of it is a trace of its own"
    ]
    assert "pinned: x.shape[0]" in str(f.explain()) and "pinned: x" in f.explain().to_html()


def test_a_size_that_a_trace_leaves_open_is_no_difference() -> None:
    f = tf.function(lambda x, n: x)
    for n in (1, 2):
        f(tf.ones([n]), 1)
    f(tf.ones([2]), 2)
    assert only(f.explain())["traces"][2]["why"]["text"].startswith("n: 2, was 1")


def test_a_trace_that_has_not_run_by_itself_makes_no_program() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return x + 1.0

    f.get_concrete_function(tf.TensorSpec([2], tf.float32))
    before = f.cache_info().bytes
    (trace,) = only(f.explain())["traces"]
    assert trace["kernels"] == [] and trace["graph"] and f.cache_info().bytes == before


# --- The timeline


def test_events_say_what_happened_with_the_hits_between() -> None:
    f = function(lambda x: x, max_traces=1, reduce_retracing=False)
    for n in (1, 1, 1, 2, 2, 2, 2):
        f(tf.ones([n]))
    explained = only(f.explain())
    kinds = [(event["event"], event.get("trace")) for event in explained["events"]]
    assert kinds[:3] == [("traced", 1), ("traced", 2), ("went", 2)]
    traced = [event for event in explained["events"] if event["event"] == "traced"]
    assert [event["hits"] for event in traced][:2] == [0, 2]
    times = [event["time"] for event in explained["events"]]
    assert times == sorted(times)
    assert explained["gone"][0]["number"] == 2


def test_a_trace_that_failed_is_an_event_with_its_error() -> None:
    @tf.function
    def f(x: Any) -> Any:
        raise ValueError("no such luck\nsecond line")

    for _ in range(2):
        with pytest.raises(ValueError, match="no such luck"):
            f(1)
    events = only(f.explain())["events"]
    assert [event["event"] for event in events] == ["failed", "failed"]
    assert "no such luck" in str(events) or "in user code" in str(events)
    assert only(f.explain())["misses"] == 2


def test_the_timeline_is_bounded() -> None:
    f = function(lambda x: x, max_traces=2, reduce_retracing=False)
    for n in range(400):
        f(tf.ones([n]))
    explained = only(f.explain())
    assert len(explained["events"]) == 256 and len(explained["gone"]) == 64
    assert str(f.explain()) and f.explain().to_html()


# --- Pages


class Checker(html.parser.HTMLParser):
    """Notes tags that are not closed in order, and what would be loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br", "line", "circle", "rect", "path"):
            self.open.append(tag)
        self.loaded += [v or "" for k, v in attrs if k in ("src", "href") and v and v[0] != "#"]
        assert tag not in ("script", "link", "img", "iframe")

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("meta", "br", "line", "circle", "rect", "path"):
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def checked(page: str) -> str:
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == [] and checker.loaded == []
    assert "@import" not in page and "url(" not in page
    return checker.text


def test_a_page_is_written_and_needs_no_other_file(tmp_path: Path) -> None:
    f = made_again()
    f.explain(html=tmp_path / "f.html")
    page = (tmp_path / "f.html").read_text()
    text = checked(page)
    for part in ("Timeline", "Advice", "Graph", "Kernels", "made again: trace ", "Gone"):
        assert part in text
    assert page == f.explain().to_html() or len(page) > 1000  # ages differ
    assert [file.name for file in tmp_path.iterdir()] == ["f.html"]


def test_texts_of_the_program_are_escaped() -> None:
    f = tf.function(lambda x: x)
    f("<script>alert(1)</script>&\"'")
    f(b"\xff<b>")
    text = checked(f.explain().to_html())
    assert "<script>alert(1)</script>&" in text


def test_all_functions_are_explained_together(tmp_path: Path) -> None:
    def unlikely_name(x: Any) -> Any:
        return x + 1

    f = tf.function(unlikely_name)
    f(1)
    explanation = tf.explain(html=str(tmp_path / "all.html"))
    names = [made["name"] for made in explanation.to_dict()["functions"]]
    assert "unlikely_name" in names
    assert "unlikely_name#1(x: 1): 0 hits" in str(explanation)
    assert "unlikely_name" in checked((tmp_path / "all.html").read_text())
    del f
    gc.collect()
    assert "unlikely_name" not in str(tf.explain())


@pytest.mark.parametrize("explain", [first().explain, tf.explain])
def test_a_page_that_cannot_be_written_is_an_error(explain: Any, tmp_path: Path) -> None:
    with pytest.raises(tf.errors.NotFoundError, match=r"cannot write .*f.html: No such file"):
        explain(html=tmp_path / "missing" / "f.html")
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        explain(html=tmp_path)
    with pytest.raises(TypeError):
        explain(html=3)
    assert list(tmp_path.iterdir()) == []


def test_functions_are_explained_while_other_threads_trace_and_drop() -> None:
    f = function(lambda x: x * 2.0, max_traces=3)
    ends = threading.Event()

    def calls(begin: int) -> None:
        n = begin
        while not ends.is_set():
            f(tf.ones([n % 17 + 1]))
            n += 1

    threads = [threading.Thread(target=calls, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            assert str(f.explain(tf.ones([3]))) and f.explain().to_html()
        assert f"call {f.__name__}(" in str(f.explain(tf.ones([3]))) and str(tf.explain())
    finally:
        ends.set()
        for thread in threads:
            thread.join()


def test_strange_arguments_are_explained_without_running_their_code() -> None:
    class Strange:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError("compared")

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            raise RuntimeError("printed")

    f = tf.function(lambda x, y: x)
    first_one, second_one = Strange(), Strange()
    f(1, first_one)
    call = only(f.explain(1, second_one))["call"]
    assert call["why"]["cause"] == "object" and "Strange" in call["why"]["now"]
    assert f.cache_info().entries == 1


def test_times_of_traces_are_told_those_that_went_included() -> None:
    f = tf.function(lambda x, k: x * k)
    began = time.time()
    for k in (1.0, 2.0):
        f(tf.constant(1.0), k)
    explained = only(f.explain())
    for trace in explained["traces"]:
        assert began - 1 < trace["traced_at"] < time.time() + 1
    took = sum(trace["trace_ms"] for trace in explained["traces"])
    assert explained["trace_ms"] == pytest.approx(took)
    f.clear_cache()
    f(tf.constant(1.0), 3.0)
    explained = only(f.explain())
    took += explained["traces"][0]["trace_ms"]
    assert explained["trace_ms"] == pytest.approx(took)


def test_bytes_of_traces_are_those_that_the_cache_tells() -> None:
    table = tf.ones([1000])
    f = tf.function(lambda x: x + table[0])
    f(tf.constant(1.0))
    info, explained = f.cache_info(), only(f.explain())
    (trace,), (listed,) = explained["traces"], info.signatures
    assert listed.captured_bytes >= 4000
    assert (trace["bytes"], trace["captured_bytes"]) == (listed.bytes, listed.captured_bytes)
    assert (explained["bytes"], explained["captured_bytes"]) == (info.bytes, info.captured_bytes)
