"""./dev mutate: the copy that faults are put into, and how tests notice them there."""

import json
import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from devtool import testing
from devtool.commands import ROOT, DevError
from devtool.mutation import objects, parts, scratch, trial, verb
from devtool.mutation.asking import first_to_notice
from devtool.mutation.faults import Fault
from devtool.mutation.parts import Program
from devtool.mutation.processes import run_within
from devtool.mutation.trial import Outcome, Result, Trials

PROGRAMS = [
    Program("graven_base_test", "graven/base"),
    Program("graven_kernels_test", "graven/kernels"),
    Program("graven_optimize_test", "graven/optimize"),
    Program("graven_function_test", "graven/function"),
    Program("graven_cpp_test", "tests/cpp"),
]
FAULT = Fault("python/graven/_a.py", 4, 5, "-", "sign", "+ to -")


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def test_a_copy_follows_the_working_tree_and_touches_only_what_changed(tmp_path: Path) -> None:
    checkout, copy = tmp_path / "checkout", tmp_path / "copy"
    (checkout / "a").mkdir(parents=True)
    copy.mkdir()
    git(checkout, "init")
    for name in ("a/kept.cc", "a/gone.cc", "a/ignored.o", "dev"):
        (checkout / name).write_text(name)
    (checkout / "dev").chmod(0o755)
    (checkout / ".gitignore").write_text("*.o\n")
    git(checkout, "add", "a/kept.cc")
    assert scratch.copy_files(checkout, copy) == 4
    assert not (copy / "a/ignored.o").exists() and os.access(copy / "dev", os.X_OK)

    before = (copy / "a/kept.cc").stat().st_mtime_ns
    (copy / "dev").write_text("left faulty")
    (checkout / "a/gone.cc").unlink()
    (checkout / "a/new.cc").write_text("new")
    (copy / "build").mkdir()
    assert scratch.copy_files(checkout, copy) == 2
    assert (copy / "a/kept.cc").stat().st_mtime_ns == before
    assert (copy / "dev").read_text() == "dev"
    assert not (copy / "a/gone.cc").exists() and (copy / "build").is_dir()


def test_green_tests_are_remembered_until_what_they_test_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "ROOT", tmp_path)
    names = ["graven/base/a.cc", "tests/tools/test_a.py"]
    (tmp_path / scratch.MARK).write_text(json.dumps(names))
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("1")
    before = scratch.hash_of_copy()
    (tmp_path / "tests/tools/test_a.py").write_text("2")
    assert scratch.hash_of_copy() == before
    (tmp_path / "graven/base/a.cc").write_text("2")
    assert scratch.hash_of_copy() != before


