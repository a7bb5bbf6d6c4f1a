"""Prints the stubs of the public modules that have functions of records: what type checkers read.

    ./dev python tools/stubs.py FOLDER                        the package with its stubs, as links
    python tools/stubs.py FOLDER --engine FOLDER_OF_ENGINE    only the stubs, while a wheel is built

A function of a record is made when a program first asks for it, so that no source shows it. Its
parameters, defaults and summary come from the record here, and what else a module holds from its
source. _functions.pyi has each function once; it is a module for type checkers only, because in
graven.pyi names such as bool and range are not Python's. Nothing that is printed here is in git.
"""

import argparse
import ast
import importlib
import importlib.util
import pkgutil
import re
import shutil
import struct
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parents[1] / "python" / "graven"
FUNCTIONS = "_functions.pyi"
# Types that hold None.
TAKES_NONE = ("object", "Axes", "DTypeLike", "Name", "ShapeLike", "TensorLike")
# What OpDefs call the types of attributes, and what Python does.
TYPES = {
    "bool": "bool",
    "int": "int",
    "float": "float",
    "string": "str",
    "type": "DTypeLike",
    "shape": "ShapeLike",
    "tensor": "TensorLike",
    "func": "object",
}


def is_missing(default: Any) -> bool:
    """Whether a parameter must be given: its default is an empty tuple then."""
    return isinstance(default, tuple) and not default


def default_text(package: Any, default: Any) -> str:
    """A default as Python writes it; "..." where that takes more than a literal."""
    if isinstance(default, package.DType):
        return f"_dtypes.{'bool_' if default == package.bool else default.name}"
    if isinstance(default, float):
        # An attribute is a number of 32 bits, which Python has as one of 64.
        short = float(f"{default:.7g}")
        return repr(short if struct.unpack("f", struct.pack("f", short))[0] == default else default)
    if default is None or isinstance(default, bool | int | str | list):
        return repr(default)
    return "..."


def attribute_type(kind: str) -> str:
    """The type in Python of an attribute, such as "list(int)" of an OpDef."""
    if kind.startswith("list("):
        return f"Sequence[{TYPES[kind.removeprefix('list(').removesuffix(')')]}]"
    return TYPES[kind]


def is_list(argument: str, record: Mapping[str, Any]) -> bool:
    """Whether an argument in OpDef's grammar, such as "values: N * T", is several tensors."""
    kind = argument.partition(":")[2].strip()
    return "*" in kind or (kind[:1].isupper() and kind not in dict(record["types"]))


def parameter_types(record: Mapping[str, Any]) -> dict[str, str]:
    """The types in Python of the parameters of a record of the library."""
    found = {"name": "Name"}
    for name, role, _, kind, _ in record["parameters"]:
        if role in ("ignored", "refused"):
            kind = "object"
        found.setdefault(name, kind)
    return found


def parameters(package: Any, function: Any) -> list[str]:
    """The parameters of a function of a record, with types and defaults."""
    record = function._record
    if "inputs" not in record:
        found = []
        for name, default in function._parameters:
            if name.startswith("*"):
                found.append(f"{name}: TensorLike")
                continue
            text = f"{name}: {parameter_types(record)[name]}"
            if is_missing(default):
                found.append(text)
                continue
            optional = "" if default is not None or text.endswith(TAKES_NONE) else " | None"
            found.append(f"{text}{optional} = {default_text(package, default)}")
        return found
    inputs = {text.partition(":")[0].strip(): text for text in record["inputs"]}
    found = []
    for name, default in function._parameters:
        if name in inputs:
            several = is_list(inputs[name], record)
            text = f"{name}: {'Sequence[TensorLike]' if several else 'TensorLike'}"
        elif name == "name":
            text = "name: Name"
        else:
            text = f"{name}: {attribute_type(record['attributes'][name])}"
        found.append(text if is_missing(default) else f"{text} = {default_text(package, default)}")
    return found


def outputs(function: Any) -> list[tuple[str, str]]:
    """The outputs of a record: names, and types in Python."""
    record = function._record
    if "inputs" not in record:
        return [
            (name, "list[Tensor]" if several else "Tensor") for name, several in record["results"]
        ]
    return [
        (text.partition(":")[0].strip(), "list[Tensor]" if is_list(text, record) else "Tensor")
        for text in record["outputs"]
    ]


def definition(package: Any, name: str, function: Any) -> str:
    """The function of an op, and before it the class of its result if that is a named tuple."""
    results = outputs(function)
    text = ""
    if function._record.get("is_structure"):
        result = "Any"  # Of the structure of what a function of the user's returns.
    elif len(results) > 1 and not function._record.get("type_name", "op"):
        result = f"tuple[{', '.join(kind for _, kind in results)}]"
    elif len(results) > 1:
        result = f"_{name}Outputs"
        members = ""
        for member, kind in results:
            is_method = hasattr(tuple, member)  # UniqueWithCounts has a `count`
            ignored = "  # type: ignore[assignment]" if is_method else ""
            members += f"    {member}: {kind}{ignored}\n"
        text = f"class {result}(NamedTuple):\n{members}\n"
    elif results:
        result = results[0][1]
    else:
        result = "Operation | None"  # The operation while a function is traced.
    summary = "\n    ".join(textwrap.wrap(function._record["summary"], 90))
    given = ", ".join(parameters(package, function))
    return f'{text}def {name}({given}) -> {result}:\n    """{summary}"""\n\n'


