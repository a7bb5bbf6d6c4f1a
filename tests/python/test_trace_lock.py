"""Trace locks: files that list which traces a program makes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import graven as tf
import pytest


def function(*arguments: Any, **options: Any) -> Any:
    """tf.function, whose overloads mypy cannot choose among by a dict of options."""
    return tf.function(*arguments, **options)


class Config:
    """An object that is known by identity."""


def program() -> tuple[Any, Any]:
    """A Function that calls another."""

    @function(reduce_retracing=False)  # type: ignore[untyped-decorator]
    def inner(x: Any) -> Any:
        return x + 1.0

    @function(reduce_retracing=False)  # type: ignore[untyped-decorator]
    def outer(x: Any, config: Any = None) -> Any:
        return inner(x["a"]) * 2.0

    return outer, inner


@pytest.fixture(autouse=True)
def no_lock_afterwards() -> Iterator[None]:
    yield
    tf.end_trace_lock()


def recorded(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def record(path: Path, *shapes: list[int]) -> None:
    with tf.trace_lock(path):
        outer, _ = program()
        for shape in shapes:
            outer({"a": tf.ones(shape)}, Config())


NAME = f"{__name__}.program.<locals>."


def test_a_record_has_a_sorted_line_for_each_trace(tmp_path: Path) -> None:
    record(tmp_path / "lock", [2], [1], [1])
    header, *lines = recorded(tmp_path / "lock")
    assert header == {"graven_trace_lock": 1}
    assert lines == [
        {"function": NAME + "inner", "arguments": {"x": "float32[1]"}},
        {"function": NAME + "inner", "arguments": {"x": "float32[2]"}},
        *(
            {
                "function": NAME + "outer",
                "arguments": {
                    "x": "a dict of 1 items",
                    "x['a']": f"float32[{n}]",
                    "config": f"an object of class {__name__}.Config",
                },
            }
            for n in (1, 2)
        ),
    ]
    assert [file.name for file in tmp_path.iterdir()] == ["lock"]


def test_two_runs_record_the_same_file(tmp_path: Path) -> None:
    record(tmp_path / "a", [2], [1])
    record(tmp_path / "b", [1], [2])
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_locked_program_traces_what_was_recorded(tmp_path: Path) -> None:
    record(tmp_path / "lock", [1], [2])
    with tf.trace_lock(tmp_path / "lock", mode="locked"):
        outer, _ = program()
        for n in (2, 1):
            assert outer({"a": tf.ones([n])}, Config()).numpy().tolist() == [4.0] * n


def test_another_type_is_refused_before_the_body_runs(tmp_path: Path) -> None:
    runs: list[Any] = []

    def body(x: Any) -> Any:
        runs.append(x)
        return x

    with tf.trace_lock(tmp_path / "lock"):
        tf.function(body)(tf.ones([2, 2]))
    runs.clear()
    f = function(body, reduce_retracing=False)
    with tf.trace_lock(tmp_path / "lock", mode="locked"):
        f(tf.ones([2, 2]))
        with pytest.raises(tf.errors.TraceLockError) as raised:
            f(tf.ones([3, 2]))
        f(tf.ones([2, 2]))
    assert len(runs) == 1
    message = str(raised.value)
    assert f"has no trace {body.__module__}.{body.__qualname__}(x: float32[3, 2])" in message
    assert "Nearest: x: float32[3, 2], locked is float32[2, 2]" in message
    assert "docs/explain.md" in message
    assert isinstance(raised.value, tf.errors.FailedPreconditionError)
    f(tf.ones([3, 2]))  # the lock is over


def test_a_nested_function_is_locked_too(tmp_path: Path) -> None:
    record(tmp_path / "lock", [1])
    lines = (tmp_path / "lock").read_text().splitlines(keepends=True)
    kept = [line for line in lines if "inner" not in line]
    (tmp_path / "lock").write_text("".join(kept))
    with tf.trace_lock(tmp_path / "lock", mode="locked"):
        outer, _ = program()
        with pytest.raises(tf.errors.TraceLockError, match="It has none of this function"):
            outer({"a": tf.ones([1])}, Config())
    assert outer({"a": tf.ones([1])}, Config()).numpy().tolist() == [4.0]


def test_concrete_functions_and_structures_are_locked(tmp_path: Path) -> None:
    def body(x: Any, *rest: Any) -> Any:
        return x

    with tf.trace_lock(tmp_path / "lock"):
        tf.function(body).get_concrete_function(tf.TensorSpec([None], tf.float32), [1, "a"])
    (line,) = recorded(tmp_path / "lock")[1:]
    assert line["arguments"] == {
        "x": "float32[None]",
        "rest_0": "a list of 2 items",
        "rest_0[0]": "1",
        "rest_0[1]": "'a'",
    }
    with tf.trace_lock(tmp_path / "lock", mode="locked"):
        f = tf.function(body)
        f.get_concrete_function(tf.TensorSpec([None], tf.float32), [1, "a"])
        f(tf.ones([3]), [1, "a"])  # a hit of the general trace
        with pytest.raises(tf.errors.TraceLockError, match=r"rest_0\[1\]: 'b', locked is 'a'"):
            f.get_concrete_function(tf.TensorSpec([None], tf.float32), [1, "b"])


HEADER = '{"graven_trace_lock": 1}\n'


@pytest.mark.parametrize(
    "content, error, message",
    [
        ("", tf.errors.DataLossError, "damaged at line 1: its end is missing"),
        ("no lock\n", tf.errors.DataLossError, "damaged at line 1: no JSON: a value is missing"),
        (
            "{}\n",
            tf.errors.DataLossError,
            'damaged at line 1: it must say {"graven_trace_lock": 1}',
        ),
        (
            '{"graven_trace_lock": 2}\n',
            tf.errors.FailedPreconditionError,
            "has version 2, and this Graven reads version 1",
        ),
        (HEADER + '{"function": "f"', tf.errors.DataLossError, "line 2: its end is missing"),
        (HEADER + '{"function": "f"\n', tf.errors.DataLossError, "line 2: no JSON: } is missing"),
        (
            HEADER + '{"function": "f"}\n',
            tf.errors.DataLossError,
            'line 2: a trace has a "function"',
        ),
        (
            HEADER + '{"function": "f", "arguments": {"x": 1}}\n',
            tf.errors.DataLossError,
            "line 2: the type of x is no text",
        ),
    ],
)
def test_a_file_that_is_no_lock_is_refused(
    content: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    (tmp_path / "lock").write_text(content)
    with pytest.raises(error) as raised:
        tf.trace_lock(tmp_path / "lock", mode="locked")
    assert message in str(raised.value) and f"The trace lock {tmp_path}/lock" in str(raised.value)
    assert tf.function(lambda x: x)(1).numpy() == 1  # nothing is locked


def test_files_that_cannot_be_read_or_written_are_errors_at_once(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.NotFoundError, match=r"cannot read .*No such file"):
        tf.trace_lock(tmp_path / "lock", mode="locked")
    with pytest.raises(tf.errors.NotFoundError, match=r"cannot write .*No such file"):
        tf.trace_lock(tmp_path / "missing" / "lock")
    with pytest.raises(ValueError, match='mode must be "record" or "locked"'):
        tf.trace_lock(tmp_path / "lock", mode="update")
    with tf.trace_lock(tmp_path / "lock"):
        with pytest.raises(tf.errors.FailedPreconditionError, match="a trace lock already"):
            tf.trace_lock(tmp_path / "other")
    assert recorded(tmp_path / "lock") == [{"graven_trace_lock": 1}]


SCRIPT = """
import sys
import graven as tf
@tf.function
def f(x):
    return x
