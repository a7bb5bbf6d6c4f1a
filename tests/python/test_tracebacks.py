"""Tracebacks of exceptions that leave a Function, with frames of Graven's own and without."""

import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import graven as tf
import pytest

ONE = tf.constant(1)


@pytest.fixture(autouse=True)
def filtering_is_on_afterwards() -> Iterator[None]:
    yield
    tf.debugging.enable_traceback_filtering()


def fails(x: Any) -> Any:
    raise ValueError("inside")


def modules_of(call: Callable[[], Any], kind: type[BaseException] = ValueError) -> list[str]:
    """The first part of the module of each frame that an exception passed through."""
    with pytest.raises(kind) as caught:
        call()
    frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
    return [frame.f_globals["__name__"].partition(".")[0] for frame in frames]


@pytest.mark.parametrize("autograph", [True, False, "replay"])
def test_frames_of_ours_are_left_out_unless_filtering_is_off(autograph: bool | str) -> None:
    f = tf.function(fails, autograph=autograph)
    g = tf.function(lambda x: f(x), autograph=False)
    assert "graven" not in modules_of(lambda: f(ONE))
    assert "graven" not in modules_of(lambda: g(ONE))
    with pytest.raises(ValueError, match="inside") as caught:
        g(ONE)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "fails"
    tf.debugging.disable_traceback_filtering()
    assert "graven" in modules_of(lambda: g(ONE))


def test_an_error_that_no_code_of_the_users_raised_ends_at_the_call() -> None:
    f = tf.function(lambda x: x)
    assert "graven" not in modules_of(lambda: f(ONE, ONE, ONE), TypeError)
    tf.debugging.disable_traceback_filtering()
    assert "graven" in modules_of(lambda: f(ONE, ONE, ONE), TypeError)


def test_functions_that_run_eagerly_are_filtered_too() -> None:
    f = tf.function(fails)
    tf.config.run_functions_eagerly(True)
    try:
        assert "graven" not in modules_of(lambda: f(ONE))
    finally:
        tf.config.run_functions_eagerly(False)


def test_what_is_no_exception_of_a_program_is_left_as_it_is() -> None:
    def interrupted(x: Any) -> Any:
        raise KeyboardInterrupt

    assert "graven" in modules_of(lambda: tf.function(interrupted)(ONE), KeyboardInterrupt)


def test_filtering_is_switched_for_one_thread() -> None:
    tf.debugging.disable_traceback_filtering()
    seen = []
    thread = threading.Thread(
        target=lambda: seen.append(tf.debugging.is_traceback_filtering_enabled())
    )
    thread.start()
    thread.join()
    assert seen == [True] and not tf.debugging.is_traceback_filtering_enabled()


def test_the_text_of_an_error_has_our_frames_where_filtering_is_off() -> None:
    @tf.function
    def f(x: Any) -> Any:
        tf.debugging.assert_proper_iterable(5)
        return x

    def told() -> str:
        with pytest.raises(TypeError) as caught:
            f(ONE)
        return str(caught.value)

    filtered = told()
    tf.debugging.disable_traceback_filtering()
    full = told()
    assert "_debug_ops.py" not in filtered and "_debug_ops.py" in full
    assert "autograph" not in full
