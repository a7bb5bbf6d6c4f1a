"""docs/compatibility.md says what the package has."""

from types import SimpleNamespace

import graven
from compatibility import NAMES, PAGE, Name, has, page, read_names


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(read_names(NAMES.read_text()), graven), (
        "run ./dev python tools/compatibility.py --write"
    )


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
