"""docs/compatibility.md says what the package has."""

from types import SimpleNamespace

import graven
from compatibility import PAGE, Name, dtypes_page, has, missing_dtypes, page, read_names, whole_page
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