def test_a_program_that_ends_gives_its_status_and_its_output(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-c", "print(input.__name__); raise SystemExit(3)"]
    assert run_within(60, command, log) == 3
    assert log.read_text() == "input\n"


def test_of_a_program_that_hangs_nothing_is_left(tmp_path: Path) -> None:
    # The group of the second process is not that of the first.
    program = (
        "import os, time; child = os.fork();"
        "child or os.setsid(); print(os.getpid(), flush=True); time.sleep(100)"
    )
    # This process must not become a parent of orphans, which pytest does not wait for.
    runner = (
        "import sys; sys.path.insert(0, 'tools');"
        "from pathlib import Path;"
        "from devtool.mutation.processes import adopt_orphans, run_within;"
        "adopt_orphans();"
        f"print(run_within(2, [sys.executable, '-c', {program!r}], Path(sys.argv[1])))"
    )
    log = tmp_path / "log"
    command = [sys.executable, "-c", runner, str(log)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout == "None\n", done.stderr
    numbers = log.read_text().split()
    assert len(numbers) == 2 and not any(Path("/proc", number).exists() for number in numbers)


def test_the_programs_come_from_ctest() -> None:
    labels = {"name": "LABELS", "value": ["graven/base"]}
    command = {"name": "WORKING_DIRECTORY", "value": "/"}
    test = {"name": "graven_base_test", "properties": [labels, command]}
    assert parts.programs(json.dumps({"tests": [test]})) == PROGRAMS[:1]


def names(programs: list[Program]) -> list[str]:
    return [program.name.removeprefix("graven_").removesuffix("_test") for program in programs]


def test_a_room_is_asked_first_then_those_above_it_the_quick_ones_first() -> None:
    seconds = {"graven_cpp_test": 1.0, "graven_function_test": 2.0, "graven_kernels_test": 9.0}
    own, beside = parts.programs_that_could_notice("kernels", PROGRAMS, seconds)
    assert (names(own), names(beside)) == (["kernels"], ["cpp", "function"])
    own, beside = parts.programs_that_could_notice("base", PROGRAMS, seconds)
    assert (names(own), names(beside)) == (["base"], ["optimize", "cpp", "function", "kernels"])
    own, beside = parts.programs_that_could_notice("python", PROGRAMS, seconds)
    assert (names(own), names(beside)) == ([], ["cpp"])


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("tests/ops", ["-m", "pytest", "tests/ops"]),
        ("tests/conformance", ["tools/run_conformance.py"]),
        ("graven_base_test", ["--tests-regex", "^graven_base_test$"]),
    ],
)
def test_a_part_runs_to_its_first_failure_and_is_named_if_no_test_is(
    part: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []
    statuses: list[int | None] = [0, 139, None]

    def run(limit_s: float, command: list[str | Path], log: Path, **_: object) -> int | None:
        commands.append([str(word) for word in command])
        log.write_text("")
        return statuses[len(commands) - 1]

    monkeypatch.setattr(parts, "run_within", run)
    monkeypatch.setattr(testing, "build_folder", lambda preset: tmp_path)
    limited = parts.LimitedRun(tmp_path, peers=False)
    assert limited.first_failure(part, 9) is None
    assert limited.first_failure(part, 9) == part
    assert limited.first_failure(part, 9) == f"{part} (not done after 9 s)"
    assert set(words) <= set(commands[0])
    if part.startswith("tests/"):
        # The runner of the conformance suite takes a word without a dash for a test.
        first_option = commands[0].index(words[-1]) + 1
        assert "-x" in commands[0]
        assert all(word.startswith("-") for word in commands[0][first_option:])


DOCTEST = """
===============================================================================
a_test.cc:7:
TEST CASE:  a message is no error

a_test.cc:9: MESSAGE: hello
===============================================================================
a_test.cc:27:
TEST CASE:  sums are right

a_test.cc:30: ERROR: CHECK( f(1) == 2 ) is NOT correct!
===============================================================================
TEST CASE:  products are right
a_test.cc:40: FATAL ERROR: test case CRASHED: SIGSEGV - Segmentation violation signal
"""


def test_the_first_test_case_that_failed_is_named(tmp_path: Path) -> None:
    assert parts.first_of_doctest(DOCTEST) == "sums are right"
    assert parts.first_of_doctest("Segmentation fault") is None
    report = tmp_path / "cpp.xml"
    report.write_text(
        '<testsuite><testcase name="a" status="run"/><testcase name="b" status="fail">'
        f"<system-out>{DOCTEST}</system-out></testcase></testsuite>"
    )
    assert parts.first_of_ctest(report) == "sums are right"


PYTEST = """
import os
def test_passes(): pass
def test_fails(): {action}
def test_after(): assert False
"""


def run_pytest(folder: Path, action: str) -> tuple[Path, str]:
    """A report, if there is one, and the output of a run up to the first failure."""
    (folder / "tests").mkdir()
    (folder / "tests" / "test_a.py").write_text(PYTEST.format(action=action))
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "tests", "-q", f"--junitxml={report}"]
    done = subprocess.run([*command, *parts.ONE_BY_ONE], cwd=folder, capture_output=True, text=True)
    assert done.returncode != 0
    return report, done.stdout + done.stderr


def test_the_first_python_test_that_failed_is_named(tmp_path: Path) -> None:
    report, _ = run_pytest(tmp_path, "assert False")
    assert parts.first_of_pytest(report) == "tests/test_a.py::test_fails"


def test_a_python_test_that_crashed_is_named(tmp_path: Path) -> None:
    report, output = run_pytest(tmp_path, "os.abort()")
    assert not report.exists()
    assert parts.last_started(output) == "tests/test_a.py::test_fails"


def test_a_test_that_passed_is_not_the_one_that_crashed() -> None:
    output = "tests/a/test_a.py::test_x[a b] PASSED  [ 1%]\ntests/a/test_a.py::test_y[c d] \n"
    assert parts.last_started(output) == "tests/a/test_a.py::test_y[c d]"
    assert parts.last_started("Killed\n") is None


