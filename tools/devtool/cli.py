"""The verbs of ./dev."""

import os
import shutil
from collections.abc import Callable, Sequence

from devtool.build import bootstrap, build
from devtool.commands import ROOT, DevError, say, show
from devtool.demo import demo
from devtool.environments import PROJECT
from devtool.lint import lint
from devtool.sanitizing import sanitize
from devtool.testing import test

Verb = Callable[[Sequence[str]], int]


def no_arguments(arguments: Sequence[str]) -> None:
    """Refuses arguments that a verb does not know."""
    if arguments:
        raise DevError(f"unexpected: {' '.join(arguments)}; see ./dev help")


def help_verb(arguments: Sequence[str]) -> int:
    """this list"""
    print("Usage: ./dev VERB\n")
    for form, verb in VERBS.items():
        print(f"  {form:34} {verb.__doc__}")
    print("\nEach verb first does what it needs: packages, environments, builds.")
    return 0


def bootstrap_verb(arguments: Sequence[str]) -> int:
    """install what is missing: Debian packages and .venv"""
    no_arguments(arguments)
    bootstrap()
    say("everything that building needs is installed")
    return 0


def build_verb(arguments: Sequence[str]) -> int:
    """build a preset of CMakePresets.json into build/PRESET (release)"""
    preset, *rest = arguments or ["release"]
    no_arguments(rest)
    build(preset)
    say(f"build/{preset} is up to date")
    return 0


def python_verb(arguments: Sequence[str]) -> int:
    """run the project's Python, which can import graven from any folder"""
    build()
    os.execv(PROJECT.python, [str(PROJECT.python), *arguments])


def demo_verb(arguments: Sequence[str]) -> int:
    """train on real handwritten digits, from Python and from C++"""
    no_arguments(arguments)
    return demo()


def test_verb(arguments: Sequence[str]) -> int:
    """run all tests; or cpp, python, conformance, a mode of the ops, a path"""
    return test(arguments)


def sanitize_verb(arguments: Sequence[str]) -> int:
    """build with sanitizers and run what each is for (both)"""
    return sanitize(arguments)


def bench_verb(arguments: Sequence[str]) -> int:
    """time workloads, with --peers beside TensorFlow, JAX and PyTorch"""
    if {"-h", "--help"} & set(arguments):
        return show([PROJECT.ensure(), "-m", "benchmarks", "--help"])  # needs no build
    build("bench")
    env = {**os.environ, "GRAVEN_PRESET": "bench"}
    return show([PROJECT.python, "-m", "benchmarks", "--preset", "bench", *arguments], env=env)


def lint_verb(arguments: Sequence[str]) -> int:
    """run all checks of form; --no-tidy leaves out the slow one"""
    return lint(arguments)


def shell_verb(arguments: Sequence[str]) -> int:
    """start a shell in which python is the project's"""
    no_arguments(arguments)
    build()
    shell = os.environ.get("SHELL", "/bin/bash")
    path = f"{PROJECT.folder / 'bin'}:{os.environ.get('PATH', '')}"
    os.execve(shell, [shell], {**os.environ, "PATH": path, "VIRTUAL_ENV": str(PROJECT.folder)})


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
    "test [MODE|PATH...] [--no-peers]": test_verb,
    "sanitize [asan|tsan]": sanitize_verb,
    "bench [NAMES] [--peers]": bench_verb,
    "lint [--no-tidy]": lint_verb,
    "python ARGS...": python_verb,
    "shell": shell_verb,
    "clean": clean_verb,
}


def main(arguments: Sequence[str]) -> int:
    """Runs one verb; returns the status of the process."""
    name, *rest = arguments or ["help"]
    verbs = {form.split()[0]: verb for form, verb in VERBS.items()}
    if name in ("-h", "--help"):
        name = "help"
    try:
        if name not in verbs:
            raise DevError(f"no verb is named {name}; ./dev help lists them")
        return verbs[name](rest)
    except DevError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        return 130
