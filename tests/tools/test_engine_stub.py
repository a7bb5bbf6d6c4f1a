"""python/graven/_engine.pyi says what the built extension module holds, no more and no less.

Types of parameters and results are the stub's own word: the module does not know them.
"""

import ast
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from graven import _cpp_function, _engine, _function, _trace_types

STUB = Path(__file__).resolve().parents[2] / "python" / "graven" / "_engine.pyi"
TREE = ast.parse(STUB.read_text())
CLASSES = {node.name: node for node in TREE.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: node for node in TREE.body if isinstance(node, ast.FunctionDef)}
# What each class of Python's has, and what the interpreter adds to types.
OF_EVERY_CLASS = {*dir(object), "__dict__", "__module__", "__qualname__", "__weakref__", "__call__"}
PUBLIC_CLASSES = sorted(name for name in CLASSES if not name.startswith("_"))


def names_in(body: Iterable[ast.stmt]) -> set[str]:
    """The names that a class of the stub gives to its members."""
    names = set()
    for node in body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names - OF_EVERY_CLASS


def bases_of(name: str) -> list[str]:
    """The classes of the stub that a class derives from directly."""
    bases = [base.id for base in CLASSES[name].bases if isinstance(base, ast.Name)]
    return [base for base in bases if base in CLASSES]


def members(name: str) -> set[str]:
    """What the stub gives to a class, that of the stub's private bases included."""
    inherited = [members(base) for base in bases_of(name) if base.startswith("_")]
    return names_in(CLASSES[name].body).union(*inherited)


def lineage(name: str) -> set[str]:
    """What the stub gives to a class and to all that it derives from."""
    return names_in(CLASSES[name].body).union(*(lineage(base) for base in bases_of(name)))


def built_members(name: str) -> set[str]:
    """What the built class has of its own."""
    names = set(vars(getattr(_engine, name))) - OF_EVERY_CLASS
    added: dict[str, type] = {
        "CppFunction": _cpp_function._CppFunctionMethods,
        "Function": _function._FunctionMethods,
        "TensorSpec": _trace_types._TensorSpecMethods,
    }
    if name in added:
        names -= set(vars(added[name]))
    return {name for name in names if not name.endswith("offset__")}


def test_module_and_stub_have_the_same_names() -> None:
    built = {name for name in dir(_engine) if not name.startswith("__")}
    assert {*PUBLIC_CLASSES, *FUNCTIONS} == built


@pytest.mark.parametrize("name", PUBLIC_CLASSES)
def test_a_class_has_no_member_that_the_stub_does_not_name(name: str) -> None:
    assert built_members(name) - lineage(name) == set()


# What only some objects of a class have; of tensors, slices of a variable.
SET_ON_INSTANCES = {
    "Function": {"_options", "_python_signature", "_autograph", "__signature__"},
    "Tensor": {"assign"},
}


@pytest.mark.parametrize("name", PUBLIC_CLASSES)
def test_the_stub_names_no_member_that_a_class_and_those_below_it_do_not_have(name: str) -> None:
    built = getattr(_engine, name)
    below = [getattr(_engine, other) for other in PUBLIC_CLASSES]
    below = [other for other in below if issubclass(other, built)]
    named = members(name) - SET_ON_INSTANCES.get(name, set())
    assert {member for member in named if not any(hasattr(c, member) for c in below)} == set()


def parameters(function: Any) -> list[str]:
    """The parameters of a function of nanobind's, from the text that it keeps of them."""
    ((text, *_),) = function.__nb_signature__
    text = re.sub(r"\\\d+", "None", text)  # a default, by its number in another list
    (node,) = ast.parse(f"{text}: ...").body
    assert isinstance(node, ast.FunctionDef)
    return [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_has_the_parameters_of_the_stub(name: str) -> None:
    built = parameters(getattr(_engine, name))
    arguments = FUNCTIONS[name].args
    stubbed = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if all(re.fullmatch(r"arg\d*", parameter) for parameter in built):  # it has no names
        assert len(built) == len(stubbed)
    else:
        assert built == stubbed
