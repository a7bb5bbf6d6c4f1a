"""./dev sanitize."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from devtool.build import build, build_folder
from devtool.commands import ROOT, DevError, say
from devtool.counts import Counts
from devtool.testing import CONFORMANCE, TestRun

# What each sanitizer finds, and what runs under it after the C++ tests.
FINDS = {
    "asan": "errors of memory, undefined behaviour and leaks",
    "tsan": "data races and locks taken in opposite orders",
}
RANDOM_PROGRAMS = tuple(
    f"tests/python/autograph/test_{name}_random.py"
    for name in ("conversion", "operators", "replay")
)
# Where memory of the engine and of Python's objects meet: what one holds of the other.
BOTH_MEMORIES = tuple(
    f"tests/python/test_{name}.py"
    for name in (
        "check_numerics",
        "composites",
        "entries",
        "extension_types",
        "failed_retraces",
        "forward_accumulator",
        "graph_def",
        "graph_objects",
        "host_function_errors",
        "host_function_gradients",
        "host_function_lives",
        "host_function_values",
        "optional",
        "ragged",
        "rows_of_different_sizes",
        "sparse",
        "strange_objects",
        "variable_creator",
        "wrong_trace_types",
    )
)
# Under asan frames are larger, so functions nest less deeply; and what is held only by a frame of a
# thread that still runs when Python ends is no leak.
LEFT_OUT = (
    "tests/python/test_graph_def.py::test_functions_within_functions_may_be_deep_but_not_too_deep",
    "tests/python/test_entries.py::test_objects_and_traces_may_be_left_when_the_interpreter_ends",
)
THREADS = "tests/threads"
# Findings of every process of a run, those of forked ones and of subprocesses too.
LOG_NAME = "sanitizer-findings"
SUPPRESSED_RACES = ROOT / "tools" / "sanitizer" / "tsan.supp"


def sanitize(arguments: Sequence[str]) -> int:
    """Builds with sanitizers and runs the C++ tests and what else each is for."""
    chosen = list(arguments) or list(FINDS)
    if not set(chosen) <= set(FINDS):
        raise DevError(f"sanitize takes asan or tsan, not {' '.join(chosen)}")
    total, status = Counts(), 0
    for preset in chosen:
        run = _run(preset)
        status = max(status, run.close())
        total += run.counts
    if len(chosen) > 1:
        print(total, flush=True)
    return status


def options(preset: str, log: Path) -> dict[str, str]:
    """The environment in which a program of this preset writes its findings to log.PID.

    Undefined behaviour is told on standard error, as that sanitizer knows no log beside the other.
    The leak checker is not to look for thread-local memory that is made late: that of GCC 12 takes
    what stands before it for its size, as glibc once had it, and crashes ("Tracer caught signal").
    """
    common = f"log_path={log}"
    if preset == "tsan":
        # A child of a fork goes on with threads of its own.
        return {
            "TSAN_OPTIONS": f"{common}:second_deadlock_stack=1:die_after_fork=0"
            f":suppressions={SUPPRESSED_RACES}"
        }
    return {
        "ASAN_OPTIONS": f"{common}:detect_leaks=1:detect_stack_use_after_return=1"
        ":intercept_tls_get_addr=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def python_environment(preset: str) -> dict[str, str]:
    """What a Python needs, which is not sanitized itself, to load an extension that is.

    The runtime must be there before it, with the libstdc++ whose throw it wraps. Each object has
    memory of its own. Leaks are looked for before Python ends, see tools/sanitizer.
    """
    runtime = [_library_of_compiler(f"lib{preset}.so"), _library_of_compiler("libstdc++.so")]
    return {
        "LD_LIBRARY_PATH": str(build_folder(preset) / "lib"),
        "LD_PRELOAD": ":".join(runtime),
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(ROOT / "tools" / "sanitizer"),
    }


def take_findings(log: Path) -> list[str]:
    """What sanitizers wrote since this was asked last, one text for each process."""
    files = sorted(log.parent.glob(f"{log.name}.*"))
    texts = [file.read_text(errors="backslashreplace") for file in files]
    for file in files:
        file.unlink()
    return texts


def _library_of_compiler(name: str) -> str:
    """The path of a library that comes with the compiler."""
    command = ["g++", f"-print-file-name={name}"]
    return str(Path(subprocess.check_output(command, text=True).strip()).resolve())


def _run(preset: str) -> TestRun:
    python_tests: tuple[str, ...] = (THREADS, *RANDOM_PROGRAMS)
    conformance: tuple[str, ...] = ()
    if preset == "asan":
        python_tests += BOTH_MEMORIES
        conformance = (CONFORMANCE,)
    names = ", ".join(path.removeprefix("tests/") for path in (*python_tests, *conformance))
    say(f"{preset} looks for {FINDS[preset]}: builds build/{preset}, runs the C++ tests, {names}")
    build(preset)
    run = TestRun(preset, peers=False)
    log = run.reports / LOG_NAME
    take_findings(log)
    run.env |= options(preset, log)
    run.cpp()
    run.env |= python_environment(preset)
    # Else what a sanitizer says on standard error goes with the process that it ends.
    shown = "--capture=sys"
    run.python(python_tests, [shown, *(f"--deselect={test}" for test in LEFT_OUT)])
    if conformance:
        run.conformance([*conformance, shown])
    for text in take_findings(log):
        print(text, flush=True)
        run.counts += Counts(failed=1)
    return run
