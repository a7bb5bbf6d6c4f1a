"""The verbs of ./dev."""

import inspect
import os
import shutil
from collections.abc import Callable, Sequence

from devtool.build import bootstrap, build, build_folder
from devtool.commands import ROOT, DevError, say, show
from devtool.coverage import coverage
from devtool.demo import demo
from devtool.environments import PROJECT
from devtool.lint import lint
from devtool.mutation.verb import mutate
from devtool.sanitizing import sanitize
from devtool.shell import start_shell
from devtool.testing import test

Verb = Callable[[Sequence[str]], int]
HELP = frozenset({"-h", "--help"})
WITH_OWN_HELP = ("bench", "python")


def no_arguments(arguments: Sequence[str]) -> None:
    """Refuses arguments that a verb does not know."""
    if arguments:
        raise DevError(f"unexpected: {' '.join(arguments)}; see ./dev help")


def help_verb(arguments: Sequence[str]) -> int:
    """this list, or what a verb does"""
    if arguments:
        for name in arguments:
            print(text_of_verb(name))
        return 0
    print("Usage: ./dev VERB\n")
    for form, verb in VERBS.items():
        print(f"  {form:34} {(verb.__doc__ or '').splitlines()[0]}")
    print("\nEach verb first does what it needs: packages, environments, builds.")
    print("./dev VERB --help says more of a verb.")
    return 0


def verb_named(name: str) -> tuple[str, Verb]:
    """The form and the function of a verb."""
    for form, verb in VERBS.items():
        if form.split()[0] == name:
            return form, verb
    raise DevError(f"no verb is named {name}; ./dev help lists them")


def text_of_verb(name: str) -> str:
    """The help of one verb: its form, and the docstring of its function."""
    form, verb = verb_named(name)
    return f"Usage: ./dev {form}\n\n{inspect.getdoc(verb)}"


def bootstrap_verb(arguments: Sequence[str]) -> int:
    """install what is missing: Debian packages and .venv"""
    no_arguments(arguments)
    bootstrap()
    say("everything that building needs is installed")
    return 0


def build_verb(arguments: Sequence[str]) -> int:
    """build a preset of CMakePresets.json into build/PRESET (release)

    release is what is tested and shipped, dev has assertions, in ci a warning is an error;
    asan and tsan are what sanitize builds, coverage and bench what the verbs of these names build.
    """
    preset, *rest = arguments or ["release"]
    no_arguments(rest)
    build(preset)
    say(f"build/{preset} is up to date")
    return 0


def python_verb(arguments: Sequence[str]) -> int:
    """run the project's Python, which can import graven from any folder

    Arguments, input, environment and working folder are Python's; it prints nothing of its own.
    """
    build()
    os.execv(PROJECT.python, [str(PROJECT.python), *arguments])


def demo_verb(arguments: Sequence[str]) -> int:
    """train on real handwritten digits, from Python and from C++

    Leaves python.json, cpp.json, the trained parameters and the learning curve in build/demo/;
    fails if one loss of the two differs in a bit. Python has matplotlib and tqdm in .venv-demo.
    """
    no_arguments(arguments)
    return demo()


def test_verb(arguments: Sequence[str]) -> int:
    """run all tests; or cpp, python, conformance, eager, graph, a path

    cpp          the C++ tests
    python       the Python tests but the conformance suite
    conformance  the conformance suite in both profiles, beside the lists of its folder
    eager|graph  the table of ops (tests/ops) in this mode
    PATH         a folder, test_*.py (also file::test), *_test.cc (all of its folder)
    --no-peers   without TensorFlow, which is large: nothing of tests/peers
    """
    return test(arguments)


def sanitize_verb(arguments: Sequence[str]) -> int:
    """build with sanitizers and run what each is for (both)

    asan  errors of memory, undefined behaviour, leaks: C++ tests, threads, composites, conformance
    tsan  data races: C++ tests, threads
    """
    return sanitize(arguments)


def mutate_verb(arguments: Sequence[str]) -> int:
    """put small faults into the sources, and show which the tests notice

    Draws N faults by SEED, and tries each in a copy of the working tree, build/mutate/tree, with
    the tests that could notice it: the C++ tests of its room, those above, tests/, the peers. The
    first run builds the copy and makes sure that all tests pass; a fault takes a minute or a few.
    What does not build, or builds to the same code, is replaced by another. Leaves summary.json in
    build/mutate/.

    --list       only prints the first N faults
    --only PATH  draws from this file or folder of graven/ or python/graven/; may stand twice
    --no-peers   without tests/peers
    """
    return mutate(arguments)


def coverage_verb(arguments: Sequence[str]) -> int:
    """count the lines of each room that tests run, with gcov

    Builds build/coverage, runs the C++ tests, tests/ops, tests/python and the conformance suite.
    Leaves the lines that did not run in build/coverage/coverage.json.
    """
    no_arguments(arguments)
    return coverage()


def bench_verb(arguments: Sequence[str]) -> int:
    """time workloads, with --peers beside TensorFlow, JAX and PyTorch

    Builds build/bench first, the release build with the C++ benchmarks.
    """
    if not HELP.isdisjoint(arguments):
        return show([PROJECT.ensure(), "-m", "benchmarks", "--help"])  # needs no build
    if not build_folder("bench").exists():
        say("the benchmarks have a build of their own, build/bench: minutes the first time")
    build("bench")
    env = {**os.environ, "GRAVEN_PRESET": "bench"}
    return show([PROJECT.python, "-m", "benchmarks", "--preset", "bench", *arguments], env=env)


def lint_verb(arguments: Sequence[str]) -> int:
    """run all checks of form; --no-tidy leaves out the slow ones

    Includes, exceptions, lists of sources, clang-format, ruff, mypy, thread safety, clang-tidy.
    """
    return lint(arguments)


def shell_verb(arguments: Sequence[str]) -> int:
    """start a shell in which python is the project's

    The shell is $SHELL. In bash the project comes before what ~/.bashrc puts in front of PATH.
    """
    no_arguments(arguments)
    build()
    start_shell()


def clean_verb(arguments: Sequence[str]) -> int:
    """remove build/ and the caches of the tools; environments stay"""
    no_arguments(arguments)
    for name in ("build", "dist", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"):
        shutil.rmtree(ROOT / name, ignore_errors=True)
    return 0


VERBS: dict[str, Verb] = {
    "help": help_verb,
    "bootstrap": bootstrap_verb,
    "build [PRESET]": build_verb,
    "demo": demo_verb,
    "test [PART|PATH...] [--no-peers]": test_verb,
    "sanitize [asan|tsan]": sanitize_verb,
    "mutate SEED N [--list]": mutate_verb,
    "coverage": coverage_verb,
    "bench [NAMES] [--peers]": bench_verb,
    "lint [--no-tidy]": lint_verb,
    "python ARGS...": python_verb,
    "shell": shell_verb,
    "clean": clean_verb,
}


def main(arguments: Sequence[str]) -> int:
    """Runs one verb; returns the status of the process."""
    name, *rest = arguments or ["help"]
    if name in HELP:
        name = "help"
    try:
        _, verb = verb_named(name)
        if name not in WITH_OWN_HELP and not HELP.isdisjoint(rest):
            return help_verb([name])
        return verb(rest)
    except DevError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        return 130
