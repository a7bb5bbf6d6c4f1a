"""A copy of the working tree in build/, for faults, so that the user's files stay as they are.

The copy has the layout of a checkout, so its own tools/ build and test it. Its environments are
those of the checkout, with the path hook of the copy.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

from devtool.commands import ROOT, say
from devtool.environments import Environment

MARK = ".copy-for-faults.json"  # lies in a copy, with the names of its files
# What the tests that faults are shown to do not read.
NOT_ASKED = ("tests/tools/", "tools/devtool/", "README.md", "tests/README.md", "tools/README.md")


def is_copy() -> bool:
    """Whether the tools that run are those of a copy."""
    return (ROOT / MARK).exists()


def copy_files(checkout: Path, copy: Path) -> int:
    """Makes a copy hold what git tracks or would track of a checkout; returns how much was written.

    A file that is as it should be keeps its time, so that a build of the copy goes on from there.
    """
    listed = subprocess.check_output(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=checkout
    )
    names = {name for name in listed.decode().split("\0") if name and (checkout / name).is_file()}
    mark = copy / MARK
    before = set(json.loads(mark.read_text())) if mark.exists() else set()
    written = 0
    for name in sorted(names):
        source, target = checkout / name, copy / name
        if not (target.is_file() and target.read_bytes() == source.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            written += 1
        if target.stat().st_mode != source.stat().st_mode:
            target.chmod(source.stat().st_mode)
    for name in before - names:
        (copy / name).unlink(missing_ok=True)
    mark.write_text(json.dumps(sorted(names)))
    return written


def lend_environment(environment: Environment, copy: Path) -> None:
    """Gives a copy an environment with the packages of the checkout's own."""
    environment.ensure()
    folder = copy / environment.folder.name
    stamp = environment.folder / "installed-requirements.txt"
    if not (folder / "bin" / "python").exists():
        python = environment.folder / "bin" / "python"
        command: list[str | Path] = [python, "-m", "venv", "--without-pip", "--clear", folder]
        subprocess.run(command, check=True)
    packages = next((environment.folder / "lib").glob("python3*")) / "site-packages"
    site = next((folder / "lib").glob("python3*")) / "site-packages"
    (site / "lent.pth").write_text(f"{packages}\n")
    shutil.copyfile(stamp, folder / stamp.name)


def make_copy(environments: list[Environment], folder: Path) -> Path:
    """Makes or renews the copy of this checkout; returns its root."""
    copy = folder / "tree"
    copy.mkdir(parents=True, exist_ok=True)
    written = copy_files(ROOT, copy)
    say(f"{copy.relative_to(ROOT)} holds a copy of the working tree; {written} files are new in it")
    for environment in environments:
        lend_environment(environment, copy)
    return copy


def hash_of_copy() -> str:
    """What tells what is tested in this copy, and the Python that tests it, from any other."""
    digest = hashlib.sha256(sys.version.encode())
    for name in json.loads((ROOT / MARK).read_text()):
        if name.startswith(NOT_ASKED):
            continue
        digest.update(f"{name}\0".encode())
        digest.update(hashlib.sha256((ROOT / name).read_bytes()).digest())
    return digest.hexdigest()
