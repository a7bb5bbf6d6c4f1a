"""Exceptions that leave converted code: the user's frames, and the class."""

import gc
import inspect
import pickle
import re
import weakref
from typing import Any

import graven as tf
import pytest
from graven.autograph import _operators as ag
from graven.autograph import _tracing, experimental
from graven.autograph._errors import StagingError


def error_of(f: Any, *args: Any) -> Any:
    """The exception that leaves a function, called as the body of a Function is."""
    with pytest.raises(Exception) as raised:
        _tracing.call(f, True, (), args, {})
    return raised.value


def frames(error: Any) -> list[tuple[str, str, str]]:
    """The function, mark and source of each frame in the text."""
    pattern = r'^    File "[^"]+", line \d+, in (\S+)(?:  (\*+))?\n        (.*)$'
    return re.findall(pattern, str(error), re.M)


def fails(x: Any) -> Any:
    raise ValueError("first\nsecond")


def in_branch(x: Any) -> Any:
    y = x
    if y > 0:
        return fails(y)
    return y


def in_expression(x: Any) -> Any:
    return x > 0 and (fails(x) if x > 1 else 0)


def in_comprehension(x: Any) -> Any:
    return [fails(y) for y in [x]]


FAILING = {
    in_branch: "return fails(y)",
    in_expression: "return x > 0 and (fails(x) if x > 1 else 0)",
    in_comprehension: "return [fails(y) for y in [x]]",
}


@pytest.mark.parametrize(("f", "line"), FAILING.items(), ids=lambda p: getattr(p, "__name__", ""))
@pytest.mark.parametrize("x", [2, tf.constant(2)], ids=["python", "tensor"])
def test_an_error_is_reported_at_the_line_that_failed(f: Any, line: str, x: Any) -> None:
    error = error_of(f, x)
    assert frames(error) == [
        (f.__name__, "*", line),
        ("fails", "*", 'raise ValueError("first\\nsecond")'),
    ]
    start = inspect.getsourcelines(f)[1]
    assert f"line {start + (3 if f is in_branch else 1)}, in {f.__name__}" in str(error)


def test_the_text_has_the_original_one_at_its_end() -> None:
    text = str(error_of(in_branch, 1))
    assert text.startswith("in user code:\n\n    File ")
    assert text.endswith("\n\n    ValueError: first\n    second\n")


def test_frames_that_are_not_converted_are_marked() -> None:
    @experimental.do_not_convert
    def plain(x: Any) -> Any:
        return deeper(x)

    def deeper(x: Any) -> Any:
        raise KeyError("deep")

    def f(x: Any) -> Any:
        return plain(x)

    assert [frame[:2] for frame in frames(error_of(f, 1))] == [
        ("f", "*"),
        ("plain", "**"),
        ("deeper", ""),
    ]


def test_only_the_outermost_caller_rewrites() -> None:
    seen: list[Any] = []

    def inner() -> Any:
        _tracing.call(fails, True, (), (1,), {})

    ag.autograph_artifact(inner)

    def f(x: Any) -> Any:
        try:
            inner()
        except ValueError as error:
            seen.append(str(error))
            raise

    assert str(error_of(f, 1)).count("in user code:") == 1
    assert seen == ["first\nsecond"]


def test_the_very_exception_leaves_code_that_is_not_converted() -> None:
    original = ValueError("mine")

    @experimental.do_not_convert
    def f() -> None:
        raise original

    assert error_of(f) is original


def test_frames_of_an_endless_recursion_are_not_all_listed() -> None:
    def endless(x: int) -> Any:
        return endless(x + 1)

    error = error_of(endless, 1)
    assert isinstance(error, RecursionError)
    assert len(str(error).splitlines()) < 30 and "more times]" in str(error)

    def ping(x: int) -> Any:
        return pong(x + 1)

    def pong(x: int) -> Any:
        return ping(x + 1)

    assert len(str(error_of(ping, 1)).splitlines()) < 500


# Classes


class OwnError(ValueError):
    def __init__(self, code: int, *, detail: str = "") -> None:
        super().__init__(f"code {code}")
        self.code = code
        self.detail = detail


class PairError(Exception):
    def __new__(cls, a: int, b: int) -> "PairError":
        return super().__new__(cls, a, b)

    def __init__(self, a: int, b: int) -> None:
        super().__init__(a)


