"""Holds code to the house's rule of ops: who may apply a certain op, and how it names it.

An op is named by its handle (`kSum`) in the rooms whose business is certain ops: `ops`, `library`,
`control`, `data`. Rooms that cannot include their headers know only the ops that the structure
itself is made of, those of ir/structural_ops.h, and look none up by name. The front ends apply
public functions of the library; only the tables of their operators name ops.
"""

import ast
import re
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Rooms that apply certain ops.
NAMING_ROOMS = {"ops", "library", "control", "data"}
FRONT_ENDS = {"api", "python"}
# The tables of operators, of indexing, of what lists become, and of the methods of variables.
OPERATORS = {
    "graven/api/operand.cc",
    "graven/api/variable.cc",
    "graven/python/convert.cc",
    "graven/python/tensor_index.cc",
    "graven/python/tensor_operators.cc",
}
HANDLES = re.compile(r"inline\s+OpHandle<[^;]*?>\s+([^;]+);")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
FOUND_BY_NAME = re.compile(r'\bfind\("([A-Z]\w*)"\)')
# kSum or engine::kSum, and not Instruction::kSum.
NAME = re.compile(r"(?<![\w:])(?:engine::)?(k[A-Z]\w*)")


def handles_of(text: str) -> set[str]:
    """The names of the handles that a header declares."""
    declared = HANDLES.findall(COMMENT.sub("", text))
    return {name for names in declared for name in re.findall(r"\bk[A-Z]\w*", names)}


def check_cpp(path: str, text: str, handles: set[str]) -> Iterable[str]:
    """Yields a line for each op that a source names and may not; path begins with graven/."""
    room = path.split("/")[1]
    if room in NAMING_ROOMS or path in OPERATORS or path.endswith("_test.cc"):
        return
    code = COMMENT.sub(lambda found: "\n" * found.group().count("\n"), text)
    for number, line in enumerate(code.splitlines(), 1):
        for name in FOUND_BY_NAME.findall(line):
            yield f'{path}:{number}: looks up "{name}"'
        for name in NAME.findall(STRING.sub('""', line)) if room in FRONT_ENDS else []:
            if name in handles:
                yield f"{path}:{number}: {name} is an op's: apply a function of the library"


def check_python(path: str, text: str) -> Iterable[str]:
    """Yields a line for each op that a module of the package names."""
    attributes = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Attribute))
    for node in sorted(attributes, key=lambda node: node.lineno):
        if not isinstance(node.value, ast.Name):
            continue
        if node.value.id in ("raw", "raw_ops") and node.attr[:1].isupper():
            yield f"{path}:{node.lineno}: {node.attr} is an op: apply a function of the library"


def violations() -> list[str]:
    """What the checkout does that the rule forbids."""
    headers = sorted((ROOT / "graven" / "ops").glob("*.h"))
    handles = {name for header in headers for name in handles_of(header.read_text())}
    structural = handles_of((ROOT / "graven" / "ir" / "structural_ops.h").read_text())
    found: list[str] = []
    for source in sorted((ROOT / "graven").rglob("*")):
        if source.suffix in (".h", ".cc") and source.parent != ROOT / "graven":
            path = source.relative_to(ROOT).as_posix()
            found += check_cpp(path, source.read_text(), handles - structural)
    for source in sorted((ROOT / "python" / "graven").rglob("*.py")):
        found += check_python(source.relative_to(ROOT).as_posix(), source.read_text())
    return found


def main() -> int:
    """Prints what it finds; 1 if that is anything."""
    found = violations()
    for line in found:
        print(line)
    print(f"op names: {len(found)} that do not belong" if found else "op names: where they belong")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
