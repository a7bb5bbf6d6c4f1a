"""cmake --install gives a C++ package that a program outside the tree builds against."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LISTS = """
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(Graven 0.1 REQUIRED)
add_executable(user user.cc)
target_link_libraries(user PRIVATE Graven::graven)
"""
PROGRAM = """
#include <graven/base/strings.h>
#include <cstdio>
int main() { std::puts(graven::engine::shortest(0.1f).c_str()); }
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Runs a command that must succeed; returns what it prints."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_program_outside_the_tree_builds_against_the_installed_package(tmp_path: Path) -> None:
    build = ROOT / "build" / os.environ.get("GRAVEN_PRESET", "release")
    prefix, user = tmp_path / "prefix", tmp_path / "user"
    run("cmake", "--install", build, "--prefix", prefix, cwd=tmp_path)
    user.mkdir()
    (user / "CMakeLists.txt").write_text(LISTS)
    (user / "user.cc").write_text(PROGRAM)
    run("cmake", "-G", "Ninja", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=user)
    run("cmake", "--build", "build", cwd=user)
    assert run("build/user", cwd=user) == "0.1\n"
    libraries = run("ldd", "build/user", cwd=user)
    assert str(prefix / "lib" / "libgraven.so") in libraries and str(ROOT) not in libraries


def test_the_installed_headers_and_objects_say_nothing_of_the_checkout(tmp_path: Path) -> None:
    build = ROOT / "build" / os.environ.get("GRAVEN_PRESET", "release")
    run("cmake", "--install", build, "--prefix", tmp_path, cwd=tmp_path)
    package = [file for file in (tmp_path / "lib" / "cmake").rglob("*") if file.is_file()]
    assert package and all(str(ROOT) not in file.read_text() for file in package)
    objects = (tmp_path / "lib").glob("libgraven*.so")
    paths = {line for file in objects for line in run("readelf", "-d", file, cwd=tmp_path).split()}
    assert not [path for path in paths if str(ROOT) in path]