def rewritten(original: Exception) -> Any:
    def f() -> None:
        raise original

    error = error_of(f)
    assert error is not original and error.__cause__ is None and error.__suppress_context__
    assert error.ag_error_metadata.get_message() == str(error)
    assert error.__traceback__ is not None
    return error


def test_a_class_that_takes_arguments_is_derived_from() -> None:
    error = rewritten(OwnError(5, detail="more"))
    assert isinstance(error, StagingError) and isinstance(error, OwnError)
    assert type(error).__name__ == "StagingError"
    assert (error.code, error.detail, error.args) == (5, "more", ("code 5",))
    assert str(error).endswith("\n\n    OwnError: code 5\n")


def test_attributes_that_lie_in_the_object_are_copied() -> None:
    error = rewritten(FileNotFoundError(2, "No such file", "name.txt"))
    assert isinstance(error, StagingError) and isinstance(error, FileNotFoundError)
    assert (error.errno, error.strerror, error.filename) == (2, "No such file", "name.txt")
    decoding = rewritten(UnicodeDecodeError("utf8", b"ab", 0, 1, "bad"))
    assert (decoding.encoding, decoding.start, decoding.reason) == ("utf8", 0, "bad")


def test_a_class_that_cannot_be_made_again_becomes_a_plain_staging_error() -> None:
    error = rewritten(PairError(1, 2))
    assert type(error) is StagingError
    assert str(error).endswith("\n\n    PairError: 1\n")


def test_a_key_error_prints_its_lines() -> None:
    error = rewritten(KeyError("k"))
    assert isinstance(error, KeyError) and str(error).endswith("\n\n    KeyError: 'k'\n")


class TextError(Exception):
    def __str__(self) -> str:
        return f"{self.args[0]} of {self.args[1]}"


class SlotError(Exception):
    __slots__ = ("place",)
    place: str


@pytest.mark.parametrize(
    "kind", [Exception, ValueError, TextError, SlotError, KeyError, tf.errors.InternalError]
)
def test_attributes_and_notes_are_kept(kind: Any) -> None:
    arguments = (None, None, "text") if kind is tf.errors.InternalError else (1, 2)
    original = kind(*arguments)
    original.code = 7
    original.add_note("see there")
    if kind is SlotError:
        original.place = "here"
    error = rewritten(original)
    assert isinstance(error, kind)
    assert (error.code, error.__notes__) == (7, ["see there"])
    if kind is TextError:
        assert error.args == (1, 2) and str(error).endswith("\n\n    TextError: 1 of 2\n")
    if kind is SlotError:
        assert error.place == "here"


def test_names_that_are_missing_are_kept() -> None:
    assert error_of(lambda: missing).name == "missing"  # type: ignore[name-defined]  # noqa: F821
    error = error_of(lambda: (3).missing)  # type: ignore[attr-defined]
    assert (error.name, error.obj) == ("missing", 3)


@pytest.mark.parametrize(
    "original",
    [
        IndexError("list index out of range"),
        OSError(2, "No such file"),
        OSError(2, "No such file", "name.txt"),
        ImportError("none", name="module", path="place"),
        UnicodeDecodeError("utf8", b"ab", 0, 1, "bad"),
        OwnError(5, detail="more"),
        TextError(1, 2),
        KeyError("k"),
        ValueError("text"),
    ],
    ids=repr,
)
def test_an_exception_goes_to_another_process(original: Exception) -> None:
    error = rewritten(original)
    other = pickle.loads(pickle.dumps(error))
    assert type(other) is type(error) and isinstance(other, type(original))
    assert (str(other), other.args, vars(other)) == (str(error), error.args, vars(error))
    for name in ("errno", "filename", "name", "path", "reason"):
        assert getattr(other, name, None) == getattr(original, name, None)


def test_nothing_is_kept_of_the_class_of_an_exception() -> None:
    class LocalError(ValueError):
        def __init__(self, code: int) -> None:
            super().__init__(code)

    kind = weakref.ref(LocalError)
    error = rewritten(LocalError(1))
    assert isinstance(error, LocalError)
    del LocalError, error
    gc.collect()  # the class that was raised
    gc.collect()  # and then the one it derives from
    assert kind() is None


def test_an_error_of_an_op_keeps_its_class_and_its_node() -> None:
    node, op = object(), object()
    error = rewritten(tf.errors.NotFoundError(node, op, "text"))
    assert type(error) is tf.errors.NotFoundError
    assert error.node_def is node and error.op is op and error.error_code == 5