def definitions(package: Any, functions: Mapping[str, Any]) -> str:
    """The functions of ops with the imports that they need."""
    body = "".join(
        definition(package, name, function) for name, function in sorted(functions.items())
    )
    needed = {
        "collections.abc": ["Callable", "Sequence"],
        "typing": ["Any", "NamedTuple"],
        "graven": ["_dtypes"],
        "graven._engine": ["Operation", "Tensor"],
        "graven._types": [
            "Axes",
            "AxisPairs",
            "DTypeLike",
            "Name",
            "NumberOrText",
            "Padding",
            "ShapeLike",
            "Sizes",
            "TensorLike",
        ],
    }
    lines = []
    for module, names in needed.items():
        used = [
            name
            for name in names
            if name not in functions and re.search(rf"\b{name}\b", body)  # there is an op Any
        ]
        lines += [f"from {module} import {', '.join(used)}\n"] if used else []
    return "".join(lines) + "\n" + body


def functions_of(package: Any, module: str) -> dict[str, Any]:
    """The functions of records that a public module makes when they are asked for."""
    # A record's public name may have a function of its own, written by hand.
    written = written_names(source_of(module))
    return {
        name: package._public.function(public)
        for name, public in package._public.names_in(module).items()
        if name not in written
    }


def source_of(module: str) -> Path:
    """The source of a public module."""
    path = PACKAGE.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def written_names(source: Path) -> set[str]:
    """The names that a module gives to what it imports and assigns."""
    names = set()
    for node in ast.parse(source.read_text()).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def written_part(source: Path) -> tuple[str, str]:
    """What a module's source holds, as a stub says it: its docstring, and the rest."""
    text = source.read_text()
    first, *rest = ast.parse(text).body
    lines = []
    for node in rest:
        if isinstance(node, ast.ImportFrom) and node.module == "graven":
            kept = [alias for alias in node.names if alias.name != "_public"]
            if kept:
                lines.append(ast.unparse(ast.ImportFrom("graven", kept, 0)))
        elif isinstance(node, ast.ImportFrom) and node.module:
            (alias,) = node.names
            if alias.asname == alias.name:
                lines.append(ast.unparse(node))
            else:  # An import under another name is private to a stub.
                private = node.module.rpartition(".")[2]
                lines.append(f"from graven import {private}")
                lines.append(f"{alias.asname} = {private}.{alias.name}")
        elif isinstance(node, ast.Assign):
            lines.append(ast.unparse(node))
        elif not isinstance(node, ast.Expr):
            raise NotImplementedError(f"No stub is written of: {ast.unparse(node)}")
    imports = sorted({line for line in lines if line.startswith("from ")})
    others = [line for line in lines if not line.startswith("from ")]
    return ast.get_source_segment(text, first) or "", "\n".join([*imports, *others])


def stubs(package: Any) -> dict[Path, str]:
    """The text of each stub, by its path within the package."""
    found = {}
    defined: dict[str, Any] = {}
    modules = [
        module.name
        for module in pkgutil.walk_packages(package.__path__, "graven.")
        if "._" not in module.name
    ]
    for module in ["graven", *modules]:
        functions = functions_of(package, module)
        if not functions:
            continue
        docstring, written = written_part(source_of(module))
        if module == "graven.raw_ops":
            made = definitions(package, functions)
        else:
            made = aliases = ""
            for name, function in functions.items():
                own = shown = name
                if defined.get(name, function)._record != function._record:
                    own = f"{module.rpartition('.')[2]}_{name}"  # random.split beside split
                    shown = f"_{name}"
                    aliases += f"{name} = {shown}\n"
                defined[own] = function
                made += f"from graven.{FUNCTIONS.removesuffix('.pyi')} import {own} as {shown}\n"
            made += aliases
        path = source_of(module).with_suffix(".pyi").relative_to(PACKAGE)
        found[path] = f"{docstring}\n\n{made}\n{written}\n"
    for name in package._public.public_names():
        private = name.rpartition(".")[2]
        if private.startswith("_"):
            defined[private] = package._public.function(name)
    text = '"""The functions of records under their public names."""\n\n'
    found[Path(FUNCTIONS)] = text + definitions(package, defined)
    return found


def load(engine: str) -> Any:
    """The package of this checkout with the extension of a folder."""
    places = [str(PACKAGE), engine]
    spec = importlib.util.spec_from_file_location(
        "graven", PACKAGE / "__init__.py", submodule_search_locations=places
    )
    assert spec is not None
    assert spec.loader is not None
    sys.modules["graven"] = package = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    return package


def write(found: Mapping[Path, str], folder: Path) -> None:
    """Writes stubs into a folder, which becomes a package."""
    for path, text in found.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def link_sources(folder: Path) -> None:
    """Makes a folder show the sources of the package, each as a link."""
    shutil.rmtree(folder, ignore_errors=True)
    for source in PACKAGE.rglob("*"):
        if source.suffix in (".py", ".pyi", ".typed"):
            target = folder / source.relative_to(PACKAGE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(source)


def main(arguments: Sequence[str]) -> int:
    """Writes the stubs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine")
    chosen = parser.parse_args(arguments)
    if chosen.engine:
        write(stubs(load(chosen.engine)), chosen.folder)
    else:
        link_sources(chosen.folder)
        write(stubs(importlib.import_module("graven")), chosen.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
