"""Objects whose methods raise or lie, wherever a Function meets them.

As an argument such an object is refused with its own exception or in words, or it is taken by
identity. As a watched value it never matters: no code of it runs. In each case the cache is intact
afterwards: a call that hit before hits again, and nothing was added to what a refused call found.
"""

import collections
import collections.abc
import contextlib
import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import graven as tf
import numpy as np
import pytest


class OwnError(Exception):
    """What methods of the objects raise."""


def refuse(*arguments: Any, **keywords: Any) -> NoReturn:
    raise OwnError("mine")


def of_class(**members: Any) -> Callable[[], Any]:
    """Makes an object of a fresh class with these members."""
    return lambda: type("Strange", (), members)()


def alternating() -> Callable[..., bool]:
    """A comparison that says something else each time."""
    answers: list[bool] = []

    def compare(*_: object) -> bool:
        answers.append(len(answers) % 2 == 1)
        return answers[-1]

    return compare


class RefusingClass(type):
    """A metaclass."""

    def __eq__(cls, other: object) -> bool:
        raise OwnError("mine")

    def __hash__(cls) -> int:
        raise OwnError("mine")


class OfRefusingClass(metaclass=RefusingClass):
    pass


class OfRefusingDescriptors:
    value = of_class(__get__=refuse, __set__=refuse)()


class SecretiveClass(type):
    def __getattr__(cls, name: str) -> Any:
        raise OwnError("mine")


class OfSecretiveClass(metaclass=SecretiveClass):
    pass


class Colour(enum.Enum):
    RED = 1

    def __eq__(self, other: object) -> bool:
        raise OwnError("mine")

    def __hash__(self) -> int:
        raise OwnError("mine")


class Numbers(collections.namedtuple("Numbers", "a b")):
    """A named tuple that cannot be compared."""

    def __eq__(self, other: object) -> bool:
        raise OwnError("mine")


class Pairs(collections.abc.Mapping[str, int]):
    """A mapping whose items() gives something else."""

    def __init__(self, pairs: Any) -> None:
        self.pairs = pairs

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        return iter("a")

    def __getitem__(self, key: str) -> int:
        return 1

    def items(self) -> Any:
        return self.pairs


def nested(depth: int, wrap: Callable[[Any], Any]) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = wrap(value)
    return value


def endless_list() -> Any:
    endless: list[Any] = []
    endless.append(endless)
    return endless


def endless_dict() -> Any:
    endless: dict[str, Any] = {}
    endless["a"] = endless
    return endless


GENERIC = (TypeError, "generic TraceType for")
PROTOCOL = (TypeError, "Expected an instance of tf.types.experimental.TraceType")
FLATTEN = (TypeError, "must return .metadata, components")
PAIR = (TypeError, "must give pairs of a key and an item")
OWN = (OwnError, "mine")
DEPTH = (RecursionError, "maximum recursion depth exceeded")


@dataclass(frozen=True)
class Row:
    """An object, and what a call says that has it among its arguments; None: it is taken."""

    make: Callable[[], Any]
    error: tuple[type[BaseException], str] | None = None


