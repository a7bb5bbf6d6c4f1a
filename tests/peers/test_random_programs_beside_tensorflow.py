"""Random programs of control flow: plain Python, converted by Graven, converted by TensorFlow.

Each program runs on eager tensors as Python runs it, in both systems, and as a Function of either,
on two sets of arguments, with the gradients of its floats by all arguments and a variable, once or
twice differentiated, from outside or within the Function. Graven's Function is to give what Python
gives. It may refuse what TensorFlow's refuses too, but no shape that a loop changes; what
TensorFlow refuses and Graven runs need only agree with Python: such shapes, lists that grow in
staged statements, and names that are None on some paths (for None before a loop TensorFlow has
zeros in it, so that it is asked no more there). Where a name has no value in Python (the target of
a range without elements), it may have one, but no other than in TensorFlow.

RANDOM_PROGRAMS is how many programs run, RANDOM_SEED chooses others. TensorFlow takes ten times as
long as all else: it sees every program that Graven refuses, and of the others one in RANDOM_EVERY.

    RANDOM_PROGRAMS=10000 RANDOM_SEED=1 RANDOM_EVERY=1 .venv-peers/bin/python -m pytest \
        tests/peers/test_random_programs_beside_tensorflow.py
"""

import contextlib
import itertools
import linecache
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import hypothesis
import numpy as np
import pytest
import tensorflow
from control_flow_programs import arguments, programs
from hypothesis import strategies as st

PROGRAMS = int(os.environ.get("RANDOM_PROGRAMS", "500"))
SEED = int(os.environ.get("RANDOM_SEED", "0"))
EVERY = int(os.environ.get("RANDOM_EVERY", "8"))
START_OF_W = 0.625
numbers = itertools.count()


class Box:
    """Attributes, as an object of a program has them."""

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)


class Refusal(str):
    """What a system says instead of running a program: the class and the text of its error."""


@dataclass(frozen=True)
class Case:
    """A program and how it is called.

    Attributes:
      text: The program.
      p: Its Python bool.
      calls: The other arguments of each call.
      order: How often the floats are differentiated.
      is_inside: Whether the Function differentiates; else gradients go through its calls.
      unknown_sizes: Whether the Function has a signature that leaves the length of vectors open.
    """

    text: str
    p: bool
    calls: Sequence[Sequence[Any]]
    order: int
    is_inside: bool
    unknown_sizes: bool


@st.composite
def cases(draw: Callable[[Any], Any]) -> Case:
    unknown_sizes = draw(st.integers(0, 3)) == 0
    lengths = (draw(st.integers(1, 4)), draw(st.integers(1, 4))) if unknown_sizes else (3, 3)
    return Case(
        draw(programs()),
        draw(st.booleans()),
        [draw(arguments(length)) for length in lengths],
        2 if draw(st.integers(0, 4)) == 0 else 1,
        draw(st.booleans()),
        unknown_sizes,
    )


def function(text: str, tf: Any) -> tuple[Callable[..., Any], Any]:
    """The function of a program over a system, and the variable that it knows as w."""
    name = f"<random program {next(numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    w = tf.Variable(START_OF_W)
    namespace: dict[str, Any] = {"tf": tf, "Box": Box, "w": w}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"], w


def results(tf: Any, f: Callable[..., Any], w: Any, order: int, operands: Sequence[Any]) -> Any:
    """What a call gives, its gradients, and last their sum."""
    sources = [*operands[:2], *operands[3:], w]
    with tf.GradientTape() as tape:
        tape.watch(sources[:-1])
        if order > 1:
            *found, loss = results(tf, f, w, order - 1, operands)
        else:
            floats, ints, bools, vectors, grown = f(*operands)
            parts = [*floats, *map(tf.reduce_sum, vectors), tf.reduce_sum(grown)]
            loss = tf.add_n([tf.tanh(part * (0.5 + 0.125 * i)) for i, part in enumerate(parts)])
            found = [*parts, *vectors, *ints, *bools]
    gradients = tape.gradient(loss, sources, unconnected_gradients="zero")
    return [*found, *gradients, tf.add_n([tf.reduce_sum(gradient) for gradient in gradients])]


