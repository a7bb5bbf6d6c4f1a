"""Copies of the examples whose one import line names the module under test.

The environment variable CONFORMANCE_MODULE names that module, as for the conformance tests.
"""

import os
import shutil
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
IMPORT = "import {} as tf\n"


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the copies."""
    module = os.environ.get("CONFORMANCE_MODULE", "graven")
    folder = tmp_path_factory.mktemp("examples") / "examples"
    shutil.copytree(EXAMPLES, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for program in folder.glob("*.py"):
        source = program.read_text()
        assert source.count(IMPORT.format("graven")) == 1
        program.write_text(source.replace(IMPORT.format("graven"), IMPORT.format(module)))
    return folder
