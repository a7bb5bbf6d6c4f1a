"""Prints docs/compatibility.md: which names that programs use, arguments and dtypes Graven has.

    ./dev python tools/compatibility.py --write    puts it into docs/

Names and counts are those of tensorflow_names.txt, dtypes those of tensorflow_kernels.txt; whether
Graven has one is asked of the package. Which arguments are refused or have no effect is what the
docstrings say of them. What differs on purpose is written in kept_differences.md.
"""

import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import tensorflow_kernels
from tensorflow_kernels import KernelsOfOp

ROOT = Path(__file__).resolve().parents[1]
NAMES = Path(__file__).with_name("tensorflow_names.txt")
PAGE = ROOT / "docs" / "compatibility.md"
KEPT = Path(__file__).with_name("kept_differences.md")
HEAD = """\
# Names of TensorFlow that Graven has

Printed by `tools/compatibility.py`. Of the {total} names of `tf.*` that the notebooks of
TensorFlow's guides and tutorials and the sources of Keras use, **{present} are here**; weighted by
how often they are used, {share:.0f} %. A name that is not here raises an AttributeError that says
in which module it is, or names the nearest; arguments and dtypes that are not honoured stand in the
tables below.
`tf.raw_ops` has further ops, under the names of their OpDefs.

The count leaves out four parts of TensorFlow of which Graven has nothing: `tf.keras`, which is a
package of its own and what many programs use most, `tf.compat.v1`, `tf.lite` and `tf.estimator`.

Two requests are accepted though nothing can follow them yet, as programs on TensorFlow make them
everywhere: `jit_compile=True` runs functions as they run without it, and says so once; and
`tf.device("/GPU:0")` computes on the CPU, as TensorFlow does on a machine without a GPU
([devices](devices.md)): `tf.config.set_soft_device_placement(False)` makes it an error.
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


ARGUMENTS_HEAD = """
# Arguments that are refused, and arguments without effect

Arguments of TensorFlow's functions that Graven has under their names and does not honour, in the
words of the docstrings. One that is refused is a NotImplementedError that names it; one that is
accepted has no effect, for the reason given.

| function | argument | |
| --- | --- | --- |
"""


def documented(module: ModuleType, prefix: str = "tf") -> Iterator[tuple[str, Any]]:
    """The functions, classes and methods that a module and those in it show, with their names."""
    inner = []
    for name in dir(module):
        value = getattr(module, name)
        if isinstance(value, ModuleType):
            inner.append((value, f"{prefix}.{name}"))
        elif isinstance(value, type):
            yield f"{prefix}.{name}", value
            members = [member for member in dir(value) if not member.startswith("_")]
            yield from ((f"{prefix}.{name}.{member}", getattr(value, member)) for member in members)
        elif callable(value):
            yield f"{prefix}.{name}", value
    for value, path in inner:
        yield from documented(value, path)


def arguments_of(docstring: str) -> dict[str, str]:
    """What a docstring says of each argument, in one line."""
    section = re.search(r"^Args:\n((?: +.*\n|\n)*)", docstring + "\n", re.MULTILINE)
    entries = re.split(r"^ {2}(?=\S)", section[1] if section else "", flags=re.MULTILINE)[1:]
    parts = [entry.partition(":") for entry in entries]
    return {name.strip("*"): " ".join(text.split()) for name, _, text in parts}


def not_honoured(text: str) -> bool:
    """Whether what a docstring says of an argument is that it is refused, or does nothing."""
    return "refused" in text.lower() or text.startswith("Accepted")


def arguments_page(functions: Iterable[tuple[str, Any]]) -> str:
    """The section on arguments, each function under the first of its names."""
    rows, seen = [], set()
    for name, function in functions:
        # Each look at a classmethod makes a bound method anew.
        key = id(getattr(function, "__func__", function))
        if key not in seen:
            seen.add(key)
            arguments = arguments_of(inspect.getdoc(function) or "")
            rows += [
                f"| `{name}` | `{argument}` | {text} |\n"
                for argument, text in arguments.items()
                if not_honoured(text)
            ]
    return ARGUMENTS_HEAD + "".join(sorted(rows))


# The dtypes that each type attribute of an op may have.
Types = Mapping[str, frozenset[str]]

DTYPES_HEAD = """
# Dtypes that TensorFlow's kernels have and Graven's have not

Of the {total} ops of `tf.raw_ops` that are TensorFlow's too, the table lists for which dtypes some
kernel of TensorFlow is registered on a CPU that Graven does not take: an InvalidArgumentError (a
TypeError while a function is traced) names the op, the attribute and the dtype. TensorFlow's
registry lists a kernel without restrictions under every dtype, also under those that the kernel
then refuses. Graven has no tensors of some dtypes, which the table leaves out: asking for one is a
TypeError. They are {lacking}.

| op | attribute | not here |
| --- | --- | --- |
"""


def types_of(op: Any) -> Types:
    """The dtypes that the function of an op takes, by type attributes."""
    return {name: frozenset(allowed) for name, allowed in op._record["types"]}


def missing_dtypes(theirs: KernelsOfOp, ours: Types) -> dict[str, frozenset[str]]:
    """The dtypes of each type attribute that TensorFlow has kernels for and we do not take.

    What we take is every combination of the dtypes of the attributes, so that a combination of
    TensorFlow's is missing if and only if one of its dtypes is.
    """
    found = {name: theirs.dtypes(name) - ours[name] for name in ours if theirs.kernels}
    return {name: dtypes for name, dtypes in found.items() if dtypes}


def dtypes_page(
    kernels: Mapping[str, KernelsOfOp], types: Mapping[str, Types], known: frozenset[str]
) -> str:
    """The section on dtypes.

    Args:
      kernels: What TensorFlow has, by ops.
      types: What we take, by ops.
      known: All dtypes that we have tensors of.
    """
    common = [op for op in sorted(kernels) if op in types]
    gaps = {op: missing_dtypes(kernels[op], types[op]) for op in common}
    missing = frozenset().union(*(part for gap in gaps.values() for part in gap.values()))
    lacking = ", ".join(f"`{name}`" for name in sorted(missing - known))
    rows = [
        f"| `{op}` | {name} | {', '.join(f'`{dtype}`' for dtype in sorted(dtypes & known))} |\n"
        for op, gap in gaps.items()
        for name, dtypes in gap.items()
        if dtypes & known
    ]
    return DTYPES_HEAD.format(total=len(common), lacking=lacking) + "".join(rows)


def known_dtypes(package: Any) -> frozenset[str]:
    """The names of the dtypes that a package has."""
    values = (getattr(package, name) for name in dir(package))
    return frozenset(value.name for value in values if isinstance(value, package.DType))


def whole_page(package: Any) -> str:
    """The page for a package: names, arguments, dtypes, and what differs on purpose."""
    ops = {op: types_of(getattr(package.raw_ops, op)) for op in dir(package.raw_ops)}
    kernels = tensorflow_kernels.read(tensorflow_kernels.FILE.read_text())
    names = page(read_names(NAMES.read_text()), package)
    arguments = arguments_page(documented(package))
    return (
        names
        + arguments
        + dtypes_page(kernels, ops, known_dtypes(package))
        + "\n"
        + KEPT.read_text()
    )


def main(arguments: Sequence[str]) -> int:
    """Prints the page, or writes it."""
    text = whole_page(importlib.import_module("graven"))
    if "--write" in arguments:
        PAGE.write_text(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
