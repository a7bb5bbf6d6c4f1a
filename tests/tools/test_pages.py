"""docs: the programs of its pages print what stands below them, and messages name pages that exist.

Programs of docs/errors are run by test_error_pages.py, those of docs/traps.md beside TensorFlow by
tests/peers/test_traps_page.py.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from message_sources import sources

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [page for page in sorted(DOCS.glob("*.md")) if page.name != "traps.md"]
PROGRAM = re.compile(r"```python\n((?:(?!```).)*)```\n\n((?: {4}[^\n]*\n)+)", re.DOTALL)
BLOCK = re.compile(r"```python\n((?:(?!```).)*)```\n", re.DOTALL)
# Those of extension-modules.md need an extension module, with which test_install.py runs them.
SILENT = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in PAGES
    if page.stem != "extension-modules"
    for number, block in enumerate(BLOCK.findall(page.read_text()))
    if block not in [program for program, _ in PROGRAM.findall(page.read_text())]
]
PROGRAMS = [
    pytest.param(*found, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, found in enumerate(PROGRAM.findall(page.read_text()))
]


def words(output: str) -> list[str]:
    """The words of an output: each run takes another time, and memory differs a little."""
    timed = re.sub(r"[\d.]+ (ms|KiB|s)\b", r"N \1", output)
    return re.sub(r"\b\d+\.\d\d(?= +N KiB)", "N", timed).split()  # a column of milliseconds


def test_the_pages_for_users_of_functions_have_programs() -> None:
    found = [str(param.id).rpartition("-")[0] for param in PROGRAMS]
    assert {"cache", "captures", "control-flow", "explain", "sizes"} <= set(found)
    assert found.count("explain") == 4


@pytest.mark.parametrize(("program", "output"), PROGRAMS)
def test_a_program_prints_what_stands_below_it(program: str, output: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "program.py"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stderr == ""
    assert words(done.stdout.replace(f"{tmp_path}/", "")) == words(output)


@pytest.mark.parametrize("program", SILENT)
def test_a_program_with_nothing_below_it_prints_nothing(program: str, tmp_path: Path) -> None:
    """What is shown as Python can be copied as it is: it imports what it needs."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_is_shown_as_python_is_python(page: Path) -> None:
    for block in BLOCK.findall(page.read_text()):
        ast.parse(block)
        assert "import graven as tf\n" in block


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.stem)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([\w./-]+\.md)?(#[\w-]+)?\)", page.read_text()):
        there = page.parent / target if target else page
        assert there.exists(), target
        headings = re.findall(r"^#+ (.*)$", there.read_text(), re.MULTILINE)
        anchors = {"#" + re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings}
        assert not anchor or anchor in anchors


def test_pages_that_messages_name_exist() -> None:
    named = {
        name for file in sources() for name in re.findall(r"docs/[\w/-]+\.md", file.read_text())
    }
    assert {"docs/captures.md", "docs/cache.md", "docs/explain.md"} <= named
    assert not [name for name in named if not (ROOT / name).exists()]


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "graven", *arguments], capture_output=True, text=True
    )


@pytest.mark.parametrize("name", ["docs/cache.md", "cache.md", "cache"])
def test_the_package_prints_the_page_of_a_name(name: str) -> None:
    done = run(name)
    assert done.returncode == 0 and done.stdout == (DOCS / "cache.md").read_text()


def test_the_package_prints_pages_of_errors_and_lists_all() -> None:
    assert run("docs/errors/retracing.md").stdout == (DOCS / "errors/retracing.md").read_text()
    listed = re.findall(r"^  (docs/\S+)$", run().stdout, re.MULTILINE)
    assert listed == sorted(page.relative_to(ROOT).as_posix() for page in DOCS.rglob("*.md"))


def test_a_page_that_is_not_there_is_an_error_in_words() -> None:
    done = run("docs/nothing.md")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == "There is no page docs/nothing.md; python -m graven lists them.\n"
