"""docs/errors: pages about messages, whose programs print what the pages say."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from message_sources import sources

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "errors"
PAGES = sorted(page for page in FOLDER.glob("*.md") if page.name != "README.md")
PROGRAM = re.compile(r"```python\n(.*?)```\n\n((?: {4}[^\n]*\n|\n(?=\n* {4}))*)", re.DOTALL)
FRAMES = re.compile(r"Traceback \(most recent call last\):\n(?: +[^\n]*\n)+")
ADDRESS = re.compile(r"docs/errors/([\w-]+\.md)")
PROGRAMS = [
    pytest.param(*found.groups(), id=f"{page.stem}-{number}")
    for page in PAGES
    for number, found in enumerate(PROGRAM.finditer(page.read_text()))
]


def words(output: str) -> list[str]:
    """The words of an output: pages break lines as they like, and addresses differ by run."""
    return re.sub(r"id=\d+|0x[0-9a-f]+", "ADDRESS", output).split()


def printed_by(program: str, folder: Path) -> str:
    """What the user of a program sees, without the frames of a traceback."""
    file = folder / "program.py"
    file.write_text(program)
    done = subprocess.run(
        [sys.executable, "-u", file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return FRAMES.sub("", done.stdout.replace(f"{folder}/", ""))


@pytest.mark.parametrize(("program", "output"), PROGRAMS)
def test_a_program_prints_what_stands_below_it(program: str, output: str, tmp_path: Path) -> None:
    assert words(printed_by(program, tmp_path)) == words(output)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_first_program_of_a_page_causes_a_message_that_ends_with_its_address(
    page: Path,
) -> None:
    found = PROGRAM.search(page.read_text())
    assert found
    assert words(found[2])[-1] == f"docs/errors/{page.name}"


def traced(expression: str) -> str:
    """A program that evaluates an expression over a symbolic x."""
    return f"tf.function(lambda x: {expression}, autograph=False)(tf.constant([1]))"


@pytest.mark.parametrize(
    ("program", "page"),
    [
        ("tf.constant(1) * 0.5", "different-dtypes"),
        ("tf.constant(0.5, tf.int32)", "different-dtypes"),
        (traced("x * 0.5"), "different-dtypes"),
        (traced("x.numpy()"), "symbolic-tensor"),
        (traced("tf.Variable(1.0).numpy()"), "symbolic-tensor"),
        (traced("np.sin(x)"), "symbolic-tensor"),
        (traced("list(x)"), "symbolic-tensor"),
        (traced("float(x[0])"), "symbolic-tensor"),
        (traced("range(x[0])"), "symbolic-tensor"),
        ("x = tf.constant(1)\nwith tf.GradientTape() as t: y = tf.constant(1.0)\nt.gradient(y, x)",
         "no-gradient"),
    ],
)  # fmt: skip
def test_other_messages_of_a_page_end_with_its_address_too(
    program: str, page: str, tmp_path: Path
) -> None:
    output = printed_by(f"import numpy as np, graven as tf\n{program}\n", tmp_path)
    assert output.split()[-2:] == ["See", f"docs/errors/{page}.md"]


def test_each_message_with_an_address_has_a_page_and_each_page_a_message() -> None:
    named = {name for file in sources() for name in ADDRESS.findall(file.read_text())}
    assert named == {page.name for page in PAGES}


def test_the_list_of_pages_is_complete() -> None:
    listed = re.findall(r"\]\(([\w-]+\.md)\)", (FOLDER / "README.md").read_text())
    assert listed == [page.name for page in PAGES]
