"""Finds circles among the modules of the Python package: each may be read after those it imports.

An import inside of a function counts too. It hides a circle from Python, not from the reader.
"""

import ast
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "python" / "graven"


def imported(tree: ast.Module, modules: set[str]) -> Iterator[str]:
    """Yields those of the modules that one imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            parts = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from parts & modules
            # A name that is no module is one of the package's own, or of its extension.
            if any(f"{node.module}.{alias.name}" not in modules for alias in node.names):
                yield node.module


def imports_of(package: Path) -> dict[str, set[str]]:
    """The modules of a package that each of its modules imports."""
    files = {}
    for file in package.rglob("*.py"):
        parts = [package.name, *file.relative_to(package).with_suffix("").parts]
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    names = set(files) | {f"{package.name}._engine"}
    return {
        module: set(imported(ast.parse(file.read_text()), names)) - {module}
        for module, file in files.items()
    }


def circle(package: Path) -> list[str]:
    """The modules of one circle, each of which is imported by the next; empty if there is none."""
    try:
        TopologicalSorter(imports_of(package)).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


if __name__ == "__main__":
    found = circle(PACKAGE)
    if found:
        sys.exit("a circle of imports: " + ", which is imported by ".join(found))