TABLE = {
    "eq that raises": Row(of_class(__eq__=refuse, __hash__=lambda _: 1)),
    "eq that is always true": Row(of_class(__eq__=lambda *_: True, __hash__=lambda _: 1)),
    "eq that is never true": Row(of_class(__eq__=lambda *_: False, __hash__=lambda _: 1)),
    "eq that alternates": Row(of_class(__eq__=alternating(), __hash__=lambda _: 1)),
    "eq that gives an array": Row(of_class(__eq__=lambda *_: np.ones(3), __hash__=lambda _: 1)),
    "eq that gives a tensor": Row(
        of_class(__eq__=lambda *_: tf.constant([True, True]), __hash__=lambda _: 1)
    ),
    "hash that raises": Row(of_class(__hash__=refuse), GENERIC),
    "hash that is no number": Row(of_class(__hash__=lambda _: "a"), GENERIC),
    "no hash": Row(of_class(__hash__=None), GENERIC),
    "no hash and no repr": Row(of_class(__hash__=None, __repr__=refuse), GENERIC),
    "hash of a number": Row(lambda: type("Strange", (float,), {"__hash__": refuse})(3.5), GENERIC),
    "eq of an enum": Row(lambda: Colour.RED, GENERIC),
    "a class that raises": Row(lambda: OfRefusingClass, GENERIC),
    "an object of a class that raises": Row(OfRefusingClass),
    "an object of a class without attributes": Row(OfSecretiveClass),
    "attributes that raise": Row(of_class(__getattr__=refuse)),
    "all attributes raise": Row(of_class(__getattribute__=refuse)),
    "any attribute is there": Row(of_class(__getattr__=lambda *_: lambda *_: 3), PROTOCOL),
    "any attribute is the object": Row(
        of_class(__getattr__=lambda self, _: self, __call__=lambda self, *_: self), PROTOCOL
    ),
    "descriptors that raise": Row(OfRefusingDescriptors),
    "a class attribute that lies": Row(of_class(__class__=property(lambda _: list))),
    "a class attribute that raises": Row(of_class(__class__=property(refuse))),
    "repr that raises": Row(of_class(__repr__=refuse)),
    "array that raises": Row(of_class(__array__=refuse), OWN),
    "array that is none": Row(
        of_class(__array__=lambda *_, **__: "none"), (ValueError, "unsupported type")
    ),
    "a list that cannot be read": Row(
        lambda: type("Strange", (list,), {"__iter__": refuse})([1]), OWN
    ),
    "a list of another length": Row(
        lambda: type("Strange", (list,), {"__len__": lambda _: 5})([1])
    ),
    "a dict that cannot be read": Row(
        lambda: type("Strange", (dict,), {"items": refuse})(a=1), OWN
    ),
    "a named tuple that cannot be compared": Row(lambda: Numbers(1, 2)),
    "items that are no pairs": Row(lambda: Pairs([3]), PAIR),
    "items of one": Row(lambda: Pairs([(1,)]), PAIR),
    "items that are texts": Row(lambda: Pairs("ab"), PAIR),
    "no items": Row(lambda: Pairs(None), (TypeError, "returned a non-iterable")),
    "flattened to nothing": Row(of_class(__tf_flatten__=lambda _: None), FLATTEN),
    "flattened to itself": Row(of_class(__tf_flatten__=lambda self: ((), (self,))), DEPTH),
    "a list in itself": Row(endless_list, DEPTH),
    "a dict in itself": Row(endless_dict, DEPTH),
    "a thousand lists": Row(lambda: nested(1000, lambda x: [x]), DEPTH),
    "a thousand dicts": Row(lambda: nested(1000, lambda x: {"a": x}), DEPTH),
    "a thousand tuples": Row(lambda: nested(1000, lambda x: (x,)), DEPTH),
}
ROWS = pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)


def use(value: Any) -> Any:
    """What a body does with a value that its graph does not depend on."""
    return value


def call_refused(row: Row, call: Callable[[], Any]) -> None:
    """The call is refused as the row says, each time that it is tried; or it is taken."""
    for _ in range(2):
        if row.error is None:
            call()
            continue
        with pytest.raises(row.error[0], match=row.error[1]):
            call()


def check(f: Any, row: Row, good: Callable[[], Any], bad: Callable[[], Any]) -> None:
    good()
    good()
    before = f.cache_info()
    call_refused(row, bad)
    between = f.cache_info()
    if row.error:
        assert between[:3] == before[:3] and between.evictions == before.evictions
    good()
    after = f.cache_info()
    assert after.traces == between.traces and after.hits == between.hits + 1
    f.explain().to_dict()
    assert str(f.explain()) and f.explain().to_html()


def body(x: Any, value: Any = None) -> Any:
    return x + 1.0


ONE = tf.constant(1.0)
OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "generalising": {"reduce_retracing": True},
    "as TensorFlow": {"stale": "ignore", "reduce_retracing": False},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@ROWS
def test_as_an_argument(row: Row, options: dict[str, Any]) -> None:
    f, strange = tf.function(**options)(body), row.make()
    check(f, row, lambda: f(ONE, 0), lambda: f(ONE, strange))


