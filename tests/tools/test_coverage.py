"""./dev coverage reads what gcov counts: the lines of the engine, each once, tests left out."""

import subprocess
from pathlib import Path
from typing import Any

from devtool import coverage
from devtool.coverage import Lines

HEADER = """inline int twice(int n) {
  return 2 * n;
}
inline int half(int n) {
  return n / 2;
}
"""
SOURCE = """#include "a.h"
extern "C" void abort();
int f(int n) {
  if (n > 100) {
    abort();
  }
  return twice(n);
}
"""
IDLE = """#include "a.h"
int g(int n) { return half(n); }
"""
TEST = """int f(int n);
int main() { return f(1) == 2 ? 0 : 1; }
"""


def report(root: Path, file: str, counts: dict[int, int]) -> dict[str, Any]:
    lines = [{"line_number": number, "count": count} for number, count in counts.items()]
    return {"current_working_directory": str(root), "files": [{"file": file, "lines": lines}]}


def test_a_line_that_stands_in_many_objects_ran_if_it_ran_in_one(tmp_path: Path) -> None:
    lines = Lines()
    lines.add(report(tmp_path, "graven/base/a.h", {1: 0, 2: 0, 5: 0}), tmp_path)
    lines.add(report(tmp_path / "build", "../graven/base/a.h", {1: 3, 5: 0}), tmp_path)
    assert lines.missed() == {"graven/base/a.h": [2, 5]}


def test_tests_and_what_is_not_of_the_engine_are_left_out(tmp_path: Path) -> None:
    lines = Lines()
    for file in (
        "graven/base/base_test.cc",
        "graven/runtime/testing.h",
        "graven/optimize/pass_test.h",
        "graven/kernels/kernels_benchmark.cc",
        "examples/digits.cc",
        "/usr/include/c++/12/vector",
    ):
        lines.add(report(tmp_path, file, {1: 1}), tmp_path)
    assert lines.counts == {}


def test_the_table_has_a_line_for_each_room_and_one_for_all(tmp_path: Path) -> None:
    lines = Lines()
    lines.add(report(tmp_path, "graven/tensor/a.cc", {1: 1, 2: 0, 3: 1, 4: 1}), tmp_path)
    lines.add(report(tmp_path, "graven/base/a.cc", {1: 9}), tmp_path)
    lines.add(report(tmp_path, "graven/base/b.cc", {1: 0, 2: 0}), tmp_path)
    assert lines.table().splitlines() == [
        "base        33.3 %  1 of 3 lines",
        "tensor      75.0 %  3 of 4 lines",
        "all         57.1 %  4 of 7 lines",
    ]


def test_the_counts_of_a_real_build_are_read(tmp_path: Path) -> None:
    folder, build = tmp_path / "graven" / "base", tmp_path / "build"
    folder.mkdir(parents=True)
    build.mkdir()
    for name, text in (("a.h", HEADER), ("a.cc", SOURCE), ("b.cc", IDLE), ("a_test.cc", TEST)):
        (folder / name).write_text(text)
    flags = ["-O1", "-g1", "--coverage", "-fprofile-update=atomic"]
    for name in ("a", "b", "a_test"):
        command: list[str | Path] = [
            "g++",
            *flags,
            "-c",
            folder / f"{name}.cc",
            "-o",
            f"{name}.cc.o",
        ]
        subprocess.run(command, cwd=build, check=True)
    command = ["g++", "--coverage", "a.cc.o", "a_test.cc.o", "-o", "a_test"]
    subprocess.run(command, cwd=build, check=True)
    subprocess.run([build / "a_test"], check=True)

    lines = coverage.read_build(build, tmp_path)
    # Of b.cc no program was made: nothing of it ran.
    assert lines.missed() == {
        "graven/base/a.cc": [5],
        "graven/base/a.h": [5],
        "graven/base/b.cc": [2],
    }
    coverage.forget_counts(build)
    assert not any(
        any(counts.values()) for counts in coverage.read_build(build, tmp_path).counts.values()
    )