def compiled(folder: Path, name: str, text: str) -> str:
    source = folder / f"{name}.cc"
    source.write_text(text)
    command = ["g++", "-O2", "-g1", "-c", source.name, "-o", f"{name}.o"]
    subprocess.run(command, cwd=folder, check=True)
    return objects.digest_of_object(folder / f"{name}.o")


def test_code_is_the_same_whatever_stands_around_it(tmp_path: Path) -> None:
    first = compiled(tmp_path, "a", "int f(int n) { return n / 4 + 0 * n; }")
    assert compiled(tmp_path, "a", "int f(int n) {\n  return n / 4 - 0 * n;\n}") == first
    assert compiled(tmp_path, "a", "int f(int n) { return n / 2; }") != first


def test_only_objects_of_the_engine_that_were_made_since_are_looked_at(tmp_path: Path) -> None:
    folder = tmp_path / "graven" / "base"
    for target in ("graven_base.dir", "graven_base_test.dir"):
        (folder / target).mkdir(parents=True)
        compiled(folder / target, "a", "int f() { return 1; }")
    before = objects.digests(tmp_path)
    assert list(before) == [folder / "graven_base.dir" / "a.o"]
    compiled(folder / "graven_base_test.dir", "a", "int f() { return 2; }")
    assert not objects.has_changed(tmp_path, 0, before)
    compiled(folder / "graven_base.dir", "a", "int f() { return 2; }")
    assert objects.has_changed(tmp_path, 0, before)
    assert not objects.has_changed(tmp_path, time.time_ns() + 10**9, before)


@pytest.mark.parametrize(
    ("text", "other", "same"),
    [
        ("x = 1\n", "x = (  1)\n", True),
        ("x = 1\n", "x = 2\n", False),
        ("x = 1\n", "x = True\n", False),
        ("def f(a, b): return a < b\n", "def f(a, b): return a <= b\n", False),
        ("if x is None:\n  pass\n", "if not (x is None):\n  pass\n", False),
        ("x: int = y(1)\n", "x: int = y(1)  # z\n", True),
    ],
)
def test_bytecode_is_compared_without_its_lines(text: str, other: str, same: bool) -> None:
    assert objects.same_bytecode(text, other) == same


def test_a_failed_build_tells_what_does_not_compile_from_a_program_that_fails() -> None:
    compiles_not = "FAILED: graven/a/CMakeFiles/graven_a.dir/a.cc.o \na.cc:1: error: x\n"
    links_not = "FAILED: lib/libgraven.so.0.1.0 \nundefined reference\n"
    prints_not = "FAILED: printed/graven/api/op_functions.h printed/graven/api/op_functions.cc \n"
    does_not_build = Result(Outcome.DOES_NOT_BUILD)
    assert trial.result_of_failed_build(compiles_not) == does_not_build
    assert trial.result_of_failed_build(links_not + prints_not) == does_not_build
    noticed = trial.result_of_failed_build(prints_not)
    assert str(noticed) == "noticed by the build, which makes printed/graven/api/op_functions.h"


@pytest.fixture
def trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trials:
    """Trials in a tree of one file, whose parts are the Python ones."""
    monkeypatch.setattr(trial, "ROOT", tmp_path)
    file = tmp_path / FAULT.file
    file.parent.mkdir(parents=True)
    file.write_text("a = +b\n")
    return Trials(tmp_path, peers=False)


