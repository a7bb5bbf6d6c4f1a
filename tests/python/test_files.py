"""Reading and writing files: tf.io."""

import contextlib
import os
from pathlib import Path
from typing import Any

import graven as tf
import pytest


def test_a_file_is_what_was_written(tmp_path: Path) -> None:
    path = str(tmp_path / "new" / "folders" / "file")
    for content in (b"longer \0 text", b"short", b""):
        assert tf.io.write_file(path, content) is None
        assert tf.io.read_file(path).numpy() == content
        assert tf.io.read_file(f"file://{path}").numpy() == content


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
def test_an_error_names_the_file_and_the_line(tmp_path: Path, traced: bool) -> None:
    path = str(tmp_path / "missing")

    def read() -> Any:
        return tf.io.read_file(path)

    with pytest.raises(
        tf.errors.NotFoundError, match=f"cannot read {path}: No such file"
    ) as caught:
        (tf.function(read) if traced else read)()
    assert ("in read" in str(caught.value)) == traced


def test_a_function_reads_the_file_each_time_that_it_runs(tmp_path: Path) -> None:
    # TensorFlow computes it once, as if the file were a constant.
    path = tmp_path / "file"
    read = tf.function(lambda: tf.io.read_file(str(path)))
    for content in (b"first", b"second"):
        path.write_bytes(content)
        assert read().numpy() == content


def test_reads_and_writes_keep_the_order_of_the_program(tmp_path: Path) -> None:
    path = str(tmp_path / "file")

    @tf.function
    def f(text: Any) -> Any:
        tf.io.write_file(path, text)
        before = tf.io.read_file(path)
        tf.io.write_file(path, text + "!")
        return before, tf.io.read_file(path)

    for text in (b"one", b"two"):
        assert [part.numpy() for part in f(tf.constant(text))] == [text, text + b"!"]


def test_a_read_that_nobody_uses_is_left_out() -> None:
    @tf.function
    def f() -> Any:
        tf.io.read_file("no folder/no file")
        return tf.constant(1)

    assert f().numpy() == 1


def test_a_file_that_may_not_be_written_is_an_error_that_leaves_it(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        tf.io.write_file(str(folder), "")
    file = tmp_path / "file"
    file.write_text("kept")
    with pytest.raises(tf.errors.FailedPreconditionError, match="Not a directory"):
        tf.io.write_file(str(file / "below"), "")
    assert file.read_text() == "kept"


def test_more_than_the_memory_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with open(path, "wb") as file:
        os.truncate(file.fileno(), 1 << 24)
    before = tf.config.get_memory_limit()
    tf.config.set_memory_limit(1 << 20)
    with contextlib.ExitStack() as stack:
        stack.callback(tf.config.set_memory_limit, before)
        with pytest.raises(tf.errors.ResourceExhaustedError, match="has more than 1048576 bytes"):
            tf.io.read_file(str(path))
