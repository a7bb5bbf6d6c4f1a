"""Errors of a run name the lines of the user's code, and no others."""

import re
import runpy
from pathlib import Path
from typing import Any

import graven as tf
import pytest

PROGRAM = """import graven as tf

@tf.function
def f(x):
    return tf.gather(x, [5])
"""


@pytest.mark.parametrize("name", ["graven/_train.py", "graven/__init__.py", "x/graven/train.py"])
def test_the_lines_of_a_program_in_a_folder_called_graven_are_named(
    name: str, tmp_path: Path
) -> None:
    # They were taken for lines of the package, and no line was named.
    program = tmp_path / name
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM)
    f = runpy.run_path(str(program))["f"]
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        f(tf.constant([1.0]))
    assert f'File "{program}", line 5, in f\n' in str(raised.value)


def test_the_lines_of_graven_itself_are_not_named() -> None:
    def chosen(x: Any) -> Any:
        return tf.gather(x, [5])

    @tf.function
    def f(x: Any) -> Any:
        return tf.nest.map_structure(chosen, {"a": x})["a"]

    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        f(tf.constant([1.0]))
    frames = re.findall(r'File "(.*)", line \d+, in (\w+)', str(raised.value))
    assert frames[-2:] == [(__file__, "f"), (__file__, "chosen")]
    assert not [file for file, _ in frames if "python/graven" in file]


def test_code_that_belongs_to_no_module_is_the_users() -> None:
    space: dict[str, Any] = {"tf": tf}
    exec(compile("def body(x):\n  return tf.gather(x, [5])\n", "<made>", "exec"), space)
    with pytest.raises(tf.errors.InvalidArgumentError, match='File "<made>", line 2, in body'):
        tf.function(space["body"])(tf.constant([1.0]))


def test_the_message_of_a_lambda_comes_first() -> None:
    f = tf.function(lambda x: tf.gather(x, [5]))
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            f(tf.constant([1.0]))
        text = str(raised.value)
        assert re.match(r"\{\{function_node __inference_<lambda>_\d+\}\} ", text)
        assert re.search(r"\[\[\{\{node GatherV2\}\}\]\] \[Op:__inference_<lambda>_\d+\]", text)
        assert "indices[0] = 5 is not in [0, 1)" in text
        assert "Graph execution error" not in text
        assert f'File "{__file__}", line' in text


def test_it_is_the_function_that_was_called_whose_name_counts() -> None:
    inner = tf.function(lambda x: tf.gather(x, [5]))

    @tf.function
    def outer(x: Any) -> Any:
        return inner(x) + 1.0

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"^Graph execution error:"):
        outer(tf.constant([1.0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"^{{function_node __inference_<lam"):
        tf.function(lambda x: outer(x) + 1.0)(tf.constant([1.0]))
