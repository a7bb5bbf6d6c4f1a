"""Holds the rooms of graven/ to the house: an include goes down, and heavy libraries stay inside.

Each room may include what stands on its line of HOUSE and what that includes. The tests of a room
that knows what an op is try it with the real ops: they may include ops and what that includes.
There is no list of exceptions: where a file needs one, the file or the house is wrong.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

# Room: what it includes directly. The house has places for rooms whose content is still to come
# (data, jit, saved_model, serving), so that the first file of one stands in the right order.
HOUSE: dict[str, tuple[str, ...]] = {
    "base": (),
    "tensor": ("base",),
    "expr": ("tensor",),
    "ir": ("expr",),
    "kernels": ("ir",),
    "autodiff": ("ir",),
    "batching": ("ir",),
    "optimize": ("ir",),
    "runtime": ("kernels",),
    "ops": ("runtime",),
    "library": ("ops",),
    "function": ("autodiff", "optimize", "runtime"),
    "control": ("function", "library", "batching"),
    "data": ("control",),
    "jit": ("runtime",),
    "saved_model": ("function",),
    "serving": ("saved_model",),
    "api": ("data", "saved_model"),
    "python": ("api", "data", "saved_model"),
}

# Headers of users, which lie in graven/ itself, and the room that they belong to.
USER_HEADERS = {"graven/graven.h": "api", "graven/python_api.h": "python"}

# What the path of an include of a heavy library begins with, and the only rooms that have it.
HEAVY: dict[str, tuple[str, ...]] = {
    "Python.h": ("python",),
    "nanobind/": ("python",),
    "numpy/": ("python",),
    "oneapi/dnnl/": ("kernels",),
    "boost/": ("kernels",),
    "hwy/": ("kernels",),
    "llvm/": ("jit",),
    "google/protobuf/": ("saved_model",),
    "leveldb/": ("saved_model",),
    "sys/socket.h": ("serving",),
    "grpc": ("serving",),
}

# A test, or what tests share: fuse_test.cc, fuse_test.h, testing.h.
TEST = re.compile(r"(_test|testing)\.(cc|h)$")

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def rooms_below(room: str) -> set[str]:
    """The rooms whose headers a room may include, itself among them."""
    below = {room}
    for other in HOUSE[room]:
        below |= rooms_below(other)
    return below


def check_file(path: str, text: str) -> Iterable[str]:
    """Yields a line for each include of a file that the house forbids; path begins with graven/."""
    room = USER_HEADERS.get(path) or path.split("/")[1]
    if room not in HOUSE:
        yield f"{path}: no room of the house is named {room}"
        return
    allowed = rooms_below(room)
    if "ir" in allowed and TEST.search(path):
        allowed |= rooms_below("ops")
    for number, line in enumerate(text.splitlines(), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        quote, target = found.groups()
        where = f"{path}:{number}"
        if target.startswith("graven/"):
            other = USER_HEADERS.get(target) or target.split("/")[1]
            if other not in allowed:
                yield f"{where}: {room} may not include {other} ({target})"
        elif quote == '"' and not target.startswith(tuple(HEAVY)):
            yield f'{where}: write the path from the root, "graven/{room}/{target}"'
        for start, rooms in HEAVY.items():
            if target.startswith(start) and room not in rooms:
                yield f"{where}: only {' and '.join(rooms)} may include {target}"


def check_tree(root: Path) -> list[str]:
    """All findings below root/graven."""
    findings: list[str] = []
    for file in sorted((root / "graven").rglob("*")):
        path = file.relative_to(root).as_posix()
        if file.suffix in (".h", ".cc"):
            findings += check_file(path, file.read_text())
        elif file.suffix in (".hpp", ".hxx", ".hh", ".cpp", ".cxx", ".c", ".inc", ".inl", ".ipp"):
            findings.append(f"{path}: sources end in .h or .cc")
    return findings


def main() -> int:
    """Prints the findings for this repository."""
    findings = check_tree(Path(__file__).resolve().parents[1])
    print("\n".join(findings) or "includes: every arrow goes down the house")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
