"""Prints docs/compatibility.md: which of the names that programs use, Graven has.

    ./dev python tools/compatibility.py --write    puts it into docs/

Names and counts are those of tensorflow_names.txt; whether Graven has one is asked of the package.
"""

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NAMES = Path(__file__).with_name("tensorflow_names.txt")
PAGE = ROOT / "docs" / "compatibility.md"
HEAD = """\
# Names of TensorFlow that Graven has

Printed by `tools/compatibility.py`. Of the {total} names of `tf.*` that the notebooks of
TensorFlow's guides and tutorials and the sources of Keras use, **{present} are here**; weighted by
how often they are used, {share:.0f} %. A name that is not here raises an AttributeError that names
the nearest; an argument that is not honoured raises a NotImplementedError that names it.
`tf.raw_ops` has further ops, under the names of their OpDefs.
"""


@dataclass(frozen=True)
class Name:
    """A public name, and in how many notebooks and files of Keras it stands."""

    name: str
    uses: int

    @property
    def module(self) -> str:
        """The module: "tf.math" of "math.add"."""
        head = self.name.rpartition(".")[0]
        return f"tf.{head}" if head else "tf"


def read_names(text: str) -> list[Name]:
    """Reads the list of names."""
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return [Name(name, int(notebooks) + int(keras)) for name, notebooks, keras in lines]


def has(package: Any, name: str) -> bool:
    """Whether a package has a dotted name."""
    value = package
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            return False
    return True


def page(names: Sequence[Name], package: Any) -> str:
    """The page for a package."""
    present = {name for name in names if has(package, name.name)}
    used = sum(name.uses for name in names)
    share = 100 * sum(name.uses for name in present) / used
    lines = [HEAD.format(total=len(names), present=len(present), share=share)]
    lines += ["| module | here | not here, most used first |", "| --- | --- | --- |"]
    modules: dict[str, list[Name]] = {}
    for name in names:
        modules.setdefault(name.module, []).append(name)
    for module in sorted(modules):
        here = [name.name.rpartition(".")[2] for name in modules[module] if name in present]
        rest = [name.name.rpartition(".")[2] for name in modules[module] if name not in present]
        cells = [", ".join(f"`{name}`" for name in part) for part in (sorted(here), rest)]
        lines.append(f"| `{module}` | {cells[0]} | {cells[1]} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Prints the page, or writes it."""
    text = page(read_names(NAMES.read_text()), importlib.import_module("graven"))
    if "--write" in arguments:
        PAGE.write_text(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
