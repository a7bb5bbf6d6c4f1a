"""Threads go on while a process ends, so the engine has no static object that is destroyed then."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REGISTERS_A_DESTRUCTOR = "__cxa_atexit"
# Any file that includes <iostream>, as Boost does, has one; it only flushes the standard streams.
DESTRUCTOR_OF_STREAMS = "_ZNSt8ios_base4InitD1Ev"


def uses_of(symbol: str, relocations: str) -> int:
    """The places of an object file that refer to the symbol."""
    return sum(symbol in line.split() for line in relocations.splitlines())


def test_the_engine_registers_nothing_to_be_destroyed_when_the_process_ends() -> None:
    build = ROOT / "build" / os.environ.get("GRAVEN_PRESET", "release")
    objects = [
        path
        for path in build.glob("graven/*/CMakeFiles/graven_*.dir/**/*.o")
        if "_test.dir" not in str(path) and "graven_print_functions.dir" not in str(path)
    ]
    assert len(objects) > 200, objects
    thread_objects = 0
    for path in objects:
        command = ["readelf", "--relocs", "--wide", str(path)]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        # Objects of a thread's own are registered by another function.
        thread_objects += uses_of("__cxa_thread_atexit", found)
        destroyed = uses_of(REGISTERS_A_DESTRUCTOR, found) - uses_of(DESTRUCTOR_OF_STREAMS, found)
        assert destroyed == 0, (
            f"{path}: a static object has a destructor; make it one that is never destroyed:"
            " static auto* object = new Object();"
        )
    assert thread_objects > 0
