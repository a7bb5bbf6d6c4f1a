"""Runs examples of control flow on Graven and, with one import line changed, on TensorFlow."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
IMPORT = "import {} as tf\n"
MODULES = ("graven", "tensorflow")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """For each module, a copy of the examples that imports it."""
    copies = {}
    for module in MODULES:
        folder = copies[module] = tmp_path_factory.mktemp("examples") / module
        shutil.copytree(EXAMPLES, folder, ignore=shutil.ignore_patterns("__pycache__"))
        for program in folder.glob("*.py"):
            source = program.read_text()
            assert source.count(IMPORT.format("graven")) == 1
            program.write_text(source.replace(IMPORT.format("graven"), IMPORT.format(module)))
    return copies


def run(program: Path, *arguments: str) -> str:
    command = [sys.executable, str(program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("begin", ["wo", "", "dow"])
def test_both_find_the_same_words(folders: dict[str, Path], begin: str) -> None:
    ours, theirs = (run(folders[m] / "beam_search.py", "--begin", begin) for m in MODULES)
    assert ours == theirs and len(ours.splitlines()) == 8


def test_both_train_a_model_of_letters_alike(folders: dict[str, Path]) -> None:
    results: dict[str, dict[str, Any]] = {}
    for module, folder in folders.items():
        path = folder / "result.json"
        run(folder / "dynamic_rnn.py", "--steps", "60", "--json", str(path))
        results[module] = json.loads(path.read_text())
    ours, theirs = (np.array(results[m]["losses"]) for m in MODULES)
    # The last bits differ, and training makes more of that from step to step.
    np.testing.assert_allclose(ours[:20], theirs[:20], rtol=1e-4)
    np.testing.assert_allclose(ours, theirs, rtol=1e-2)
    assert [results[m]["traces"] for m in MODULES] == [1, 1]
