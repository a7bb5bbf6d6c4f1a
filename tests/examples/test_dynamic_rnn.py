"""Runs examples/dynamic_rnn.py as its users do, and checks what it learns and prints."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

STEPS = 120


def run(program: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def trained(examples: Path) -> tuple[str, dict[str, Any]]:
    """What a short training prints, and its JSON."""
    path = examples / "result.json"
    options = ["--steps", str(STEPS), "--json", str(path)]
    done = run(examples / "dynamic_rnn.py", *options)
    assert done.returncode == 0, done.stderr
    assert "AutoGraph could not" not in done.stderr
    return done.stdout, json.loads(path.read_text())


def test_loss_begins_with_a_guess_and_falls(trained: tuple[str, dict[str, Any]]) -> None:
    losses = trained[1]["losses"]
    assert len(losses) == STEPS
    assert losses[0] == pytest.approx(math.log(37), abs=0.1)  # of 37 letters each is as likely
    assert np.mean(losses[-10:]) < 2.5


def test_one_trace_serves_pieces_of_all_lengths(trained: tuple[str, dict[str, Any]]) -> None:
    assert trained[1]["traces"] == 1


def test_the_model_continues_the_beginning_until_its_sentence_ends(
    trained: tuple[str, dict[str, Any]],
) -> None:
    output, result = trained
    text = result["text"]
    assert text in output
    assert text.startswith("alice was ") and len(text) > len("alice was ")
    assert text.endswith(".") or len(text) == len("alice was ") + 200
    assert "." not in text[len("alice was ") : -1]


def test_two_runs_give_the_same_losses_and_seeds_give_others(
    examples: Path, trained: tuple[str, dict[str, Any]]
) -> None:
    results = []
    for seed in ("1", "2"):
        path = examples / f"seed{seed}.json"
        options = ["--steps", "5", "--seed", seed, "--json", str(path)]
        done = run(examples / "dynamic_rnn.py", *options)
        assert done.returncode == 0, done.stderr
        results.append(json.loads(path.read_text())["losses"])
    assert results[0] == trained[1]["losses"][:5]
    assert results[1] != results[0]


def test_a_beginning_of_other_letters_is_refused(examples: Path) -> None:
    done = run(examples / "dynamic_rnn.py", "--begin", "№ 7")
    assert done.returncode == 2
    assert "argument --begin: must be of the letters" in done.stderr
