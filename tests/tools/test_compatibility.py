"""docs/compatibility.md says what the package has."""

import ast
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import graven
import pytest
from compatibility import (
    PAGE,
    ROOT,
    Name,
    arguments_of,
    arguments_page,
    documented,
    dtypes_page,
    has,
    missing_dtypes,
    not_honoured,
    page,
    read_names,
    whole_page,
)
from tensorflow_kernels import merged, read


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == whole_page(graven), "run ./dev python tools/compatibility.py --write"


def test_names_are_read_with_their_uses() -> None:
    assert read_names("# comment\nmath.add 2 3\n\nconstant 1 0\n") == [
        Name("math.add", 5),
        Name("constant", 1),
    ]
    assert [Name("math.add", 5).module, Name("constant", 1).module] == ["tf.math", "tf"]


def test_a_page_tells_what_is_here_and_what_is_not() -> None:
    package = SimpleNamespace(add=1, math=SimpleNamespace(sub=2))
    names = [Name("add", 3), Name("math.mul", 4), Name("math.sub", 1), Name("nn.relu.x", 2)]
    text = page(names, package)
    assert "**2 are here**; weighted by\nhow often they are used, 40 %" in text
    assert "| `tf` | `add` |  |\n" in text
    assert "| `tf.math` | `sub` | `mul` |\n" in text
    assert "| `tf.nn.relu` |  | `x` |\n" in text
    assert has(package, "math.sub") and not has(package, "math.sub.more")


def strange(x: int, layout: None = None, hint: bool = False) -> int:
    """Doubles a number.

    Args:
      x: The number, which
        is any.
      layout: Refused unless None: there is
        one device.
      hint: Accepted; changes nothing.

    Returns:
      Twice x.
    """
    return 2 * x


def test_arguments_are_read_from_docstrings() -> None:
    assert arguments_of(str(strange.__doc__).replace("\n    ", "\n")) == {
        "x": "The number, which is any.",
        "layout": "Refused unless None: there is one device.",
        "hint": "Accepted; changes nothing.",
    }


def test_an_argument_that_is_not_honoured_has_a_line() -> None:
    text = arguments_page([("tf.strange", strange), ("tf.math.strange", strange)])
    assert "| `tf.strange` | `layout` | Refused unless None: there is one device. |\n" in text
    assert "| `tf.strange` | `hint` | Accepted; changes nothing. |\n" in text
    assert "`x`" not in text and "tf.math" not in text


SOURCES = sorted((ROOT / "python" / "graven").rglob("_*.py"))


def functions_in(source: Path) -> Iterator[tuple[ast.FunctionDef, dict[str, str]]]:
    """The functions of a file whose docstrings list arguments."""
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.FunctionDef):
            arguments = arguments_of(ast.get_docstring(node) or "")
            if arguments:
                yield node, arguments


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_an_argument_that_a_function_refuses_or_never_reads_is_said_to_be_so(source: Path) -> None:
    wrong = []
    for function, arguments in functions_in(source):
        if source.stem in ("_trace_types", "_type_spec"):  # protocols, whose defaults need little
            continue
        if len(function.body) == 2 and isinstance(function.body[1], ast.Raise):
            continue  # It refuses to be called.
        nodes = list(ast.walk(function))
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        refused = {
            keyword.arg
            for call in calls
            if isinstance(call.func, ast.Name) and call.func.id == "refuse"
            for keyword in call.keywords
        }
        read = {
            node.id
            for node in nodes
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        read |= {handler.name or "" for handler in nodes if isinstance(handler, ast.ExceptHandler)}
        for name, text in arguments.items():
            if name in refused and not text.startswith("Refused"):
                wrong.append(f"{function.name}: {name} is refused")
            if name not in read and not text.startswith("Accepted"):
                wrong.append(f"{function.name}: {name} has no effect")
    assert wrong == []


def test_each_function_that_refuses_an_argument_has_lines() -> None:
    listed = arguments_page(documented(graven))
    for name, argument in (("zeros", "layout"), ("ragged.constant", "inner_shape")):
        assert f"| `tf.{name}` | `{argument}` | Refused" in listed
    assert not_honoured("None. Others are refused.") and not not_honoured("Is ignored if 0.")


KERNELS = read(
    "# comment\nAdd function | T=half,int8,qint8 | T=string\nNoOp -\nSum none | T=half U=a,b\n"
)


def test_kernels_are_read_and_written_alike() -> None:
    assert KERNELS["Add"].dtypes("T") == {"half", "int8", "qint8", "string"}
    assert [KERNELS[op].gradient for op in ("Add", "NoOp", "Sum")] == ["function", "-", "none"]
    assert str(KERNELS["Add"]) == "Add function | T=half,int8,qint8 | T=string"
    assert str(KERNELS["NoOp"]) == "NoOp -"


def test_kernels_that_differ_in_one_attribute_become_one() -> None:
    def kernel(t: str, u: str) -> dict[str, frozenset[str]]:
        return {"T": frozenset([t]), "U": frozenset([u])}

    assert merged([kernel("a", "x"), kernel("b", "x")]) == (
        {"T": frozenset("ab"), "U": frozenset("x")},
    )
    assert len(merged([kernel("a", "x"), kernel("b", "y")])) == 2
    # The third completes the square.
    four = [kernel(t, u) for t, u in ("ax", "by", "ay", "bx")]
    assert merged(four) == ({"T": frozenset("ab"), "U": frozenset("xy")},)


def test_a_dtype_that_an_op_lacks_has_a_line() -> None:
    ours = {"T": frozenset(["half"])}
    assert missing_dtypes(KERNELS["Add"], ours) == {"T": {"int8", "qint8", "string"}}
    assert missing_dtypes(KERNELS["NoOp"], {}) == {}
    types = {"Add": ours, "NoOp": {}, "Ours": {"T": frozenset(["int8"])}}
    text = dtypes_page(KERNELS, types, frozenset(["half", "int8", "string"]))
    assert "Of the 2 ops" in text and "They are `qint8`." in text
    assert text.endswith("| `Add` | T | `int8`, `string` |\n")
