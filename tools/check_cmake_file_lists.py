"""Finds sources that no CMakeLists.txt names, names without a file, and lists out of order.

Sources are named one per line, sorted, without globs, so a file that was forgotten is simply not
built, and its tests pass by not running. This check is what makes that visible.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

FOLDERS = ("graven", "examples", "benchmarks", "tests")
# The commands that say what a target is built of; a source in another one is not a list.
COMMANDS = re.compile(r"\b(?:graven_\w+|target_sources|add_library|add_executable)\s*\(([^()]*)\)")
NAMES_A_SOURCE = re.compile(r"[\w./-]+\.(?:cc|h)(?![\w.])")
ONE_SOURCE = re.compile(r"^\s*([\w./-]+\.(?:cc|h))\s*\)*\s*$")


def sources_of(folder: Path) -> set[str]:
    """The sources below a folder, without those of subfolders that have a CMakeLists.txt."""
    found: set[str] = set()
    for entry in folder.iterdir():
        if entry.is_dir():
            if not (entry / "CMakeLists.txt").exists():
                found |= {f"{entry.name}/{name}" for name in sources_of(entry)}
        elif entry.suffix in (".cc", ".h"):
            found.add(entry.name)
    return found


def check_lists(lists: Path) -> Iterable[str]:
    """Yields a line for each finding in one CMakeLists.txt."""
    text = re.sub(r"#.*", "", lists.read_text())
    if re.search(r"file\s*\(\s*GLOB", text):
        yield f"{lists}: a glob; name the sources"
    text = "\n".join(COMMANDS.findall(text))
    named = set(NAMES_A_SOURCE.findall(text))
    present = sources_of(lists.parent)
    yield from (f"{lists}: {name} is not named" for name in sorted(present - named))
    yield from (
        f"{lists}: there is no {name}"
        for name in sorted(named)
        if not (lists.parent / name).exists()
    )
    previous = ""
    for line in text.splitlines():
        found = ONE_SOURCE.match(line)
        if found and previous > found[1]:
            yield f"{lists}: {found[1]} stands after {previous}; sort the list"
        if not found and len(NAMES_A_SOURCE.findall(line)) > 1:
            yield f"{lists}: one source per line, not {line.strip()}"
        previous = found[1] if found else ""


def check_tree(root: Path) -> list[str]:
    """All findings in a repository."""
    findings: list[str] = []
    for folder in FOLDERS:
        for lists in sorted((root / folder).rglob("CMakeLists.txt")):
            findings += check_lists(lists)
    engine = root / "graven"
    rooms = [entry for entry in sorted(engine.iterdir()) if entry.is_dir()]
    findings += [
        f"{room}: has sources and no CMakeLists.txt"
        for room in rooms
        if not (room / "CMakeLists.txt").exists() and sources_of(room)
    ]
    return [finding.replace(f"{root}/", "") for finding in findings]


def main() -> int:
    """Prints the findings for this repository."""
    findings = check_tree(Path(__file__).resolve().parents[1])
    print("\n".join(findings) or "file lists: every source is named where it is built")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
