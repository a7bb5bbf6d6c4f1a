"""Configuring and building a preset."""

import json
import subprocess
from pathlib import Path

from devtool.commands import ROOT, DevError, run, say
from devtool.environments import (
    BENCHMARK_PACKAGES,
    BUILD_PACKAGES,
    PROJECT,
    install_packages,
    python_packages,
)


def build_folder(preset: str) -> Path:
    """Where a preset is built."""
    return ROOT / "build" / preset


def bootstrap() -> None:
    """Installs what building and running need."""
    install_packages((*BUILD_PACKAGES, *python_packages()))
    PROJECT.ensure()


def presets() -> list[str]:
    """The names of the presets that can be built."""
    written = json.loads((ROOT / "CMakePresets.json").read_text())
    return [preset["name"] for preset in written["buildPresets"]]


def configure(preset: str) -> Path:
    """Configures a preset if that has not been done; returns its build folder."""
    if preset not in presets():
        raise DevError(f"no preset is named {preset}; there are {', '.join(presets())}")
    bootstrap()
    if preset == "bench":
        install_packages(BENCHMARK_PACKAGES)
    folder = build_folder(preset)
    if not (folder / "build.ninja").exists():
        say(f"configuring build/{preset}")
        run(["cmake", "--preset", preset])
    return folder


def build(preset: str = "release") -> None:
    """Builds everything of a preset. Silent when there is nothing to do."""
    folder = configure(preset)
    dry_run = subprocess.run(["ninja", "-n"], cwd=folder, capture_output=True, text=True)
    if dry_run.returncode != 0 or "no work to do" not in dry_run.stdout:
        say(f"building build/{preset}")
        run(["cmake", "--build", "--preset", preset])
