"""What type checkers and editors see of functions that records make."""

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import graven
import pytest
from stubs import FUNCTIONS, attribute_type, default_text, link_sources, stubs, write

STUBS = stubs(graven)
# Lines that are wrong end with what mypy says of them.
PROGRAM = """\
import graven as tf

x: tf.Tensor = tf.exp(1.0)
y = tf.nn.relu(features=[x], name="rectified") + tf.math.squared_difference(x, 2)
kinds: list[tf.DType] = [tf.bool, y.dtype]
shapes: list[tf.Tensor] = tf.shape_n([x, y], out_type=tf.int64)
best: tf.Tensor = tf.raw_ops.TopKV2(input=[1, 2], k=1).values
tf.print(tf.debugging.check_numerics(x, "message"), tf.strings.join(["a", "b"], separator="-"))
tf.print(tf.bitwise.invert(1), tf.nest.flatten([x]), tf.swish)  # Module has no attribute "swish"
tf.exp()  # Missing positional argument "x" in call to "exp"
tf.exp(x, axis=1)  # Unexpected keyword argument "axis" for "exp"
tf.exp(x, name=1)  # Argument "name" to "exp" has incompatible type "int"; expected "str | None"
number: int = tf.exp(x)  # Incompatible types in assignment
tf.nosuch(x)  # Module has no attribute "nosuch"
tf.math.nosuch(x)  # Module has no attribute "nosuch"
tf.raw_ops.TopKV2(input=[1, 2], k=1).nosuch  # "_TopKV2Outputs" has no attribute "nosuch"
tf.config.nosuch  # Module has no attribute "nosuch"
tf.version.nosuch  # Module has no attribute "nosuch"
tf.Variable.nosuch  # "type[Variable]" has no attribute "nosuch"
tf.Variable(1).nosuch  # "Variable" has no attribute "nosuch"
tf.RaggedTensor.nosuch  # "type[RaggedTensor]" has no attribute "nosuch"
tf.nn.leaky_relu(x, "0.2")  # Argument 2 to "leaky_relu" has incompatible type "str"
"""


def module_of(path: Path) -> ModuleType:
    parts = [part for part in path.with_suffix("").parts if part != "__init__"]
    return sys.modules[".".join(["graven", *parts])]


def test_a_stub_shows_what_its_module_shows() -> None:
    for path, text in STUBS.items():
        if path.name != FUNCTIONS:
            module = module_of(path)
            shown = set()
            for node in ast.parse(text).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    shown.add(node.name)
                elif isinstance(node, ast.Assign):
                    shown |= {target.id for target in node.targets if isinstance(target, ast.Name)}
                elif isinstance(node, ast.ImportFrom):
                    shown |= {alias.name for alias in node.names if alias.asname == alias.name}
            assert {name for name in shown if not name.startswith("_")} == set(dir(module))


def test_a_function_has_the_parameters_that_it_takes_at_run_time() -> None:
    functions = {
        node.name: node.args
        for node in ast.parse(STUBS[Path(FUNCTIONS)]).body
        if isinstance(node, ast.FunctionDef)
    }
    assert {"exp", "relu", "reshape", "is_tensor"} - set(functions) == {"is_tensor"}  # by hand
    compared = {name for name in functions if name.startswith("_")}  # no module has these
    for path, text in STUBS.items():
        for node in ast.parse(text).body:
            if not isinstance(node, ast.ImportFrom) or node.module != "graven._functions":
                continue
            for alias in node.names:
                name = (alias.asname or alias.name).removeprefix("_")
                function = getattr(module_of(path), name)
                shown = functions[alias.name]
                some = [shown.vararg] if shown.vararg else []
                given = [argument.arg for argument in (*shown.args, *some, *shown.kwonlyargs)]
                assert given == list(inspect.signature(function).parameters), alias.name
                compared.add(alias.name)
    assert functions.keys() == compared


@pytest.mark.parametrize(
    ("default", "text"),
    [
        (None, "None"),
        (0.20000000298023224, "0.2"),
        (0.1, "0.1"),
        (1.0000000001, "1.0000000001"),
        ("NHWC", "'NHWC'"),
        (graven.bool, "_dtypes.bool_"),
        (graven.int32, "_dtypes.int32"),
        (graven.TensorShape(None), "..."),
    ],
)
def test_a_default_is_written_as_python_writes_it(default: object, text: str) -> None:
    assert default_text(graven, default) == text


def test_the_type_of_an_attribute_is_one_of_python() -> None:
    kinds = ["bool", "string", "list(int)", "list(string)", "type"]
    python = ["bool", "str", "Sequence[int]", "Sequence[str]", "DTypeLike"]
    assert [attribute_type(kind) for kind in kinds] == python


def test_a_type_checker_sees_right_and_wrong_uses(tmp_path: Path) -> None:
    package = tmp_path / "typed" / "graven"
    link_sources(package)
    write(STUBS, package)
    (tmp_path / "program.py").write_text(PROGRAM)
    words = ["--strict", "--config-file=", f"--cache-dir={tmp_path}", "program.py"]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *words],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(package.parent)},
        capture_output=True,
        text=True,
    )
    errors: dict[int, str] = {}
    for line in run.stdout.splitlines():
        place, _, message = line.partition(": error: ")
        if message:
            file, number = place.split(":")
            assert file == "program.py", line
            errors[int(number)] = message
    for at, line in enumerate(PROGRAM.splitlines(), 1):
        _, _, expected = line.partition("  # ")
        found = errors.get(at, "")
        assert found.startswith(expected) if expected else not found, f"{line}\n{found}"
