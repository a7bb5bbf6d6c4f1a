"""./dev mutate."""

import argparse
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import NoReturn

from devtool.commands import ROOT, DevError, say
from devtool.environments import PEERS, PROJECT
from devtool.mutation.faults import Draw, Fault, faults_of, faulty_files
from devtool.mutation.processes import adopt_orphans
from devtool.mutation.scratch import is_copy, make_copy
from devtool.mutation.trial import Outcome, Result, Trials

FOLDER = ROOT / "build" / "mutate"


@dataclass(frozen=True)
class Wish:
    """What the user asks for."""

    seed: int
    count: int
    only_list: bool
    only: list[str]
    peers: bool


class Parser(argparse.ArgumentParser):
    """Refuses arguments as the other verbs do."""

    def error(self, message: str) -> NoReturn:
        """Raises what ./dev prints."""
        raise DevError(f"mutate takes SEED N [--list] [--only PATH] [--no-peers]: {message}")


def read_arguments(arguments: Sequence[str]) -> Wish:
    """The command line of the verb."""
    parser = Parser(add_help=False)
    parser.add_argument("seed", type=int, metavar="SEED")
    parser.add_argument("count", type=int, metavar="N")
    parser.add_argument("--list", action="store_true", dest="only_list")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--no-peers", action="store_false", dest="peers")
    return Wish(**vars(parser.parse_args(arguments)))


def mutate(arguments: Sequence[str]) -> int:
    """Lists faults, or tries them in a copy of the working tree."""
    wish = read_arguments(arguments)
    texts = {file: (ROOT / file).read_text() for file in faulty_files(wish.only)}
    draw = Draw(
        (fault for file, text in texts.items() for fault in faults_of(file, text)), wish.seed
    )
    if wish.only_list:
        for fault, _ in zip(draw, range(wish.count), strict=False):
            print(describe(fault, texts[fault.file]))
        return 0
    if not is_copy():
        go_on_in_copy(wish)
    return try_faults(wish, draw, texts)


def go_on_in_copy(wish: Wish) -> NoReturn:
    """Makes the copy and becomes its own ./dev mutate."""
    copy = make_copy([PROJECT, PEERS] if wish.peers else [PROJECT], FOLDER)
    only = [(Path.cwd() / path).resolve().relative_to(ROOT).as_posix() for path in wish.only]
    words = [str(wish.seed), str(wish.count), *(f"--only={path}" for path in only)]
    words += [] if wish.peers else ["--no-peers"]
    os.chdir(copy)
    os.execv(sys.executable, [sys.executable, "-IB", str(copy / "tools"), "mutate", *words])


def describe(fault: Fault, text: str) -> str:
    """Where a fault is and what it does."""
    before, after = fault.before_and_after(text)
    shown = [f"  - {line}" for line in before.split("\n")]
    shown += [f"  + {line}".rstrip() for line in after.split("\n")]
    return "\n".join([f"{fault.file}:{fault.line(text)}  {fault.mutator} ({fault.kind})", *shown])


@dataclass
class Report:
    """What came of the faults so far, for people and as JSON."""

    wish: Wish
    faults: list[dict[str, object]] = field(default_factory=list)
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)

    def add(self, fault: Fault, text: str, result: Result, seconds: float) -> None:
        """Prints and keeps what came of a fault."""
        described = describe(fault, text)
        print(f"{described}\n  {result}, in {seconds:.0f} s\n", flush=True)
        self.outcomes[result.outcome] += 1
        if result.outcome is Outcome.MISSED:
            self.missed.append(described)
        before, after = fault.before_and_after(text)
        self.faults.append(
            {
                "file": fault.file,
                "line": fault.line(text),
                "mutator": fault.mutator,
                "kind": fault.kind,
                "before": before,
                "after": after,
                "outcome": result.outcome.value,
                "by": result.by,
                "seconds": round(seconds, 1),
            }
        )

    @property
    def noticed(self) -> int:
        """How many faults a test noticed."""
        return self.outcomes[Outcome.NOTICED]

    @property
    def counted(self) -> int:
        """How many faults there were that could be noticed."""
        return self.noticed + self.outcomes[Outcome.MISSED]

    def write(self, file: Path) -> None:
        """Writes it as JSON."""
        summary = {
            "seed": self.wish.seed,
            "wanted": self.wish.count,
            "only": self.wish.only,
            "noticed": self.noticed,
            "counted": self.counted,
            "faults": self.faults,
        }
        file.write_text(json.dumps(summary, indent=1) + "\n")

    def close(self) -> None:
        """Prints the result of all faults."""
        if self.missed:
            print("Not noticed:\n" + "\n".join(self.missed) + "\n")
        left_out = self.outcomes.total() - self.counted
        if left_out:
            print(
                f"{left_out} more did not build or changed nothing, and others were drawn instead"
            )
        print(f"noticed {self.noticed} of {self.counted}", flush=True)


def try_faults(wish: Wish, draw: Draw, texts: dict[str, str]) -> int:
    """Tries faults in the copy, whose tools these are; prints what came of each."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    adopt_orphans()
    folder = ROOT.parent
    trials = Trials(folder, wish.peers)
    trials.prepare()
    report = Report(wish)
    try:
        while report.counted < wish.count:
            fault = next(draw, None)
            if fault is None:
                say("there are no more places where a fault can be put")
                break
            text = texts[fault.file]
            where = f"{fault.file}:{fault.line(text)}, {fault.mutator} ({fault.kind})"
            say(f"fault {report.counted + 1} of {wish.count}: {where}")
            started = time.monotonic()
            result = trials.try_fault(fault)
            report.add(fault, text, result, time.monotonic() - started)
            report.write(folder / "summary.json")
    finally:
        report.close()
    say(f"all of it is in {folder / 'summary.json'}")
    return 0
