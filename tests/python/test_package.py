"""The module tree: names, their absence, documentation."""

import inspect
import subprocess
import sys

import graven as tf
import pytest


def test_a_missing_name_is_told_with_the_nearest_there_is() -> None:
    with pytest.raises(AttributeError) as raised:
        tf.math.multiplyy  # type: ignore[attr-defined]  # noqa: B018
    assert "Graven has no tf.math.multiplyy" in str(raised.value)
    assert "tf.math.multiply" in str(raised.value)


def test_no_name_is_told_that_is_only_a_little_like_a_missing_one() -> None:
    with pytest.raises(AttributeError, match=r"^Graven has no tf.pond. See docs/errors"):
        tf.pond  # type: ignore[attr-defined]  # noqa: B018


def test_names_of_records_are_functions_of_their_modules() -> None:
    assert tf.math.exp(0.0).numpy() == 1.0
    assert "exp" in dir(tf.math) and "reduce_sum" in dir(tf.math)
    assert tf.math.multiply is tf.math.multiply


def test_functions_of_ops_are_documented_from_their_records() -> None:
    assert tf.multiply.__name__ == "multiply"
    assert 'Source: tf.math.multiply, OpDef "Mul".' in str(tf.multiply.__doc__)
    assert list(inspect.signature(tf.multiply).parameters) == ["x", "y", "name"]


def test_raw_ops_have_all_ops_by_keyword() -> None:
    assert tf.raw_ops.AddV2(x=1, y=2).numpy() == 3
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'z'"):
        tf.raw_ops.AddV2(x=1, z=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="missing required argument: 'y'"):
        tf.raw_ops.AddV2(x=1)  # type: ignore[call-arg]
    with pytest.raises(AttributeError, match=r"Graven has no tf\.raw_ops\.Nonsense"):
        tf.raw_ops.Nonsense  # type: ignore[attr-defined]  # noqa: B018


def test_arguments_that_are_not_honoured_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="does not support output_type"):
        tf.matmul([[1.0]], [[1.0]], output_type=tf.float64)


def test_names_of_scopes_are_checked() -> None:
    with pytest.raises(ValueError, match="not a valid scope name"), tf.name_scope("a b"):
        pass
    with tf.name_scope("a") as outer, tf.name_scope("b") as inner:
        assert (outer, inner) == ("a/", "a/b/")


def test_names_of_devices_are_checked() -> None:
    with tf.device("/cpu:0"):
        assert (tf.constant(1) + 1).device.endswith("CPU:0")
    with pytest.raises(ValueError, match="Unknown attribute"):
        tf.device("/nonsense")


def test_importing_leaves_modules_alone_that_take_milliseconds() -> None:
    code = "import sys; import graven; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "graven._function" in loaded
    assert loaded & {"dataclasses", "inspect", "logging", "numpy", "pprint"} == set()


def test_importing_takes_little_memory() -> None:
    # Not ru_maxrss, which a child begins with the peak of its parent.
    code = (
        "import re; import graven; "
        "print(re.search(r'VmHWM:\\s*(\\d+) kB', open('/proc/self/status').read())[1])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert int(run.stdout) < 40 * 1024  # KiB


def test_strings_cannot_be_cast() -> None:
    with pytest.raises(tf.errors.UnimplementedError, match="Cast string to int32"):
        tf.cast("1", tf.int32)
