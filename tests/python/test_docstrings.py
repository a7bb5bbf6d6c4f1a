"""Each public name says what it takes, gives, raises, and where it comes from (STYLE 6)."""

import functools
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import graven
import pytest
from graven import _engine

# What a class has from one that is not Graven's.
INHERITED = {*dir(tuple), *dir(Exception), *dir(int)}

# Classes whose constructors are not for users.
MADE_BY_OTHERS = {
    "graven.Graph",
    "graven.Operation",
    "graven.RaggedTensor",
    "graven.types.experimental.ConcreteFunction",
    "graven.types.experimental.SupportsTracingProtocol",
}


def public_modules() -> list[ModuleType]:
    """graven, and what users import of it."""
    found = [graven]
    for module in pkgutil.walk_packages(graven.__path__, "graven."):
        if "._" not in module.name:
            found.append(importlib.import_module(module.name))
    return found


def is_ours(value: Any) -> bool:
    """Whether Graven made it: modules show what they import from others, too."""
    return str(getattr(value, "__module__", "graven")).startswith("graven")


def public_names() -> Iterator[tuple[str, Any]]:
    """The functions and classes of the public modules, each under the first of its names."""
    seen = set()
    for module in public_modules():
        for name in dir(module):
            value = getattr(module, name)
            wanted = callable(value) and not name.startswith("_") and is_ours(value)
            if wanted and id(value) not in seen:
                seen.add(id(value))
                yield f"{module.__name__}.{name}", value


def public_members() -> Iterator[tuple[str, type, str]]:
    """The methods and properties of the public classes."""
    classes = [(name, value) for name, value in NAMES.items() if isinstance(value, type)]
    function_type = type(graven.function(lambda: None))
    for name, value in [*classes, ("graven.function()", function_type)]:
        for member in dir(value):
            if not member.startswith("_") and member not in INHERITED:
                yield f"{name}.{member}", value, member


NAMES = dict(public_names())
FUNCTIONS = sorted(name for name, value in NAMES.items() if not isinstance(value, type))
CLASSES = sorted(name for name, value in NAMES.items() if isinstance(value, type))
MEMBERS = {name: (owner, member) for name, owner, member in public_members()}
METHODS = sorted(
    name for name, (owner, member) in MEMBERS.items() if callable(getattr(owner, member))
)
PROPERTIES = sorted(
    name
    for name, (owner, member) in MEMBERS.items()
    if inspect.isdatadescriptor(inspect.getattr_static(owner, member))
)


def documentation(value: Any) -> str:
    """The docstring, without the signature that nanobind puts in front."""
    text = inspect.getdoc(value) or ""
    return re.sub(r"^\w*\(.*\) -> .*\n*", "", text)


def parameters(function: Any) -> list[str]:
    """The names of what a function takes; of those of the extension as far as they have names."""
    if hasattr(function, "__nb_signature__"):
        ((text, *_),) = function.__nb_signature__
        names = re.findall(r"(\w+): ", text)
    else:
        try:
            names = list(inspect.signature(function).parameters)
        except (TypeError, ValueError):  # a method of a C type, which Python cannot see into
            names = []
    return [name for name in names if name not in ("self", "cls", "arg")]


def section(text: str, title: str) -> str:
    """What stands under a heading of a docstring."""
    found = re.search(rf"^{title}:\n((?: +.*\n|\n)*)", text + "\n", re.MULTILINE)
    return found[1] if found else ""


def listed(text: str) -> list[str]:
    """The arguments that a docstring explains, of those that it refers to likewise."""
    return re.findall(r"^ {2}\*{0,2}(\w+): ", section(text, "Args"), re.MULTILINE)


def refers_to(text: str) -> str:
    """The neighbour where the arguments are explained: "the arguments are as in `assign`"."""
    found = re.search(r"arguments are as in\s+`(\w+)`", text)
    return found[1] if found else ""


