"""Threads go on while a process ends, so the engine has no static object that is destroyed then."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_engine_registers_nothing_to_be_destroyed_when_the_process_ends() -> None:
    build = ROOT / "build" / os.environ.get("GRAVEN_PRESET", "release")
    library = str(build / "lib" / "libgraven.so")
    command = ["nm", "--dynamic", "--undefined-only", library]
    needed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    # Objects of a thread's own are registered by another function.
    assert "__cxa_thread_atexit" in needed
    assert "__cxa_atexit" not in needed.replace("__cxa_thread_atexit", ""), (
        "a static object has a destructor; make it one that is never destroyed:"
        " static auto* object = new Object();"
    )
