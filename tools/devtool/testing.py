"""./dev test."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

from devtool.build import build, build_folder
from devtool.commands import ROOT, DevError, say, show
from devtool.counts import Counts, read_ctest, read_pytest
from devtool.environments import (
    CHECKER_PACKAGES,
    DEMO,
    PEERS,
    PROJECT,
    Environment,
    install_packages,
)

# What holds Graven against TensorFlow, both in one process.
PEERS_FOLDER = "tests/peers"
# The programs of examples/, with the libraries that they use.
EXAMPLES_FOLDER = "tests/examples"
CONFORMANCE = "tests/conformance"
PROFILES = ("tensorflow", "default")
# The tables that run in modes, which tests/conftest.py takes as --mode; the first is its default.
MODES = {
    "eager": ["tests/ops"],
    "graph": ["tests/ops"],
    "roundtrip": ["tests/ops", "tests/functions"],
    "nofusion": ["tests/ops", "tests/functions"],
    "nopasses": ["tests/ops", "tests/functions"],
    "data": ["tests/ops", "tests/functions"],
}
# Those that take longest begin first where folders run side by side.
LONG_FOLDERS = (PEERS_FOLDER, "tests/tools", "tests/python")

Job = Callable[[], None]


class TestRun:
    """Runs parts of the tests with one build, and adds up what they did."""

    def __init__(self, preset: str, peers: bool) -> None:
        self.preset = preset
        self.peers = peers
        self.env = {**os.environ, "GRAVEN_PRESET": preset, "GRAVEN_LEAK_WARNINGS": "1"}
        self.counts = Counts()
        self._lock = threading.Lock()  # for counts, environments and the terminal
        self._are_side_by_side = False
        self.reports = build_folder(preset) / "reports"
        self.reports.mkdir(parents=True, exist_ok=True)

    def say(self, message: str) -> None:
        """Tells what runs next."""
        say(message)

    def show(self, command: Sequence[str | Path]) -> int:
        """Runs tests, whose output is the user's; returns the status of their runner."""
        if not self._are_side_by_side:
            return show(command, env=self.env)
        words = [str(word) for word in command]
        done = subprocess.run(
            words, cwd=ROOT, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        with self._lock:
            sys.stdout.buffer.write(done.stdout)
            sys.stdout.flush()
        return done.returncode

    def side_by_side(self, jobs: Sequence[Job]) -> None:
        """Runs parts on all processors, and prints what each says when it has ended."""
        self._are_side_by_side = len(jobs) > 1
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for ended in [pool.submit(job) for job in jobs]:
                ended.result()
        self._are_side_by_side = False

    def _add(self, report: Path, status: int, read: Callable[[Path], Counts]) -> None:
        """Adds a report; a runner that failed without one that says so is a failure itself."""
        counts = read(report) if report.exists() else Counts()
        if status != 0 and counts.failed == 0:
            counts.failed = 1
        with self._lock:
            self.counts += counts

    def cpp(self, *filters: str) -> None:
        """Runs the C++ tests."""
        self.say("C++ tests")
        report = self.reports / "cpp.xml"
        report.unlink(missing_ok=True)
        status = self.show(
            [
                "ctest",
                *("--preset", self.preset),
                *("--parallel", str(os.cpu_count() or 1)),
                *("--output-junit", report),
                *("--test-output-size-passed", "1000000"),
                *("--test-output-truncation", "head"),
                "--no-tests=ignore",
                *filters,
            ]
        )
        self._add(report, status, read_ctest)

    def _pytest(self, name: str, environment: Environment, words: Sequence[str]) -> None:
        report = self.reports / f"{name}.xml"
        report.unlink(missing_ok=True)
        with self._lock:
            python = environment.ensure()
        command: list[str | Path] = [python, *words, "-q", f"--junitxml={report}"]
        status = self.show(command)
        self._add(report, status, read_pytest)

    def python(self, paths: Sequence[str], options: Sequence[str] = (), part: str = "") -> None:
        """Runs Python tests, those that need TensorFlow or what the demo uses where that is.

        Args:
          paths: Folders, files and tests.
          options: Words for pytest.
          part: What the report is called after, if other parts run beside these.
        """
        beside = [path for path in paths if path.startswith(PEERS_FOLDER) and self.peers]
        examples = [path for path in paths if path.startswith(EXAMPLES_FOLDER)]
        alone = [path for path in paths if path not in (*beside, *examples)]
        for name, environment, chosen in (
            ("python", PROJECT, alone),
            ("examples", DEMO, examples),
            ("peers", PEERS, beside),
        ):
            if chosen:
                self.say(f"Python tests in {environment.folder.name}: {' '.join(chosen)}")
                self._pytest(name + part, environment, ["-m", "pytest", *chosen, *options])

    def conformance(self, paths: Sequence[str] = (), profile: str = "tensorflow") -> None:
        """Runs the conformance suite, or some of its tests.

        Args:
          paths: Folders, files and tests; all without any.
          profile: "tensorflow", or "default" for Graven's own defaults.
        """
        self.say(f"conformance suite, profile {profile}")
        words = ["tools/run_conformance.py", f"--profile={profile}", *paths]
        report = "conformance" if profile == PROFILES[0] else f"conformance-{profile}"
        self._pytest(report, PROJECT, words)

    def close(self) -> int:
        """Prints what all runs did; returns the status of the process."""
        status = 1 if self.counts.failed or not self.counts.passed else 0
        if self.counts.skipped and os.environ.get("CI"):
            say("in CI a skipped test is a failure:")
            print("\n".join(self.counts.names_of_skipped))
            status = 1
        if self.counts.not_yet:
            print(f"{self.counts.not_yet} tests that the lists of {CONFORMANCE} name do not pass")
        print(self.counts, flush=True)
        return status


def python_folders(peers: bool) -> list[str]:
    """The folders of tests/ with Python tests, the conformance suite left out."""
    folders = sorted({f"tests/{file.relative_to(ROOT / 'tests').parts[0]}" for file in _tests()})
    return [folder for folder in folders if peers or folder != PEERS_FOLDER]


def _tests() -> list[Path]:
    files = (ROOT / "tests").rglob("test_*.py")
    return [file for file in files if ROOT / CONFORMANCE not in file.parents]


def python_jobs(run: TestRun, peers: bool) -> list[Job]:
    """All Python tests but the conformance suite, and the tables in their other modes."""
    if os.environ.get("CI"):  # where a test that is skipped for want of it is a failure
        install_packages(CHECKER_PACKAGES)
    folders = python_folders(peers)
    folders.sort(key=lambda folder: folder not in LONG_FOLDERS)
    jobs = [partial(run.python, [folder], part=f"-{Path(folder).name}") for folder in folders]
    return jobs + [mode_job(run, mode) for mode in list(MODES)[1:]]


def mode_job(run: TestRun, mode: str) -> Job:
    """The tables that run in a mode, in it."""
    return partial(run.python, MODES[mode], ["--mode", mode], f"-{mode}")


def file_of(path: str) -> Path:
    """The file or folder of the repository that a word of the command line names."""
    file = (Path.cwd() / path.partition("::")[0]).resolve()
    if not file.exists() or ROOT not in file.parents or not (cpp_folder(file) or has_python(file)):
        raise DevError(
            f"{path} is no part of the tests: there are {', '.join(PARTS)}; the modes, "
            f"{', '.join(MODES)}; folders that hold tests, test_*.py, *_test.cc"
        )
    return file


def cpp_folder(file: Path) -> Path | None:
    """The folder whose C++ tests a path stands for, if it stands for any."""
    folder = file if file.is_dir() else file.parent
    stands = file.is_dir() or file.suffix == ".cc"
    return folder if stands and any(folder.rglob("*_test.cc")) else None


def has_python(file: Path) -> bool:
    """Whether a path is or holds Python tests."""
    return fnmatch(file.name, "test_*.py") if file.is_file() else any(file.rglob("test_*.py"))


def run_path(run: TestRun, path: str) -> None:
    """Runs the tests of one file or folder, or one test of a file."""
    file = file_of(path)
    name = path.replace(path.partition("::")[0], file.relative_to(ROOT).as_posix(), 1)
    if name.startswith(CONFORMANCE):
        for profile in PROFILES:
            run.conformance([name] if name != CONFORMANCE else [], profile)
        return
    if folder := cpp_folder(file):
        # The label of a C++ test is its folder.
        run.cpp("-L", f"^{folder.relative_to(ROOT).as_posix()}")
    if has_python(file):
        run.python([name])


PARTS = ("cpp", "python", "conformance")


def jobs_of(run: TestRun, part: str) -> list[Job]:
    """What may run side by side of a part or a mode."""
    match part:
        case "cpp":
            return [run.cpp]
        case "python":
            return python_jobs(run, run.peers)
        case "conformance":
            return [partial(run.conformance, profile=profile) for profile in PROFILES]
        case mode:
            return [mode_job(run, mode)]


def test(arguments: Sequence[str]) -> int:
    """Runs everything, or what is named: a part, a mode of the ops, files, single tests."""
    peers = "--no-peers" not in arguments
    chosen = [word for word in arguments if word != "--no-peers"]
    unknown = [word for word in chosen if word.startswith("-")]
    if unknown:
        raise DevError(f"test takes parts, modes, paths and --no-peers; not {' '.join(unknown)}")
    for word in set(chosen) - {*PARTS, *MODES}:
        file_of(word)  # Before a build, which takes minutes.
    build()
    run = TestRun("release", peers)
    jobs: list[Job] = []
    for word in chosen or PARTS:
        if word in PARTS or word in MODES:
            jobs += jobs_of(run, word)
        else:
            run_path(run, word)
    run.side_by_side(jobs)
    return run.close()
