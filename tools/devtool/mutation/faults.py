"""Drawing faults: all places where a mutator applies, and a choice that a seed fixes."""

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from devtool.commands import ROOT, DevError
from devtool.mutation.mutators import MUTATORS
from devtool.mutation.source import Kind, Source

# Tests, what helps them, and what measures: a fault there says nothing about the tests.
HELPS_TESTS = re.compile(r"(^|_)(test|testing|benchmark)(_|\.)")


@dataclass(frozen=True, order=True)
class Fault:
    """One small fault: another text for a span of a file."""

    file: str
    start: int
    end: int
    text: str
    mutator: str
    kind: str

    def applied(self, source: str) -> str:
        """The file with the fault."""
        return source[: self.start] + self.text + source[self.end :]

    def line(self, source: str) -> int:
        """The number of the line where the fault begins to differ."""
        return self._span(source)[0] + 1

    def before_and_after(self, source: str) -> tuple[str, str]:
        """The lines that the fault changes, without and with it."""
        first, last = self._span(source)
        faulty = self.applied(source).split("\n")
        return "\n".join(source.split("\n")[first : last + 1]), "\n".join(faulty[first : last + 1])

    def _span(self, source: str) -> tuple[int, int]:
        pairs = zip(source.split("\n"), self.applied(source).split("\n"), strict=True)
        changed = [number for number, (old, new) in enumerate(pairs) if old != new]
        return changed[0], changed[-1]

    @property
    def room(self) -> str | None:
        """The room of the engine that the file belongs to; None for the Python front end."""
        parts = Path(self.file).parts
        return (parts[1] if len(parts) > 2 else "api") if parts[0] == "graven" else None


def faulty_files(only: Iterable[str] = ()) -> list[str]:
    """The files that faults are drawn from, or those of them that are or lie in what is named."""
    found = [
        file.relative_to(ROOT).as_posix()
        for folder, suffixes in (("graven", (".cc", ".h")), ("python/graven", (".py",)))
        for file in (ROOT / folder).rglob("*")
        if file.suffix in suffixes and not HELPS_TESTS.search(file.name)
    ]
    chosen: set[str] = set()
    wanted = list(only)
    for name in wanted:
        path = (Path.cwd() / name).resolve()
        inside = {file for file in found if path in ((ROOT / file), *(ROOT / file).parents)}
        if not inside:
            raise DevError(
                f"{name} holds no file that faults are drawn from: those are the sources of "
                "graven/ and python/graven/, tests left out"
            )
        chosen |= inside
    return sorted(chosen if wanted else found)


def faults_of(file: str, text: str) -> Iterator[Fault]:
    """All faults that mutators find in a file."""
    source = Source(file, text)
    for i, token in enumerate(source.tokens):
        if token.kind is Kind.TEXT:
            continue
        for name, mutator in MUTATORS.items():
            for edit in mutator(source, i):
                if source.text[edit.start : edit.end] != edit.text:
                    yield Fault(file, edit.start, edit.end, edit.text, name, edit.kind)


class Draw:
    """Draws faults without putting them back: first a mutator, then one of its kinds, then a place.

    So each mutator comes up as often as any other, however many places it has.
    """

    def __init__(self, faults: Iterable[Fault], seed: int) -> None:
        self._random = random.Random(seed)
        self._places: dict[str, dict[str, list[Fault]]] = {}
        for fault in sorted(set(faults)):
            self._places.setdefault(fault.mutator, {}).setdefault(fault.kind, []).append(fault)

    def __iter__(self) -> Iterator[Fault]:
        return self

    def __next__(self) -> Fault:
        """Another fault; there is none once all have been drawn."""
        if not self._places:
            raise StopIteration
        mutator = self._random.choice(sorted(self._places))
        kinds = self._places[mutator]
        kind = self._random.choice(sorted(kinds))
        places = kinds[kind]
        fault = places.pop(self._random.randrange(len(places)))
        if not places:
            del kinds[kind]
        if not kinds:
            del self._places[mutator]
        return fault

    def counts(self) -> dict[str, int]:
        """How many places each mutator still has."""
        return {
            mutator: sum(map(len, kinds.values()))
            for mutator, kinds in sorted(self._places.items())
        }