@ROWS
def test_as_an_item_of_an_argument(row: Row) -> None:
    f, strange = tf.function(body), row.make()
    check(f, row, lambda: f(ONE, [0]), lambda: f(ONE, [strange, {"a": strange}]))


@ROWS
def test_as_an_argument_of_a_nested_function(row: Row) -> None:
    inner, strange = tf.function(body), row.make()
    outer = tf.function(lambda x, flag: inner(x, strange if flag else 0), autograph=False)
    check(inner, row, lambda: inner(ONE, 0), lambda: tf.function(lambda: outer(ONE, True))())


@ROWS
def test_as_a_default_argument(row: Row) -> None:
    strange = row.make()

    def with_default(x: Any, value: Any = strange) -> Any:
        return x + 1.0

    f = tf.function(with_default)
    check(f, row, lambda: f(ONE, 0), lambda: f(ONE))


@ROWS
def test_as_an_argument_that_is_only_asked_about(row: Row) -> None:
    f, strange = tf.function(body), row.make()
    check(f, row, lambda: f(ONE, 0), lambda: f.get_concrete_function(ONE, strange))
    check(f, row, lambda: f(ONE, 0), lambda: f.explain(ONE, strange).to_dict())


@ROWS
def test_as_a_key_of_an_argument(row: Row) -> None:
    # A key whose == alternates ended the process: it was found first, and then not.
    f, strange = tf.function(body), row.make()
    try:
        argument = {strange: 1}
    except Exception:
        return  # Python refuses it
    f(ONE, {"a": 1})
    for _ in range(4):
        with contextlib.suppress(TypeError, KeyError, OwnError):
            f(ONE, argument)
            f.explain(ONE, argument)
    traces = f.experimental_get_tracing_count()
    f(ONE, {"a": 1})
    assert f.experimental_get_tracing_count() == traces


@ROWS
def test_where_a_tensor_must_be(row: Row) -> None:
    strange = row.make()
    if issubclass(type(strange), float):
        return
    f = tf.function(lambda x, y: x + 1.0, input_signature=[tf.TensorSpec([]), tf.TensorSpec([])])
    concrete = f.get_concrete_function()
    before = f.cache_info()[:2]
    for call in (f, concrete):
        with pytest.raises((TypeError, ValueError, OwnError, RecursionError)):
            call(ONE, strange)
        assert call(ONE, ONE).numpy() == 2.0
    assert f.cache_info()[:2] == before


K: Any = 0


def as_a_global(strange: Any) -> tuple[Any, Callable[[Any], None]]:
    def change(value: Any) -> None:
        global K
        K = value

    @tf.function
    def f(x: Any) -> Any:
        use(K)
        return x + 1.0

    return f, change


def as_a_captured_variable(strange: Any) -> tuple[Any, Callable[[Any], None]]:
    k: Any = 0

    def change(value: Any) -> None:
        nonlocal k
        k = value

    @tf.function
    def f(x: Any) -> Any:
        use(k)
        return x + 1.0

    return f, change


def as_an_attribute(strange: Any) -> tuple[Any, Callable[[Any], None]]:
    holder = of_class()()

    @tf.function
    def f(x: Any) -> Any:
        use(holder.k)
        return x + 1.0

    return f, lambda value: setattr(holder, "k", value)


def as_an_item_of_a_list(strange: Any) -> tuple[Any, Callable[[Any], None]]:
    items: list[Any] = [0, [0]]

    @tf.function
    def f(x: Any) -> Any:
        use(items[0])
        for item in items:
            use(item)
        return x + 1.0

    def change(value: Any) -> None:
        items[0] = value
        items[1][0] = value

    return f, change


def as_an_item_of_a_dict(strange: Any) -> tuple[Any, Callable[[Any], None]]:
    items: dict[str, Any] = {"a": 0}

    @tf.function
    def f(x: Any) -> Any:
        use(items["a"])
        for item in items.values():
            use(item)
        return x + 1.0

    return f, lambda value: items.update(a=value)