f(tf.ones([int(sys.argv[1])]))
print("done")
"""


def run(lock: str, size: int, script: str = SCRIPT) -> Any:
    return subprocess.run(
        [sys.executable, "-c", script, str(size)],
        capture_output=True,
        text=True,
        env=os.environ | {"GRAVEN_TRACE_LOCK": lock},
    )


def test_the_environment_locks_a_program_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    done = run(f"record:{path}", 2)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    assert recorded(path)[1:] == [{"function": "__main__.f", "arguments": {"x": "float32[2]"}}]
    assert run(f"locked:{path}", 2).stdout == "done\n"
    refused = run(f"locked:{path}", 3)
    assert refused.returncode == 1 and refused.stdout == ""
    assert "TraceLockError: The trace lock" in refused.stderr
    assert "x: float32[3], locked is float32[2]" in refused.stderr


@pytest.mark.parametrize(
    "lock, message",
    [
        ("locked:/no/such/file", "NotFoundError: cannot read /no/such/file"),
        ("record:/no/such/file", "NotFoundError: cannot write /no/such/file"),
        ("traces.jsonl", "ValueError: GRAVEN_TRACE_LOCK must be record:PATH or locked:PATH"),
    ],
)
def test_a_lock_of_the_environment_that_cannot_begin_fails_each_trace(
    lock: str, message: str
) -> None:
    done = run(lock, 2)
    assert done.returncode == 1 and message in done.stderr


def test_the_lock_of_the_environment_is_the_first(tmp_path: Path) -> None:
    script = f"import graven as tf\ntf.trace_lock({str(tmp_path / 'other')!r})\n"
    done = run(f"record:{tmp_path / 'lock'}", 2, script)
    assert done.returncode == 1 and "There is a trace lock already" in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["lock"]


def test_a_child_process_writes_no_record(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    script = SCRIPT + "import os, sys\nif os.fork() == 0:\n    f(1)\n    sys.exit()\nos.wait()\n"
    assert run(f"record:{path}", 2, script).returncode == 0
    assert len(recorded(path)) == 2


rate: Any = 0.1
other: Any = 1.0


def scaled() -> tuple[Any, list[Any]]:
    runs: list[Any] = []

    def helper(x: Any) -> Any:
        return x * rate

    def body(x: Any) -> Any:
        runs.append(x)
        return helper(x)

    return tf.function(body), runs


def test_watched_values_are_recorded_and_held(tmp_path: Path) -> None:
    global rate
    rate = 0.1
    with tf.trace_lock(tmp_path / "lock"):
        scaled()[0](tf.ones([2]))
    (line,) = recorded(tmp_path / "lock")[1:]
    assert line["watched"] == {"rate": "0.1"}
    with tf.trace_lock(tmp_path / "lock", mode="locked"):
        f, runs = scaled()
        f(tf.ones([2]))
        rate = 0.5
        with pytest.raises(tf.errors.TraceLockError) as raised:
            f(tf.ones([2]))
        assert len(runs) == 1, "before the body runs"
        rate = 0.1
        f(tf.ones([2]))
    message = str(raised.value)
    assert "(x: float32[2]) of this value: rate is 0.5, locked is 0.1" in message
    assert 'record the lock again with mode="record"' in message


def test_a_value_that_has_changed_since_the_record_is_refused_before_the_body_runs(
    tmp_path: Path,
) -> None:
    global rate
    rate = 0.1
    with tf.trace_lock(tmp_path / "lock"):
        scaled()[0](tf.ones([2]))
    rate = 0.5
    f, runs = scaled()
    with tf.trace_lock(tmp_path / "lock", mode="locked"):
        with pytest.raises(tf.errors.TraceLockError, match=r"rate is 0\.5, locked is 0\.1"):
            f(tf.ones([2]))
        assert runs == []
        rate = 0.1
        f(tf.ones([2]))
    assert len(runs) == 1


def test_each_value_that_was_recorded_is_allowed(tmp_path: Path) -> None:
    global rate

    def run() -> None:
        global rate
        f, _ = scaled()
        for rate in (0.1, 0.5, 0.1):  # noqa: B007 (a global)
            f(tf.ones([2]))

    with tf.trace_lock(tmp_path / "lock"):
        run()
    assert [line["watched"] for line in recorded(tmp_path / "lock")[1:]] == [
        {"rate": "0.1"},
        {"rate": "0.5"},
    ]
    with tf.trace_lock(tmp_path / "lock", mode="locked"):
        run()


def test_items_and_lengths_are_recorded(tmp_path: Path) -> None:
    sizes = [3, 4]
    names = {"a": 1}

    def body(x: Any) -> Any:
        for size in sizes:
            x = x * size
        return x * names["a"]

    with tf.trace_lock(tmp_path / "lock"):
        tf.function(body)(tf.ones([2]))
    (line,) = recorded(tmp_path / "lock")[1:]
    assert line["watched"] == {
        "names['a']": "1",
        "sizes": "a list of 2 items",
        "sizes[0]": "3",
        "sizes[1]": "4",
    }
    sizes[1] = 5
    with tf.trace_lock(tmp_path / "lock", mode="locked"):
        with pytest.raises(tf.errors.TraceLockError, match=r"sizes\[1\] is 5, locked is 4"):
            tf.function(body)(tf.ones([2]))


def test_a_value_of_a_function_within_is_told_and_no_old_trace_runs(tmp_path: Path) -> None:
    global rate, other
    rate = other = 1.0

    @function
    def inner(x: Any) -> Any:
        return x * rate

    @function
    def outer(x: Any) -> Any:
        return inner(x) * other

    with tf.trace_lock(tmp_path / "lock"):
        outer(tf.ones([2]))
    with tf.trace_lock(tmp_path / "lock", mode="locked"):
        outer(tf.ones([2]))
        rate = 2.0
        with pytest.raises(tf.errors.TraceLockError, match=r"rate is 2\.0, locked is 1\.0"):
            outer(tf.ones([2]))


def by_sizes(read: bool) -> Any:
    return tf.function(lambda x: x * (x.shape[0] if read else 1.0))


@pytest.mark.parametrize("read", [False, True])
def test_the_record_says_which_types_traces_serve(read: bool, tmp_path: Path) -> None:
    with tf.trace_lock(tmp_path / "lock"):
        f = by_sizes(read)
        for n in (2, 3, 4):
            f(tf.ones([n]))
    types = [line["arguments"]["x"] for line in recorded(tmp_path / "lock")[1:]]
    expected = (
        ["float32[2]", "float32[3]", "float32[4]"] if read else ["float32[2]", "float32[None]"]
    )
    assert sorted(types) == sorted(expected)


@pytest.mark.parametrize("read", [False, True])
def test_the_order_of_sizes_may_be_another_one_when_it_is_locked(
    read: bool, tmp_path: Path
) -> None:
    with tf.trace_lock(tmp_path / "lock"):
        f = by_sizes(read)
        for n in (2, 3, 4):
            f(tf.ones([n]))
    with tf.trace_lock(tmp_path / "lock", mode="locked"):
        f = by_sizes(read)
        for n in (4, 2, 3, 2):
            assert f(tf.ones([n])).shape == (n,)
        if read:
            with pytest.raises(tf.errors.TraceLockError, match=r"x: float32\[5\], locked is"):
                f(tf.ones([5]))
        else:
            f(tf.ones([5]))
            with pytest.raises(tf.errors.TraceLockError):
                f(tf.ones([5, 1]))


class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mode: int | None = None


COMPOSITES: dict[str, Callable[[int], Any]] = {
    "ragged": lambda n: tf.RaggedTensor.from_row_splits(tf.ones([2]), [0, *[2] * n]),
    "sparse": lambda n: tf.SparseTensor([[0, 1]], [1.0], [n, 2]),
    "slices": lambda n: tf.IndexedSlices(tf.ones([n]), tf.range(n)),
    "optional": lambda n: tf.experimental.Optional.from_value(tf.ones([n])),
    "extension": lambda n: Masked(tf.ones([n])),
}


@pytest.mark.parametrize("kind", COMPOSITES)
def test_types_of_composites_are_told_apart(kind: str, tmp_path: Path) -> None:
    make = COMPOSITES[kind]
    with tf.trace_lock(tmp_path / "lock"):
        function(lambda x: x, reduce_retracing=False)(make(1))
    (line,) = recorded(tmp_path / "lock")[1:]
    assert "1" in line["arguments"]["x"]
    with tf.trace_lock(tmp_path / "lock", mode="locked"):
        f = function(lambda x: x, reduce_retracing=False)
        f(make(1))
        with pytest.raises(tf.errors.TraceLockError, match=r"x: .*, locked is "):
            f(make(3))


@pytest.mark.parametrize("kind", COMPOSITES)
def test_an_open_size_of_a_composite_allows_each(kind: str, tmp_path: Path) -> None:
    make = COMPOSITES[kind]
    with tf.trace_lock(tmp_path / "lock"):
        f = function(lambda x: x, reduce_retracing=True)
        for n in (1, 2, 3):
            f(make(n))
    with tf.trace_lock(tmp_path / "lock", mode="locked"):
        f = function(lambda x: x, reduce_retracing=False)
        for n in (5, 4):
            f(make(n))


def test_a_constant_that_a_composite_holds_is_no_size(tmp_path: Path) -> None:
    with tf.trace_lock(tmp_path / "lock"):
        function(lambda x: x)(Masked(tf.ones([2])))
    with tf.trace_lock(tmp_path / "lock", mode="locked"):
        f = function(lambda x: x)
        with pytest.raises(tf.errors.TraceLockError, match=r"mode=3.*locked is .*mode=None"):
            f(Masked(tf.ones([2]), mode=3))


def test_long_texts_are_told_apart_to_their_ends(tmp_path: Path) -> None:
    long = "x" * 300
    with tf.trace_lock(tmp_path / "lock"):
        function(lambda x, text: x)(tf.ones([1]), long + "a")
    with tf.trace_lock(tmp_path / "lock", mode="locked"):
        f = function(lambda x, text: x)
        f(tf.ones([1]), long + "a")
        with pytest.raises(tf.errors.TraceLockError) as raised:
            f(tf.ones([1]), long + "b")
    assert len(str(raised.value)) < 2000
