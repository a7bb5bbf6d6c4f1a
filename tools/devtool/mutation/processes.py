"""Running programs that may crash, hang or eat memory, and leaving nothing of them behind."""

import ctypes
import os
import resource
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from devtool.commands import ROOT

PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Makes this process the parent of what its children leave behind.

    A test may start a process in a session of its own, which no signal to its group reaches.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def limit_memory(bytes_of_data: int) -> Callable[[], None]:
    """What a child does before a program that may eat memory: that program ends, and not others."""

    def limit() -> None:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        soft = bytes_of_data if hard < 0 else min(bytes_of_data, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")

    return limit


def run_within(
    limit_s: float,
    command: Sequence[str | Path],
    log: Path,
    *,
    env: Mapping[str, str] | None = None,
    before: Callable[[], None] | None = None,
) -> int | None:
    """Runs a command in the repository, its output into a log; returns its status.

    None if it still runs after the limit. Whatever it started ends with it, also when this is
    interrupted.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=before,
        )
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _end_group(process.pid)
            process.wait()
            _end_children()


def _end_group(group: int) -> None:
    """Ends the processes of a group; there may be none any more."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _children() -> list[int]:
    """The processes whose parent is this one."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # It has ended meanwhile.
            continue
        if int(fields[1]) == os.getpid():
            found.append(int(folder.name))
    return found


def _end_children() -> None:
    """Ends the orphans that this process has adopted, and those that they leave in turn."""
    while children := _children():
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(child, 0)