def as_a_default_of_a_helper(strange: Any) -> tuple[Any, Callable[[Any], None]]:
    def helper(x: Any, k: Any = 0) -> Any:
        return x + 1.0

    @tf.function
    def f(x: Any) -> Any:
        return helper(x)

    return f, lambda value: setattr(helper, "__defaults__", (value,))


def as_the_owner_of_an_attribute(strange: Any) -> tuple[Any, Callable[[Any], None]]:
    holder = of_class(k=of_class(value=0)())()

    @tf.function
    def f(x: Any) -> Any:
        with contextlib.suppress(AttributeError, OwnError):
            use(holder.k.value)
        return x + 1.0

    plain = holder.k
    return f, lambda value: setattr(holder, "k", value or plain)


@pytest.mark.parametrize("stale", ["retrace", "warn", "error"])
@pytest.mark.parametrize(
    "place",
    [
        as_a_global,
        as_a_captured_variable,
        as_an_attribute,
        as_an_item_of_a_list,
        as_an_item_of_a_dict,
        as_a_default_of_a_helper,
        as_the_owner_of_an_attribute,
    ],
)
@ROWS
def test_as_a_watched_value(row: Row, place: Callable[..., Any], stale: str) -> None:
    strange = row.make()
    f, change = place(strange)
    f = tf.function(f.python_function, stale=stale)
    change(0)
    f(ONE)
    change(strange)
    for _ in range(2):
        if stale == "error":
            with pytest.raises(RuntimeError, match=", changed from "):
                f(ONE)
        else:
            assert f(ONE).numpy() == 2.0
        f.explain().to_dict()
        assert str(f.explain(ONE)) and f.cache_info().text
    change(0)
    assert f(ONE).numpy() == 2.0
    traces = f.experimental_get_tracing_count()
    assert f(ONE).numpy() == 2.0 and f.experimental_get_tracing_count() == traces


@ROWS
def test_as_the_first_value_that_is_watched(row: Row) -> None:
    f, change = as_a_global(None)
    change(row.make())
    assert f(ONE).numpy() == 2.0
    traces = f.experimental_get_tracing_count()
    assert f(ONE).numpy() == 2.0 and f.experimental_get_tracing_count() == traces
    change(0)
    assert f(ONE).numpy() == 2.0


def test_an_exception_of_a_hash_is_the_cause() -> None:
    with pytest.raises(TypeError, match="generic TraceType") as raised:
        tf.function(body)(ONE, of_class(__hash__=refuse)())
    assert isinstance(raised.value.__cause__, OwnError)


@pytest.mark.parametrize("make", [of_class(__repr__=refuse), lambda: nested(1000, lambda x: [x])])
def test_the_error_of_a_cast_does_not_depend_on_the_text_of_the_argument(make: Any) -> None:
    f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([])])
    with pytest.raises(TypeError, match=r"Binding inputs .*, whose repr.. fails") as raised:
        f(make())
    assert str(raised.value).endswith("See docs/errors/binding-inputs.md")


def test_an_object_that_cannot_be_printed_is_named_by_its_class() -> None:
    with pytest.raises(TypeError, match=r"for an object of class Strange, whose repr\(\) fails"):
        tf.function(body)(ONE, of_class(__hash__=None, __repr__=refuse)())


def test_an_argument_may_change_while_it_is_compared() -> None:
    items: list[Any] = []

    class Clearing:
        def __eq__(self, other: object) -> bool:
            items.clear()
            return True

        def __hash__(self) -> int:
            items.clear()
            return 1

    f = tf.function(body)
    for _ in range(5):
        items[:] = [Clearing(), Clearing(), [Clearing()], {Clearing(): 1}]
        assert f(ONE, items).numpy() == 2.0
        assert f(ONE, [0]).numpy() == 2.0


@pytest.mark.parametrize("name", [3, None, "\ud800", "a\0b", refuse])
def test_a_callable_may_have_any_name(name: Any) -> None:
    named = of_class(__call__=lambda _, x: x + 1.0, __name__=name, __qualname__="Strange")()
    f = tf.function(named)
    assert f(ONE).numpy() == 2.0 and str(f.explain()) and f.cache_info().text
