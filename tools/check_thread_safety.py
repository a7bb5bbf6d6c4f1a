"""Runs Clang's analysis of thread safety over the sources that work with locks.

A source is checked if it or its own header speaks of an annotated lock (graven/base/mutex.h): what
is guarded is private, so that nobody else touches it. Flags are those of the release build. Nothing
is compiled.
"""

import itertools
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILER = "clang++-19"
WARNINGS = ("-fsyntax-only", "-Wno-everything", "-Wthread-safety", "-Werror")
LOCKS = re.compile(r"\b(?:MutexLock|WaitingLock|ReaderLock|WriterLock|GUARDED_BY|REQUIRES)\b")


def speaks_of_locks(file: Path) -> bool:
    """Whether the file names a lock or says what is guarded."""
    return bool(LOCKS.search(file.read_text()))


def needs_check(source: Path) -> bool:
    """Whether the analysis can find anything in the source."""
    header = source.with_suffix(".h")
    return speaks_of_locks(source) or (header.exists() and speaks_of_locks(header))


def check(entry: dict[str, str]) -> str:
    """What the compiler finds in one source of compile_commands.json; empty if nothing."""
    words = entry["command"].split()
    flags = [word for word in words if word.startswith(("-I", "-D", "-std=", "-m"))]
    for word, value in itertools.pairwise(words):
        if word == "-isystem":
            flags += [word, value]
    command = [COMPILER, *flags, *WARNINGS, entry["file"]]
    result = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
    return result.stdout + result.stderr if result.returncode else ""


def main() -> int:
    """Prints what is found; 1 if anything is."""
    entries: list[dict[str, str]] = json.loads(Path(sys.argv[1]).read_text())
    sources = str(ROOT / "graven")
    ours = [entry for entry in entries if entry["file"].startswith(sources)]
    chosen = [entry for entry in ours if needs_check(Path(entry["file"]))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        findings = [text for text in pool.map(check, chosen) if text]
    print("".join(findings), end="")
    print(f"thread safety: {len(chosen)} sources, {len(findings)} with findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
