"""What the warning about Functions that trace too often remembers of them."""

from __future__ import annotations

import gc
import logging
import weakref
from typing import Any

import graven as tf
import pytest
from graven import _retracing


def made_of(text: str) -> Any:
    program: dict[str, Any] = {}
    exec(compile(text, "<made>", "exec"), program)
    return program["f"]


def test_functions_made_anew_of_the_same_text_count_as_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "graven"):
        for _ in range(_retracing.MIN_TRACES):
            tf.function(made_of("\n\n\n\ndef f(x): return x + 41"), autograph=False)(1)
            gc.collect()
    assert "triggered tf.function retracing" in caplog.text


def test_no_code_is_kept() -> None:
    f = made_of("def f(x): return x + 42")
    tf.function(f, autograph=False)(1)
    code = weakref.ref(f.__code__)
    del f
    gc.collect()
    assert code() is None


def test_a_full_table_forgets_for_new_functions_only(monkeypatch: pytest.MonkeyPatch) -> None:
    table: dict[Any, Any] = {}
    monkeypatch.setattr(_retracing, "_histories", table)
    monkeypatch.setattr(_retracing, "MAX_HISTORIES", 2)
    first, second, third = (
        tf.function(made_of(f"def f(x): return x + {i}"), autograph=False) for i in range(3)
    )
    first(1), second(1), second(2), second(3)
    (kept, _) = table
    assert len(table) == 2
    third(1)
    assert len(table) == 2 and kept not in table
