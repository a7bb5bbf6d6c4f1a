"""GRAVEN_LOGS and graven.logging: lines about traces, as they come and go."""

import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import graven as tf
import pytest

PROGRAM = """
import graven as tf
w = tf.Variable([1.0], name="w")
@tf.function(max_traces=1, reduce_retracing=False)
def f(x):
    return x * w
for n in (1, 2, 1):
    f(tf.ones([n]))
f.clear_cache()
"""


@pytest.fixture(autouse=True)
def quiet_afterwards() -> Iterator[None]:
    yield
    tf.logging.set_logs("")


def run(logs: str, program: str = PROGRAM) -> list[str]:
    """The lines that a program's user sees."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"GRAVEN_LOGS": logs},
    )
    return done.stderr.splitlines()


def test_the_environment_switches_logs_on() -> None:
    lines = run("trace,cache,captures")
    assert all(re.match(r"graven\.(trace|cache|captures): f#\d+: \w", line) for line in lines)
    traced = [line for line in lines if line.startswith("graven.trace: ")]
    assert re.fullmatch(
        r"graven\.trace: f#1: traced \(x: float32\[1\]\) in [\d.]+ ms, [\d.]+ KiB, "
        r"for a call at <string>:8 in <module>\. Why: the first trace",
        traced[0],
    )
    assert "Why: x: TensorSpec(shape=(2,)" in traced[1] and ". Nearest: f#1. Advice: " in traced[1]
    captures = [line for line in lines if line.startswith("graven.captures: ")]
    assert captures[0].startswith("graven.captures: f#1: captures w: variable float32[1], used at")
    went = [line for line in lines if line.startswith("graven.cache: ")]
    assert "went: max_traces=1. It had " in went[0] and "went: cleared" in went[-1]


def test_what_a_trace_changes_is_logged_with_its_captures() -> None:
    # It was said at level INFO only, which nobody sees who has not set up logging.
    script = PROGRAM.replace("    return x * w", "    made.append(1)\n    return x * w")
    script = script.replace("@tf.function", "made = []\n@tf.function")
    assert not any("changed" in line for line in run("", script))
    (line,) = [line for line in run("captures", script) if "changed" in line]
    assert line.startswith("graven.captures: ") and "made" in line
    assert "<string>:7 in f while it is traced, and not by calls that find the trace" in line


def test_only_the_topics_that_were_asked_for_are_logged() -> None:
    assert all(line.startswith("graven.cache: ") for line in run("cache"))
    assert run("") == []


def test_an_unknown_topic_of_the_environment_is_said_once_and_nothing_fails() -> None:
    (line,) = run("trace,traces")
    assert line == (
        "graven: GRAVEN_LOGS=trace,traces: There is no log of traces: there are trace, cache, "
        "captures. Nothing is logged."
    )


def test_lines_go_to_the_loggers_of_a_program_whatever_their_level(caplog: Any) -> None:
    tf.logging.set_logs(["trace"])
    assert tf.logging.get_logs() == ("trace",)
    f = tf.function(lambda x: x)
    f(1)
    tf.logging.set_logs("")
    f(2)
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("graven.trace", logging.INFO)
    assert record.getMessage().startswith("<lambda>#1: traced (x: 1) in ")


def test_a_trace_that_fails_is_logged_with_its_error(caplog: Any) -> None:
    tf.logging.set_logs("trace")

    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        raise ValueError("no such luck")

    with pytest.raises(ValueError, match="no such luck"):
        f(1)
    assert caplog.messages == ["f: a trace failed: no such luck"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_handler_that_raises_stops_no_call() -> None:
    class Raises(logging.Handler):
        def emit(self, record: Any) -> None:
            raise RuntimeError("no space left")

    logger = tf.get_logger()
    handler = Raises()
    logger.addHandler(handler)
    try:
        tf.logging.set_logs("trace,cache,captures")
        f = tf.function(lambda x: x)
        assert f(1).numpy() == 1
        assert f(1).numpy() == 1
    finally:
        logger.removeHandler(handler)


@pytest.mark.parametrize("topics", ["traces", "trace;cache", ["trace", "all"]])
def test_an_unknown_topic_is_a_value_error(topics: Any) -> None:
    with pytest.raises(ValueError, match="there are trace, cache, captures"):
        tf.logging.set_logs(topics)
    assert tf.logging.get_logs() == ()
