"""Running other programs: what they print goes to standard error, unless it is the result."""

import shlex
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class DevError(Exception):
    """Something that ./dev needs failed; the message is all that the user needs to see."""


def say(message: str) -> None:
    """Tells what happens now. Standard output belongs to the programs that the user asked for."""
    print(f"[dev] {message}", file=sys.stderr, flush=True)


def say_words(message: str, words: Sequence[str]) -> None:
    """Tells what happens now with a list of words, in lines that fit a terminal."""
    text = f"{message} {' '.join(words)}"
    say(textwrap.fill(text, 94, subsequent_indent=" " * 6, break_on_hyphens=False))


def run(
    command: Sequence[str | Path], *, env: Mapping[str, str] | None = None, quiet: bool = False
) -> None:
    """Runs a preparatory command in the repository; raises DevError if it fails.

    Its output goes to standard error as it comes; with quiet only if it fails. It reads nothing:
    standard input is for what the user runs.
    """
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if quiet else sys.stderr,
        stderr=subprocess.STDOUT if quiet else None,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        if quiet:
            sys.stderr.write(done.stdout)
        raise DevError(f"failed with status {done.returncode}: {shlex.join(words)}")


def show(command: Sequence[str | Path], *, env: Mapping[str, str] | None = None) -> int:
    """Runs a command whose output the user asked for, in the repository; returns its status."""
    sys.stdout.flush()
    return subprocess.run(
        [str(word) for word in command], cwd=ROOT, env=env, check=False
    ).returncode
