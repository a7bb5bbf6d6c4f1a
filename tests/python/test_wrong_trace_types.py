"""TraceTypes of users whose methods raise, lie, or do not fit each other."""

import contextlib
from collections.abc import Callable
from typing import Any, NoReturn

import graven as tf
import pytest

types = tf.types.experimental


class OwnError(Exception):
    """What methods of the types raise."""


def refuse(*arguments: Any, **keywords: Any) -> NoReturn:
    raise OwnError("mine")


class PlainType(types.TraceType):
    """One type for all objects."""

    def is_subtype_of(self, other: types.TraceType) -> bool:
        return isinstance(other, PlainType)

    def most_specific_common_supertype(self, others: Any) -> types.TraceType | None:
        return self

    def placeholder_value(self, placeholder_context: Any) -> Any:
        return 7

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlainType)

    def __hash__(self) -> int:
        return 5


def of_type(**members: Any) -> Callable[[], Any]:
    """Makes an object whose type has these members instead of PlainType's."""

    def make() -> Any:
        kind = type("StrangeType", (PlainType,), members)
        return type("Strange", (), {"__tf_tracing_type__": lambda *_: kind()})()

    return make


def traced_as(answer: Callable[..., Any]) -> Callable[[], Any]:
    return lambda: type("Strange", (), {"__tf_tracing_type__": answer})()


SPEC = tf.TensorSpec([], tf.float32)


class Holder:
    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor


def feeding(tensors: Callable[[], Any]) -> Callable[[], Any]:
    """Makes an object with one placeholder, for which its type feeds these."""
    return of_type(
        placeholder_value=lambda _, context: Holder(SPEC.placeholder_value(context)),
        to_tensors=lambda *_: tensors(),
    )


def endless_list() -> Any:
    endless: list[Any] = []
    endless.append(endless)
    return endless


def deep(kind: Callable[[Any], Any]) -> Any:
    value: Any = 1
    for _ in range(100_000):
        value = kind(value)
    return value


OWN = (OwnError, "mine")
DEPTH = (RecursionError, "maximum recursion depth exceeded")
NO_TYPE = (TypeError, "Expected an instance of tf.types.experimental.TraceType")
NUMBER = (TypeError, r"a tensor for each placeholder .*: there are 2 placeholders in all, and \d")
OTHER = (TypeError, "to_tensors of an argument's TraceType gave")

# What a call says each time; None: nothing.
TABLE: dict[str, tuple[Callable[[], Any], tuple[type[BaseException], str] | None]] = {
    "plain": (of_type(), None),
    "raises": (traced_as(refuse), OWN),
    "is None": (traced_as(lambda *_: None), NO_TYPE),
    "is a number": (traced_as(lambda *_: 3), NO_TYPE),
    "takes no context": (traced_as(lambda _: PlainType()), (TypeError, "takes 1 positional")),
    "eq raises": (of_type(__eq__=refuse, __hash__=lambda _: 5), OWN),
    "eq is never true": (of_type(__eq__=lambda *_: False, __hash__=lambda _: 5), None),
    "hash is a text": (of_type(__hash__=lambda _: "a"), None),
    "no hash": (of_type(__hash__=None), None),
    "subtype raises": (of_type(is_subtype_of=refuse, __eq__=lambda *_: False), OWN),
    "subtype is never": (of_type(is_subtype_of=lambda *_: False), None),
    "subtype is None": (of_type(is_subtype_of=lambda *_: None), None),
    "placeholder raises": (of_type(placeholder_value=refuse), OWN),
    # These three ended the process: the stack ran over.
    "placeholder in itself": (of_type(placeholder_value=lambda *_: endless_list()), DEPTH),
    "deep list": (of_type(placeholder_value=lambda *_: deep(lambda x: [x])), DEPTH),
    "deep tuple": (of_type(placeholder_value=lambda *_: deep(lambda x: (x,))), DEPTH),
    "tensors raise": (of_type(to_tensors=refuse), OWN),
    "tensors are no list": (of_type(to_tensors=lambda *_: 3), (TypeError, "must give a list")),
    "tensors are None": (feeding(lambda: None), (TypeError, "must give a list")),
    "one tensor": (feeding(lambda: [tf.constant(3.0)]), None),
    "no tensor": (feeding(lambda: []), NUMBER),
    "two tensors": (feeding(lambda: [tf.constant(3.0)] * 2), NUMBER),
    # The trace read the bytes of these as those of a float.
    "another dtype": (feeding(lambda: [tf.constant(3)]), OTHER),
    "a text": (feeding(lambda: [tf.constant("text")]), OTHER),
    "another shape": (feeding(lambda: [tf.constant([3.0, 4.0])]), OTHER),
}
ROWS = pytest.mark.parametrize(("make", "error"), TABLE.values(), ids=TABLE)