def says_what_it_gives(function: Any, text: str) -> bool:
    """Whether a docstring tells the result, where there is one."""
    if text.startswith(("Returns ", "Tells ")) or section(text, "Returns"):
        return True
    try:
        result = inspect.signature(function).return_annotation
    except (TypeError, ValueError):
        return True  # the extension's, whose results Python cannot see
    return result in (None, "None", "NoReturn", inspect.Signature.empty)


def test_there_is_something_to_check() -> None:
    assert {"graven.reduce_sum", "graven.constant", "graven.math.exp"} <= set(FUNCTIONS)
    assert {"graven.Tensor", "graven.Variable"} <= set(CLASSES)
    assert {"graven.Variable.assign", "graven.Tensor.shape"} <= set(MEMBERS)


def is_there(name: str) -> bool:
    """Whether graven has a dotted name: a record may name a module that nobody made."""
    try:
        functools.reduce(getattr, name.split("."), graven)
    except AttributeError:
        return False
    return True


def test_the_names_that_records_give_are_there() -> None:
    names = _engine.public_op_names()
    assert names["math.exp"] == "Exp" and not is_there("math.special.exp")
    assert [name for name in names if not is_there(name)] == []


def test_the_sources_of_docstrings_are_names_that_are_there() -> None:
    found = {
        (name, source)
        for name, value in NAMES.items()
        for source in re.findall(r"Source: tf\.([\w.]*\w)", documentation(value))
    }
    assert len(found) > 400
    assert sorted(pair for pair in found if not is_there(pair[1])) == []


def test_no_text_sends_users_to_pages_that_they_do_not_have() -> None:
    modules = {module.__name__: documentation(module) for module in public_modules()}
    names = {name: documentation(value) for name, value in NAMES.items()}
    members = {
        name: documentation(inspect.getattr_static(owner, member))
        for name, (owner, member) in MEMBERS.items()
    }
    ours = re.compile(r"\bS\d+\.\d+|\bDESIGN\b|\bSEMANTICS\b|\bSTYLE \d")
    texts = {**modules, **names, **members}
    assert {name: text for name, text in texts.items() if ours.search(text)} == {}


@pytest.mark.parametrize("module", public_modules(), ids=lambda module: module.__name__)
def test_a_module_says_what_it_holds(module: ModuleType) -> None:
    assert module.__doc__


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_explains_its_arguments_and_its_result_and_names_its_source(name: str) -> None:
    function = NAMES[name]
    text = documentation(function)
    assert set(parameters(function)) - set(listed(text)) == set()
    assert says_what_it_gives(function, text)
    assert "Source: " in text


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_explains_its_arguments_and_names_its_source(name: str) -> None:
    made = NAMES[name]
    text = inspect.getdoc(made) or ""
    if issubclass(made, graven.errors.OpError):  # made by the engine
        text += f"\n\n{inspect.getdoc(graven.errors.OpError)}\n\n{graven.errors.__doc__}"
    if "__init__" in vars(made) and name not in MADE_BY_OTHERS:
        assert set(parameters(made.__init__)) - set(listed(text)) == set()
    assert "Source: " in text


@pytest.mark.parametrize("name", METHODS)
def test_a_method_explains_its_arguments_and_its_result(name: str) -> None:
    owner, member = MEMBERS[name]
    function = getattr(owner, member)
    text = documentation(function)
    assert text
    neighbour = refers_to(text)
    if neighbour:
        text = documentation(getattr(owner, neighbour))
        assert listed(text)
    else:
        assert set(parameters(function)) - set(listed(text)) == set()
    assert says_what_it_gives(function, text)


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_property_says_what_it_is(name: str) -> None:
    owner, member = MEMBERS[name]
    text = documentation(inspect.getattr_static(owner, member))
    attributes = section(inspect.getdoc(owner) or "", "Attributes")
    assert text or f"  {member}: " in attributes


def test_argmin_tells_the_dtypes_that_it_takes() -> None:
    # It told those of argmax.
    assert "output_type: int16, uint16, int32 or int64." in (graven.argmax.__doc__ or "")
    assert "output_type: int32 or int64." in (graven.argmin.__doc__ or "")
