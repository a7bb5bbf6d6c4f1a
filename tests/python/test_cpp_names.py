"""The C++ front end has the functions of the Python one, under the same names."""

import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import graven as tf
import pytest
from graven import _engine

ROOT = Path(__file__).resolve().parents[2]
PRINTED = Path(_engine.__file__).parents[2] / "printed"  # what the build prints from the records
MODULES = (
    *("", "bitwise", "config", "debugging", "dtypes", "image", "io", "linalg", "math", "nest"),
    *("nn", "ragged", "random", "sparse", "strings"),
)

# Functions of Python without a C++ function of the name, and why.
PYTHON_ONLY = {
    "as_dtype": "DType is an enumeration",
    "broadcast_static_shape": "Shape has no functions of its own in C++ yet",
    "config.functions_run_eagerly": "a C++ function runs eagerly if it is called as it is",
    "config.get_soft_device_placement": "a C++ program has one logical device",
    "config.get_logical_device_configuration": "a C++ program has one logical device",
    "config.get_visible_devices": "a C++ program has one logical device",
    "config.list_logical_devices": "a C++ program has one logical device",
    "config.list_physical_devices": "a C++ program has one logical device",
    "config.run_functions_eagerly": "a C++ function runs eagerly if it is called as it is",
    "config.set_logical_device_configuration": "a C++ program has one logical device",
    "config.set_soft_device_placement": "a C++ program has one logical device",
    "config.set_visible_devices": "a C++ program has one logical device",
    "constant": "constructors of Tensor, and Tensor::of",
    "control_dependencies": "the class ControlDependencies",
    "convert_to_tensor": "constructors of Tensor, and Operand",
    "custom_gradient": "what a C++ gradient captures would keep its own graph alive; not yet",
    "debugging.assert_proper_iterable": "types are static",
    "debugging.assert_shapes": "not yet",
    "debugging.disable_traceback_filtering": "tracebacks are Python's",
    "debugging.enable_traceback_filtering": "tracebacks are Python's",
    "debugging.is_traceback_filtering_enabled": "tracebacks are Python's",
    "dtypes.as_dtype": "DType is an enumeration",
    "get_logger": "Python's logging",
    "get_static_value": "not yet; a Shape tells its known sizes",
    "gradients": "GradientTape, which works in traced functions too",
    "group": "operations are no values; effects keep the order of the program",
    "is_tensor": "types are static",
    "nest.assert_same_structure": "structures are C++ types",
    "nest.flatten": "structures are C++ types",
    "nest.is_nested": "structures are C++ types",
    "nest.map_structure": "structures are C++ types",
    "nest.pack_sequence_as": "structures are C++ types",
    "numpy_function": "host_function, on tensors",
    "py_function": "host_function",
    "ragged.constant": "no ragged tensors in C++ yet",
    "ragged.stack": "no ragged tensors in C++ yet",
    "sparse.from_dense": "no sparse tensors in C++ yet",
    "type_spec_from_value": "TensorSpec::of",
    "variable_creator_scope": "hooks into Python's constructor of variables",
}

NAMESPACE = re.compile(r"namespace ([\w:]+) \{")
FUNCTION = re.compile(r"(?:GRAVEN_API|inline|auto|R) [^(;]*?\b(\w+)\(")
RESULT_ALONE = re.compile(r"^(GRAVEN_API [\w:<>, ]+)\n", re.MULTILINE)
USING = re.compile(r"using graven::(?:\w+::)*(\w+);")


def python_names() -> set[str]:
    names = set()
    for module_name in MODULES:
        module: ModuleType = getattr(tf, module_name) if module_name else tf
        for name in dir(module):
            value = getattr(module, name)
            is_ours = str(getattr(value, "__module__", "")).startswith("graven")
            if callable(value) and is_ours and not isinstance(value, type) and name[0] != "_":
                names.add(f"{module_name}.{name}" if module_name else name)
    return names


def headers() -> Iterator[Path]:
    """What <graven/graven.h> includes of the front end."""
    for line in (ROOT / "graven" / "graven.h").read_text().splitlines():
        if found := re.match(r'#include "(graven/api/\w+\.h)"', line):
            yield next(
                folder / found[1] for folder in (ROOT, PRINTED) if (folder / found[1]).exists()
            )


def names_declared_in(text: str) -> Iterator[str]:
    scopes: list[str] = []
    for line in RESULT_ALONE.sub(r"\1 ", text).splitlines():
        if found := NAMESPACE.match(line):
            scopes.append(found[1])
        elif line.startswith("}  // namespace"):
            scopes.pop()
        elif found := FUNCTION.match(line) or USING.match(line):
            path = "::".join(scopes).split("::")
            yield ".".join([*path[1:], found[1].rstrip("_")])


@pytest.fixture(scope="module")
def cpp_names() -> set[str]:
    return {name for header in headers() for name in names_declared_in(header.read_text())}


def test_each_function_of_python_has_a_cpp_twin_or_a_reason(cpp_names: set[str]) -> None:
    assert sorted(python_names() - cpp_names - PYTHON_ONLY.keys()) == []


def test_no_reason_is_left_for_what_is_there(cpp_names: set[str]) -> None:
    assert sorted(PYTHON_ONLY.keys() & cpp_names) == []
    assert sorted(PYTHON_ONLY.keys() - python_names()) == []


def test_names_are_read_from_declarations_in_their_namespaces() -> None:
    text = """namespace graven {
GRAVEN_API Tensor pad(const Operand& tensor,
GRAVEN_API std::vector<Tensor>
a_name_on_the_next_line(int x);
inline bool executing_eagerly() {
Tensor not_exported(int x);
namespace math {
using graven::pad;
}  // namespace math
}  // namespace graven
namespace graven::nn {
GRAVEN_API std::vector<Tensor> xor_(int x);
}  // namespace graven::nn
"""
    assert list(names_declared_in(text)) == [
        "pad",
        "a_name_on_the_next_line",
        "executing_eagerly",
        "math.pad",
        "nn.xor",
    ]
