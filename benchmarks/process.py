"""Processes that measure: started, asked, stopped while others are measured, ended."""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class CellError(Exception):
    """A cell has no figure; the text is what the table prints in its place."""


class Process:
    """A process that answers each line with one line of JSON.

    It is suspended whenever it has nothing to answer, so that the threads of its pools, which spin
    for a while after their work, take no time of the system that is measured next.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        environment: Mapping[str, str],
        folder: Path,
        timeout: float,
        cpus: set[int] | None = None,
    ) -> None:
        self._timeout = timeout
        self._errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115  Until end().
        self._buffer = b""

        def pin() -> None:
            if cpus is not None:
                os.sched_setaffinity(0, cpus)

        try:
            self._process = subprocess.Popen(
                [str(word) for word in command],
                env=dict(environment),
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                bufsize=0,
                start_new_session=True,
                preexec_fn=pin,
            )
        except OSError as error:
            self._errors.close()
            raise CellError(f"{type(error).__name__}: {error}") from error
        self._suspended = False

    def ask(self, request: str) -> dict[str, Any]:
        """Sends a request and gives the answer; the process is suspended before and after.

        Raises:
          CellError: It answered with an error, ended, or took too long.
        """
        self._signal(signal.SIGCONT)
        assert self._process.stdin is not None
        # A process that has ended tells how when its answer is read.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(request.encode() + b"\n")
        answer = self.read()
        self._signal(signal.SIGSTOP)
        return answer

    def read(self) -> dict[str, Any]:
        """The next answer.

        Raises:
          CellError: As `ask`.
        """
        line = self._read_line()
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise CellError(answer["error"])
        return answer

    def suspend(self) -> None:
        self._signal(signal.SIGSTOP)

    def end(self) -> None:
        """Kills what is left of the process and of what it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._errors.close()

    def _signal(self, number: signal.Signals) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, number)

    def _read_line(self) -> bytes:
        assert self._process.stdout is not None
        deadline = time.monotonic() + self._timeout
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise CellError(f"TimeoutError: no answer within {self._timeout:.0f} s")
                chunk = os.read(self._process.stdout.fileno(), 1 << 16)
                if not chunk:
                    raise CellError(self._how_it_ended())
                self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line

    def _how_it_ended(self) -> str:
        code = self._process.wait()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        self._errors.seek(0)
        said = [line.strip() for line in self._errors if line.strip()]
        return f"ended with {how}" + (f": {said[-1]}" if said else "")


def run_once(
    command: Sequence[str | Path],
    environment: Mapping[str, str],
    folder: Path,
    timeout: float,
    cpus: set[int] | None = None,
) -> dict[str, Any]:
    """The one answer of a process that needs no request.

    Raises:
      CellError: As `Process.ask`.
    """
    process = Process(command, environment, folder, timeout, cpus)
    try:
        return process.read()
    finally:
        process.end()
