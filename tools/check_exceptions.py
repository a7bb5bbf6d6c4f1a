"""Finds `throw`, `try` and `catch` outside the two rooms that may use exceptions.

The engine returns Status and Result; only the two front ends, python and api, turn them into
exceptions and catch those of users.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

FRONT_ENDS = ("graven/api/", "graven/python/", "graven/graven.h", "graven/python_api.h")
# Comments and literals, in the order in which C++ reads them; what they hold is no code.
NO_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<end>[^(\s]*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""",
    re.DOTALL,
)
EXCEPTION = re.compile(r"\b(?:throw|try|catch)\b")


def check_file(path: str, text: str) -> Iterable[str]:
    """Yields a line for each use of exceptions in a file; path begins with graven/."""
    if path.startswith(FRONT_ENDS):
        return
    code = NO_CODE.sub(lambda found: "\n" * found[0].count("\n"), text)
    for number, line in enumerate(code.splitlines(), 1):
        found = EXCEPTION.search(line)
        if found:
            yield f"{path}:{number}: only api and python may use exceptions ({found[0]})"


def check_tree(root: Path) -> list[str]:
    """All findings below root/graven."""
    findings: list[str] = []
    for file in sorted((root / "graven").rglob("*")):
        if file.suffix in (".h", ".cc"):
            findings += check_file(file.relative_to(root).as_posix(), file.read_text())
    return findings


def main() -> int:
    """Prints the findings for this repository."""
    findings = check_tree(Path(__file__).resolve().parents[1])
    print("\n".join(findings) or "exceptions: only the front ends use them")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