def outcomes(tf: Any, case: Case, is_traced: bool) -> Iterator[list[Any] | Refusal]:
    """What each call gives and leaves in w, or the error instead."""
    f, w = function(case.text, tf)

    def call(*operands: Any) -> Any:
        return f(*operands, case.p)

    def differentiated(*operands: Any) -> Any:
        return results(tf, call, w, case.order, operands)

    dtypes = [tf.float32, tf.float32, tf.int32, tf.float32, tf.float32]
    shapes: list[list[int | None]] = [[], [], [], [None], [2, None]]
    signature = [tf.TensorSpec(s, d) for s, d in zip(shapes, dtypes, strict=True)]
    options = {"input_signature": signature} if case.unknown_sizes else {}
    if is_traced and case.is_inside:
        # The function alone is converted, not what differentiates.
        call = tf.autograph.to_graph(call)
        differentiated = tf.function(differentiated, autograph=False, **options)
    elif is_traced:
        call = tf.function(call, **options)
    for values in case.calls:
        w.assign(START_OF_W)
        operands = [tf.constant(v, d) for v, d in zip(values, dtypes, strict=True)]
        try:
            with strict(tf):
                found = differentiated(*operands)
        except Exception as error:
            yield Refusal(f"{type(error).__name__}: {error}")
        else:
            yield [np.asarray(part) for part in [*found, w]]


def agree(found: list[Any] | Refusal, expected: list[Any] | Refusal) -> bool:
    if isinstance(found, Refusal) or isinstance(expected, Refusal):
        return isinstance(found, Refusal) and isinstance(expected, Refusal)
    return len(found) == len(expected) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-5)
        for a, b in zip(found, expected, strict=True)
    )


def disagreement(case: Case, asks_tensorflow: bool) -> str | None:
    """In what the systems differ on a program, or None."""
    python = list(outcomes(graven, case, is_traced=False))
    traced = list(outcomes(graven, case, is_traced=True))
    if asks_tensorflow and (eager := eager_disagreement(case, python)):
        return eager
    theirs: list[Any] | None = None
    if asks_tensorflow or any(
        isinstance(one, Refusal) != isinstance(other, Refusal)
        for one, other in zip(traced, python, strict=True)
    ):
        theirs = list(outcomes(tensorflow, case, is_traced=True))
    for found, expected, peer in zip(traced, python, theirs or python, strict=True):
        if isinstance(found, Refusal):
            # A loop in a loop that should iterate, and does not, gives zeros in TensorFlow.
            if not isinstance(peer, Refusal) and (is_unbound(expected) or agree(peer, expected)):
                return f"only Graven refuses: {found}"
            if "before the loop, but shape" in found:
                return f"Graven refuses a shape: {found}"
        elif not is_unbound(expected) and not agree(found, expected):
            return f"Graven's Function gives {found}, Python {expected}"
        elif is_unbound(expected) and not isinstance(peer, Refusal) and not agree(found, peer):
            return f"Graven's Function gives {found}, TensorFlow's {peer}, Python {expected}"
        if may_be_none(case.text) or isinstance(peer, Refusal) or is_unbound(expected):
            continue
        # Where TensorFlow's own eager results are Python's, its Function is wrong.
        if not agree(peer, expected) and (eager := eager_disagreement(case, python)):
            return f"{eager}, TensorFlow's Function {peer}"
    return None


def eager_disagreement(case: Case, python: list[list[Any] | Refusal]) -> str | None:
    """In what eager TensorFlow differs from what eager Graven gives, or None."""
    for ours, theirs in zip(python, outcomes(tensorflow, case, is_traced=False), strict=True):
        if not agree(ours, theirs):
            return f"eager Graven gives {ours}, eager TensorFlow {theirs}"
    return None


def may_be_none(text: str) -> bool:
    """Whether a program gives e, which is None at its start, a value."""
    return text.count(" e = ") > 1


def is_unbound(outcome: list[Any] | Refusal) -> bool:
    return isinstance(outcome, Refusal) and outcome.startswith("UnboundLocalError")


@pytest.fixture(scope="module", autouse=True)
def _quiet() -> Iterator[None]:
    """TensorFlow warns of each function that it cannot convert."""
    logger = tensorflow.get_logger()
    level = logger.level
    logger.setLevel(logging.ERROR)
    yield
    logger.setLevel(level)


@contextlib.contextmanager
def strict(tf: Any) -> Iterator[None]:
    """Graven has to convert all, where TensorFlow may leave a function as it is."""
    if tf is graven:
        os.environ["AUTOGRAPH_STRICT_CONVERSION"] = "1"
    try:
        yield
    finally:
        os.environ.pop("AUTOGRAPH_STRICT_CONVERSION", None)


@hypothesis.seed(SEED)
@hypothesis.settings(
    max_examples=PROGRAMS,
    deadline=None,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
@hypothesis.given(cases(), st.integers(1, EVERY))
def test_a_program_means_converted_what_it_means_in_python_and_in_tensorflow(
    case: Case, asked: int
) -> None:
    found = disagreement(case, asks_tensorflow=asked == EVERY)
    assert found is None, f"{found}\n{case}\n{case.text}"
