"""The module tree: names, their absence, documentation."""

import copy
import importlib
import inspect
import os
import pickle
import pkgutil
import re
import subprocess
import sys
from types import ModuleType
from typing import Any

import graven as tf
import pytest


def public_modules() -> list[ModuleType]:
    """graven, and what users import of it."""
    names = [module.name for module in pkgutil.walk_packages(tf.__path__, "graven.")]
    return [tf, *(importlib.import_module(name) for name in names if "._" not in name)]


def is_of_graven(value: Any) -> bool:
    """Whether Graven made a class, a function, a module or an object."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
    return name.partition(".")[0] == "graven"


def test_a_missing_name_is_told_with_the_nearest_there_is() -> None:
    with pytest.raises(AttributeError) as raised:
        tf.math.multiplyy  # type: ignore[attr-defined]  # noqa: B018
    assert "Graven has no tf.math.multiplyy" in str(raised.value)
    assert "tf.math.multiply" in str(raised.value)


@pytest.mark.parametrize(
    ("owner", "name", "place"),
    [
        (tf, "log", "tf.math.log"),
        (tf, "relu", "tf.nn.relu"),
        (tf.math, "relu", "tf.nn.relu"),
        (tf.nn, "exp", "tf.exp"),
    ],
)
def test_a_name_of_another_module_is_told_with_that_module(
    owner: ModuleType, name: str, place: str
) -> None:
    with pytest.raises(AttributeError, match=f"; it has {re.escape(place)}\\. See docs"):
        getattr(owner, name)


@pytest.mark.parametrize("module", public_modules(), ids=lambda module: module.__name__)
def test_each_module_tells_the_nearest_of_its_names(module: ModuleType) -> None:
    tensorflow = module.__name__.replace("graven", "tf", 1)
    longest = max(dir(module), key=len)
    with pytest.raises(AttributeError) as raised:
        getattr(module, f"{longest}x")
    assert f"Graven has no {tensorflow}.{longest}x; the nearest" in str(raised.value)
    assert f" {tensorflow}.{longest}. See docs/errors/not-in-graven.md" in str(raised.value)
    assert raised.value.name == f"{longest}x"
    assert not hasattr(module, "nonsense")
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        exec(f"from {module.__name__} import nonsense")


@pytest.mark.parametrize("module", public_modules(), ids=lambda module: module.__name__)
def test_a_module_shows_no_names_that_it_only_needs_itself(module: ModuleType) -> None:
    shown = {name: getattr(module, name) for name in dir(module)}
    assert shown and not [name for name in shown if name.startswith("_")]
    of_others = {name: value for name, value in shown.items() if not is_of_graven(value)}
    # Numbers of errors, the version, and None, which are of no module.
    constants = int | str | None
    assert {name for name, value in of_others.items() if not isinstance(value, constants)} == set()


@pytest.mark.parametrize(
    ("owner", "name", "nearest"),
    [
        (tf.RaggedTensor, "from_row_split", "from_row_splits"),
        (tf.Variable, "assign_ad", "assign_add"),
        (tf.VariableAggregation, "MEANS", "MEAN"),
        (tf.random.Generator, "from_sead", "from_seed"),
    ],
)
def test_a_class_tells_the_nearest_of_its_members(owner: type, name: str, nearest: str) -> None:
    with pytest.raises(AttributeError) as raised:
        getattr(owner, name)
    of = owner.__name__
    expected = f"Graven has no {of}.{name}; the nearest that it has is {of}.{nearest}. See docs/"
    assert str(raised.value).startswith(expected)
    assert hasattr(owner, nearest) and not hasattr(owner, "_private")


def test_members_of_enumerations_are_found_by_name_and_copied_as_they_are() -> None:
    mean = tf.VariableAggregation.MEAN
    assert [mean.name, tf.VariableAggregation["MEAN"], mean.value] == ["MEAN", mean, 2]
    assert pickle.loads(pickle.dumps(mean)) is mean and copy.deepcopy(mean) is mean


def test_a_class_of_a_user_has_the_message_of_any_class() -> None:
    class Mine(tf.Variable):
        pass

    with pytest.raises(AttributeError, match=r"^type object 'Mine' has"):
        Mine.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_python_suggests_an_attribute_of_an_object() -> None:
    code = "import graven; graven.TensorShape([1]).as_lst"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stderr.endswith("no attribute 'as_lst'. Did you mean: 'as_list'?\n")


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
    assert str(tf.multiply.__doc__).startswith("multiply(x, y, name=None) -> z\n\n")
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
    with pytest.raises(NotImplementedError, match="does not support layout"):
        tf.zeros([2], layout="packed")


def test_names_of_scopes_are_checked() -> None:
    for name in (None, 3):
        with pytest.raises(ValueError, match="must be a string"):
            tf.name_scope(name)  # type: ignore[arg-type]
    with tf.name_scope("a") as outer, tf.name_scope("b") as inner:
        assert (outer, inner) == ("a/", "a/b/")
    with tf.name_scope("a b") as odd:  # names no node while values are computed at once
        assert odd == "a b/"


@pytest.mark.parametrize(
    ("name", "in_root", "in_scope"),
    [
        ("a b", None, None),
        ("é", None, None),
        ("/x", None, "o/x/"),
        ("_a", None, "o/_a/"),
        (">x", None, "o/>x/"),
        ("-a", None, "o/-a/"),
        ("1.a", "1.a/", "o/1.a/"),
        ("x/", "x/", "x/"),
        ("", "", ""),
    ],
)
def test_names_of_scopes_in_a_graph(name: str, in_root: str | None, in_scope: str | None) -> None:
    seen = []

    def entered() -> str | None:
        try:
            with tf.name_scope(name) as scope:
                return scope
        except ValueError as error:
            assert "name has to match the following pattern: ^[A-Za-z0-9" in str(error)
            return None

    @tf.function
    def f() -> None:
        seen.append(entered())
        with tf.name_scope("o"):
            seen.append(entered())

    f()
    assert [scope and scope.replace("//", "/") for scope in seen] == [in_root, in_scope]


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


def test_a_process_of_python_finds_room_for_onednn() -> None:
    """Little room is left for thread-local variables of a library that is opened late."""
    program = (
        "import graven as tf\n"
        "tf.nn.conv2d(tf.ones([8, 8, 8, 32]), tf.ones([3, 3, 32, 32]), 1, 'SAME')\n"
        "print('libdnnl' in open('/proc/self/maps').read())\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("True\n", "")


CODES = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
]


def test_codes_of_errors_are_those_of_tensorflow_and_each_has_its_class() -> None:
    assert [getattr(tf.errors, code) for code in CODES] == list(range(17))
    for number, code in enumerate(CODES[1:], 1):
        name = code.title().replace("_", "") + "Error"
        assert getattr(tf.errors, name)(None, None, "told").error_code == number


def test_a_program_may_end_while_a_thread_has_tensors_and_functions() -> None:
    program = """
import threading, time
import graven as tf

begun = threading.Event()

def work():
    f = tf.function(lambda x: x + 1.0)
    kept = [f(tf.constant(1.0)), f.get_concrete_function(2), tf.TensorSpec([None]), tf.Variable(1)]
    begun.set()
    time.sleep(1000)

threading.Thread(target=work, daemon=True).start()
begun.wait()
print("done")
"""
    environment = {**os.environ}
    environment.pop("GRAVEN_LEAK_WARNINGS", None)
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
