"""Graven runs in the main interpreter, and says so in any other."""

import subprocess
import sys

import pytest

IMPORT_IN_ANOTHER = """
import _xxsubinterpreters
_xxsubinterpreters.run_string(_xxsubinterpreters.create(), '''
try:
    import graven
    print("imported")
except ImportError as error:
    print("refused:", error)
''')
"""
IMPORT = "import graven as tf\n"
USE = "import graven as tf\nprint(float(tf.function(lambda x: x + 1.0)(tf.constant(2.0))))\n"


@pytest.mark.parametrize("first", ["", IMPORT], ids=["before the main one", "after the main one"])
def test_an_import_in_a_sub_interpreter_is_refused(first: str) -> None:
    program = first + IMPORT_IN_ANOTHER + USE + IMPORT_IN_ANOTHER + USE
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    refused, used, *again = ended.stdout.splitlines()
    assert refused.startswith("refused: ") and "sub-interpreter" in refused
    assert used == "3.0"
    assert again == [refused, used]
