"""Runs examples/beam_search.py as its users do, and checks it against a search of all words."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

# Scores each word of up to three letters, and prints the eight best.
ALL_WORDS = """
import itertools, sys
import beam_search

chances = beam_search.load_chances(beam_search.DATA)
begin = [beam_search.LETTERS.index(letter) for letter in ("  " + sys.argv[1])[-2:]]
found = []
for length in range(4):
    for letters in itertools.product(range(1, 27), repeat=length):
        path = [*begin, *letters, 0]
        score = sum(float(chances[tuple(path[i : i + 3])]) for i in range(length + 1))
        found.append((score, sys.argv[1] + "".join(beam_search.LETTERS[i] for i in letters)))
for score, word in sorted(found, reverse=True)[:8]:
    print(f"{score:8.3f}  {word}")
"""


def run(program: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def words(output: str) -> dict[str, float]:
    pairs = (line.split() for line in output.splitlines())
    return {word: float(score) for score, word in pairs}


@pytest.mark.parametrize("begin", ["th", "do"])
def test_a_wide_search_finds_the_likeliest_of_all_short_words(examples: Path, begin: str) -> None:
    found = run(examples / "beam_search.py", "--begin", begin, "--width", "27")
    assert found.returncode == 0, found.stderr
    slow = examples / "all_words.py"
    slow.write_text(ALL_WORDS)
    expected = run(slow, begin)
    assert expected.returncode == 0, expected.stderr
    short = {w: s for w, s in words(found.stdout).items() if len(w) <= len(begin) + 3}
    best = words(expected.stdout)
    assert len(best) == 8
    # The search keeps 27 beams: the first few of these are among them.
    for word, score in itertools.islice(best.items(), 4):
        assert short[word] == pytest.approx(score, abs=2e-3)


def test_the_likeliest_word_stands_first(examples: Path) -> None:
    done = run(examples / "beam_search.py", "--begin", "al", "--width", "5")
    assert done.returncode == 0, done.stderr
    scores = [float(line.split()[0]) for line in done.stdout.splitlines()]
    assert len(scores) == 5 and scores == sorted(scores, reverse=True)
    assert "alice" in words(done.stdout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--begin", "Wo"), "argument --begin: must be of the letters a to z, not 'Wo'"),
        (("--width", "0"), "argument --width: must be from 1 to 27, not 0"),
    ],
)
def test_bad_argument_is_refused_with_its_name(
    examples: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = run(examples / "beam_search.py", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