def test_a_fault_is_in_while_the_tests_run_and_out_again_when_they_are_interrupted(
    trials: Trials, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / FAULT.file
    text, seen = file.read_text(), []

    def interrupt(_parts: list[str]) -> None:
        seen.append(file.read_text())
        raise KeyboardInterrupt

    monkeypatch.setattr(trials, "_build_targets", lambda _programs: None)
    monkeypatch.setattr(trials, "_ask", interrupt)
    with pytest.raises(KeyboardInterrupt):
        trials.try_fault(FAULT)
    assert seen == [FAULT.applied(text)] and file.read_text() == text


def test_a_fault_of_python_is_tried_without_what_was_built_for_another(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    monkeypatch.setattr(trials, "_build_targets", lambda _programs: done.append("build"))
    monkeypatch.setattr(trials, "_ask", lambda _parts: done.append("ask"))
    assert trials.try_fault(FAULT) == Result(Outcome.MISSED)
    assert done == ["build", "ask"]


def test_the_quick_parts_are_asked_first_and_none_after_one_that_notices(
    trials: Trials, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked"

    def first_failure(part: str, limit_s: float) -> str | None:
        with asked.open("a") as file:
            file.write(f"{part} {limit_s:.0f}\n")
        return "tests/b.py::test_b" if part == "b" else None

    monkeypatch.setattr(trials._run, "first_failure", first_failure)
    trials._seconds.update({"a": 300.0, "b": 20.0, "c": 3.0})
    noticed = trials._ask(["a", "b", "c"])
    assert noticed == Result(Outcome.NOTICED, "tests/b.py::test_b")
    assert asked.read_text().splitlines() == ["c 72", "b 140"]


def test_the_other_processors_take_the_parts_that_last_longest(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    is_long_begun = multiprocessing.get_context("fork").Event()

    def run(part: str) -> str | None:
        if part == "long":
            is_long_begun.set()
            time.sleep(100)  # and is ended before
        assert is_long_begun.wait(60)
        with asked.open("a") as file:
            file.write(f"{part}\n")
        return "tests/c.py::test_c" if part == "c" else None

    started = time.monotonic()
    assert first_to_notice(["a", "b", "c", "d", "long"], run, 2) == "tests/c.py::test_c"
    assert time.monotonic() - started < 90
    assert asked.read_text().splitlines() == ["a", "b", "c"]


def test_all_parts_are_asked_when_none_notices(tmp_path: Path) -> None:
    parts = list("abcdefg")
    assert first_to_notice(parts, lambda part: (tmp_path / part).touch(), 3) is None
    assert sorted(file.name for file in tmp_path.iterdir()) == parts


def test_a_part_that_cannot_be_run_is_no_part_that_passed() -> None:
    with pytest.raises(RuntimeError, match="the process that ran a broke off"):
        first_to_notice(["a"], lambda _part: os._exit(3), 2)


def test_a_fault_of_python_that_is_none_asks_no_test(trials: Trials) -> None:
    same = Fault(FAULT.file, 7, 7, "", "sign", "none")
    assert trials.try_fault(same) == Result(Outcome.CHANGES_NOTHING)
    broken = Fault(FAULT.file, 4, 5, "*/", "sign", "broken")
    assert trials.try_fault(broken) == Result(Outcome.DOES_NOT_BUILD)


def test_the_report_counts_what_could_be_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = verb.Report(verb.read_arguments(["1", "2"]))
    text = "a = +b\n"
    for result in (
        Result(Outcome.NOTICED, "graven_base_test: sums are right"),
        Result(Outcome.DOES_NOT_BUILD),
        Result(Outcome.MISSED),
    ):
        report.add(FAULT, text, result, 2.0)
    report.write(tmp_path / "summary.json")
    report.close()
    described = "python/graven/_a.py:1  sign (+ to -)\n  - a = +b\n  + a = -b\n"
    assert capsys.readouterr().out == (
        f"{described}  noticed by graven_base_test: sums are right, in 2 s\n\n"
        f"{described}  does not build, in 2 s\n\n"
        f"{described}  not noticed, in 2 s\n\n"
        f"Not noticed:\n{described}\n"
        "1 more did not build or changed nothing, and others were drawn instead\n"
        "noticed 1 of 2\n"
    )
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert (summary["noticed"], summary["counted"], len(summary["faults"])) == (1, 2, 3)
    assert summary["faults"][0]["by"] == "graven_base_test: sums are right"


def test_a_list_is_the_same_for_the_same_seed(capsys: pytest.CaptureFixture[str]) -> None:
    def listed(seed: str) -> str:
        only = str(ROOT / "graven" / "base")
        assert verb.mutate([seed, "4", "--list", "--only", only]) == 0
        return capsys.readouterr().out

    assert listed("1") == listed("1") != listed("2")
    assert listed("1").count("graven/base/") == 4


@pytest.mark.parametrize("words", [["1"], ["x", "1"], ["1", "1", "--fast"], ["1", "1", "2"]])
def test_arguments_that_are_not_known_are_refused(words: list[str]) -> None:
    with pytest.raises(DevError, match="mutate takes SEED N"):
        verb.mutate(words)


def test_only_sources_of_the_engine_and_the_front_end_can_be_named() -> None:
    for name in ("docs", "graven/base/base_test.cc", "tests"):
        with pytest.raises(DevError, match="holds no file that faults are drawn from"):
            verb.mutate(["1", "1", "--list", "--only", str(ROOT / name)])
