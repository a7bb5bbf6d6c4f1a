"""What ./dev sanitize relies on: each kind of finding is reported, in every process."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from devtool import sanitizing
from devtool.commands import DevError

LEAK = """
#include <stdlib.h>
void** kept;
int main() {
  kept = (void**)malloc(8);
  *kept = malloc(100);  // reachable: no leak
  *(void* volatile*)&kept[0] = 0;
  return 0;
}
"""
OVERFLOW = "int main(int n, char**) { int a[2] = {1, 2}; return a[n + 1]; }"
UNDEFINED = "int main(int n, char**) { return (0x7fffffff + n) == 0; }"
RACE = """
#include <thread>
volatile int shared;
void count() { for (int i = 0; i < 100000; ++i) shared = i; }  // once may pass unseen
int main() {
  std::thread other(count);
  count();
  other.join();
}
"""
LIBRARY = """
#include <stdlib.h>
extern "C" void leak() { *(void* volatile*)malloc(8) = malloc(100); }
extern "C" void keep() { static void* kept; kept = malloc(100); }
"""


def compiled(folder: Path, text: str, flags: Sequence[str]) -> Path:
    source, made = folder / "program.cc", folder / "program"
    source.write_text(text)
    subprocess.run(["g++", "-g", *flags, source, "-o", made, "-lpthread"], check=True)
    return made


def findings(command: Sequence[str | Path], preset: str, folder: Path, **env: str) -> list[str]:
    log = folder / sanitizing.LOG_NAME
    environment: Mapping[str, str] = {**os.environ, **sanitizing.options(preset, log), **env}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    # Beside the address sanitizer, that of undefined behaviour knows no log.
    found = sanitizing.take_findings(log) or ([done.stderr] if done.stderr else [])
    assert (done.returncode != 0) == bool(found), done.stderr
    assert sanitizing.take_findings(log) == []
    return found


@pytest.mark.parametrize(
    ("preset", "program", "flags", "message"),
    [
        ("asan", LEAK, "address,undefined", "LeakSanitizer"),
        ("asan", OVERFLOW, "address", "stack-buffer-overflow"),
        ("asan", UNDEFINED, "address,undefined", "signed integer overflow"),
        ("tsan", RACE, "thread", "data race"),
    ],
    ids=["leak", "overflow", "undefined", "race"],
)
def test_a_program_that_is_wrong_writes_a_finding(
    preset: str, program: str, flags: str, message: str, tmp_path: Path
) -> None:
    made = compiled(tmp_path, program, [f"-fsanitize={flags}", "-fno-sanitize-recover=undefined"])
    (found,) = findings([made], preset, tmp_path)
    assert message in found


@pytest.mark.parametrize("name", ["leak", "keep"])
def test_python_tells_what_an_extension_leaks_and_nothing_of_its_own(
    name: str, tmp_path: Path
) -> None:
    made = compiled(tmp_path, LIBRARY, ["-fsanitize=address", "-shared", "-fPIC"])
    program = f"import ctypes, json, logging; ctypes.CDLL({str(made)!r}).{name}()"
    environment = sanitizing.python_environment("asan")
    found = findings([sys.executable, "-c", program], "asan", tmp_path, **environment)
    if name == "keep":
        assert found == []
    else:
        assert "in leak" in found[0]


def test_only_the_sanitizers_that_there_are_can_be_asked_for() -> None:
    with pytest.raises(DevError, match="asan or tsan, not msan"):
        sanitizing.sanitize(["msan"])
