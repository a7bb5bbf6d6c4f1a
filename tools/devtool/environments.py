"""Debian packages and Python environments, installed when they are missing."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from devtool.commands import ROOT, DevError, run, say_words

BUILD_PACKAGES = (
    "ccache",
    "cmake",
    "doctest-dev",
    "g++",
    "libboost-dev",
    "libdnnl-dev",
    "libhwy-dev",
    "libopenblas-serial-dev",
    "ninja-build",
)
FORMAT_PACKAGES = ("clang-format-14",)
CHECKER_PACKAGES = ("clang-19",)  # what check_thread_safety.py compiles with
TIDY_PACKAGES = (*CHECKER_PACKAGES, "clang-tidy-19", "libomp-19-dev")  # omp.h as clang reads it
BENCHMARK_PACKAGES = ("libbenchmark-dev",)


def is_installed(package: str) -> bool:
    """Whether dpkg has this package, installed and configured."""
    query = ["dpkg-query", "-W", "-f=${db:Status-Status}", package]
    return subprocess.run(query, capture_output=True, text=True).stdout == "installed"


def install_packages(packages: Sequence[str]) -> None:
    """Installs those Debian packages that are missing."""
    missing = [package for package in packages if not is_installed(package)]
    if not missing:
        return
    if os.geteuid() == 0:
        prefix: list[str] = []
    elif shutil.which("sudo"):
        prefix = ["sudo"]
    else:
        raise DevError(
            "these Debian packages are missing, and only root can install them:\n"
            f"    apt-get install {' '.join(missing)}"
        )
    say_words("installing Debian packages:", missing)
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "-q"]
    run([*apt, "update"])
    run([*apt, "install", "--no-install-recommends", *missing])


def python_packages() -> tuple[str, ...]:
    """What Debian's Python lacks to build an extension; another Python brings it along."""
    return ("python3-dev", "python3-venv") if sys.executable == "/usr/bin/python3" else ()


class Environment:
    """A virtual environment of the repository, made from one list of requirements."""

    def __init__(self, folder: str, requirements: str, purpose: str) -> None:
        self.folder = ROOT / folder
        self.requirements = ROOT / "tools" / "requirements" / requirements
        self.purpose = purpose
        self.python = self.folder / "bin" / "python"

    def ensure(self) -> Path:
        """Makes or completes the environment if it is not as its list says; returns its Python."""
        stamp = self.folder / "installed-requirements.txt"
        wanted = self.requirements.read_text()
        if not (stamp.exists() and stamp.read_text() == wanted and self.python.exists()):
            install_packages(python_packages())
            names = [line for line in wanted.splitlines() if line and not line.startswith("#")]
            say_words(f"making {self.folder.name} ({self.purpose}) with", names)
            stamp.unlink(missing_ok=True)
            run([sys.executable, "-m", "venv", "--clear", self.folder])
            pip: list[str | Path] = [self.python, "-m", "pip", "install"]
            run([*pip, "--disable-pip-version-check", "-r", self.requirements])
            stamp.write_text(wanted)
        self._install_path_hook()
        return self.python

    def _install_path_hook(self) -> None:
        """Lets this environment import graven from the checkout, whatever the working folder."""
        site = next((self.folder / "lib").glob("python3*")) / "site-packages"
        hook = (ROOT / "tools" / "graven_path.py").read_text()
        for name, text in (
            ("_graven_path.py", hook),
            ("_graven_path.pth", "import _graven_path\n"),
        ):
            file = site / name
            if not file.exists() or file.read_text() != text:
                file.write_text(text)


PROJECT = Environment(".venv", "project.txt", "the project's Python")
DEMO = Environment(".venv-demo", "demo.txt", "the demo, with what it draws and shows")
PEERS = Environment(".venv-peers", "peers.txt", "TensorFlow beside Graven")
JAX = Environment(".venv-jax", "jax.txt", "JAX, for benchmarks")
TORCH = Environment(".venv-torch", "torch.txt", "PyTorch, for benchmarks")