def expect(error: tuple[type[BaseException], str] | None, call: Callable[[], Any]) -> None:
    if error is None:
        call()
        return
    with pytest.raises(error[0], match=error[1]):
        call()


@pytest.mark.parametrize("reduce_retracing", [None, True, False])
@ROWS
def test_a_call_is_refused_in_words_and_the_cache_stays(
    make: Callable[[], Any], error: Any, reduce_retracing: bool | None
) -> None:
    def body(x: Any, value: Any) -> Any:
        return x + getattr(value, "tensor", 1.0)

    f = tf.function(body, reduce_retracing=reduce_retracing)
    one, strange = tf.constant(1.0), make()
    f(one, 0)
    for argument in (strange, [strange]):
        with contextlib.suppress(*([error[0]] if error else [])):
            f(one, argument)  # the first object of its type may be compared with nothing
        entries = f.cache_info().entries
        for _ in range(3):
            expect(error, lambda argument=argument: f(one, argument))  # type: ignore[misc]
        assert error is None or f.cache_info().entries == entries
    hits = f.cache_info().hits
    assert f(one, 0).numpy() == 2.0 and f.cache_info().hits == hits + 1
    assert f.explain().to_dict() and str(f.explain()) and f.explain().to_html()


def test_an_exception_of_a_comparison_is_raised_before_anything_is_traced(capsys: Any) -> None:
    runs: list[Any] = []

    @tf.function
    def f(value: Any) -> Any:
        runs.append(value)
        return tf.constant(1.0)

    make = of_type(is_subtype_of=refuse, __eq__=lambda *_: False)
    f(make())
    for _ in range(2):
        with pytest.raises(OwnError):
            f(make())
        with pytest.raises(OwnError):
            f.get_concrete_function(make())
        with pytest.raises(OwnError):
            f.explain(make())
    assert len(runs) == 1 and f.cache_info().entries == 1
    assert f(1).numpy() == 1.0
    assert capsys.readouterr().err == ""


class SizeType(PlainType):
    """A type of its own for each size, and a supertype that a test gives."""

    def __init__(self, size: int, supertype: Any) -> None:
        self.size, self.supertype = size, supertype

    def is_subtype_of(self, other: types.TraceType) -> bool:
        return self == other

    def most_specific_common_supertype(self, others: Any) -> Any:
        return self.supertype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SizeType) and self.size == other.size

    def __hash__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"size {self.size}"


class Sized:
    def __init__(self, size: int, supertype: Any) -> None:
        self.type = SizeType(size, supertype)

    def __tf_tracing_type__(self, context: Any) -> SizeType:
        return self.type


@pytest.mark.parametrize("supertype", [3, "text", object, [SPEC]])
def test_a_supertype_that_is_no_type_is_a_type_error(supertype: Any) -> None:
    f = tf.function(lambda _: tf.constant(1.0), reduce_retracing=True)
    f(Sized(1, supertype))
    before = f.cache_info()[:2]
    for _ in range(2):
        with pytest.raises(TypeError, match="of size 2 must return a TraceType or None, not "):
            f(Sized(2, supertype))
    assert f.cache_info()[:2] == before
    assert f(Sized(1, supertype)).numpy() == 1.0 and f.cache_info()[:2] == before


@pytest.mark.parametrize("supertype", [SPEC, SizeType(5, None)])
def test_a_supertype_that_does_not_cover_its_types_is_left_out_and_reported(
    supertype: Any, caplog: Any
) -> None:
    # A TensorSpec was fed with objects, and each failing call left a trace behind.
    f = tf.function(lambda _: tf.constant(1.0), reduce_retracing=True)
    for size in (1, 2, 2, 3, 1, 2):
        assert f(Sized(size, supertype)).numpy() == 1.0
    assert f.cache_info().entries == 3
    assert "is_subtype_of says that it does not cover both" in caplog.text


def test_a_placeholder_outside_of_a_trace_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="only while a function is traced"):
        tf.while_loop(lambda _: False, lambda x: x, [feeding(lambda: [tf.constant(3.0)])()])
