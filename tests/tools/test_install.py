"""cmake --install gives a C++ package that a program outside the tree builds against."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "cpp.md").read_text()


MODULES = (ROOT / "docs" / "extension-modules.md").read_text()


def block(language: str, page: str = PAGE) -> str:
    """The one block of a page in a language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```\n", page, re.DOTALL)
    return str(found)


def run(*command: str | Path, cwd: Path) -> str:
    """Runs a command that must succeed; returns what it prints."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_program_of_the_page_for_users_builds_outside_the_tree_and_prints_what_it_says(
    tmp_path: Path,
) -> None:
    build = ROOT / "build" / os.environ.get("GRAVEN_PRESET", "release")
    prefix, user = tmp_path / "prefix", tmp_path / "user"
    run("cmake", "--install", build, "--prefix", prefix, cwd=tmp_path)
    user.mkdir()
    (user / "CMakeLists.txt").write_text(block("cmake"))
    (user / "user.cc").write_text(block("cpp"))
    run("cmake", "-G", "Ninja", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=user)
    run("cmake", "--build", "build", cwd=user)
    assert f"```\n\n{textwrap.indent(run('build/user', cwd=user), '    ')}\n" in PAGE
    libraries = run("ldd", "build/user", cwd=user)
    assert str(prefix / "lib" / "libgraven.so") in libraries and str(ROOT) not in libraries


CPP_PROGRAM = re.compile(r"```cpp\n(.*?)```\n\n((?: {4}[^\n]*\n)+)", re.DOTALL)


def test_the_cpp_programs_of_pages_about_messages_print_what_stands_below_them(
    tmp_path: Path,
) -> None:
    build = ROOT / "build" / os.environ.get("GRAVEN_PRESET", "release")
    prefix, user = tmp_path / "prefix", tmp_path / "user"
    run("cmake", "--install", build, "--prefix", prefix, cwd=tmp_path)
    pages = [page.read_text() for page in sorted((ROOT / "docs" / "errors").glob("*.md"))]
    programs = [found for page in pages for found in CPP_PROGRAM.findall(page)]
    assert len(programs) >= 2
    user.mkdir()
    lists = block("cmake").split("add_executable")[0]
    for number, (program, _) in enumerate(programs):
        (user / f"p{number}.cc").write_text(program)
        lists += f"add_executable(p{number} p{number}.cc)\n"
        lists += f"target_link_libraries(p{number} PRIVATE Graven::graven)\n"
    (user / "CMakeLists.txt").write_text(lists)
    run("cmake", "-G", "Ninja", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=user)
    run("cmake", "--build", "build", cwd=user)
    for number, (_, output) in enumerate(programs):
        assert run(f"build/p{number}", cwd=user).split() == output.split()


def test_the_extension_module_of_the_page_builds_outside_the_tree_and_prints_what_it_says(
    tmp_path: Path,
) -> None:
    build = ROOT / "build" / os.environ.get("GRAVEN_PRESET", "release")
    prefix, user = tmp_path / "prefix", tmp_path / "user"
    run("cmake", "--install", build, "--prefix", prefix, cwd=tmp_path)
    user.mkdir()
    (user / "CMakeLists.txt").write_text(block("cmake", MODULES))
    (user / "descent.cc").write_text(block("cpp", MODULES))
    where = f"-DCMAKE_PREFIX_PATH={prefix}", f"-DPython_EXECUTABLE={sys.executable}"
    run("cmake", "-G", "Ninja", "-B", "build", *where, cwd=user)
    run("cmake", "--build", "build", cwd=user)
    (module,) = (user / "build").glob("descent.*.so")
    shutil.move(module, user)
    (user / "program.py").write_text(block("python", MODULES))
    printed = run(sys.executable, "program.py", cwd=user)
    assert f"this program prints\n\n{textwrap.indent(printed, '    ')}\n" in MODULES


def test_the_component_python_says_why_it_is_not_there(tmp_path: Path) -> None:
    build = ROOT / "build" / os.environ.get("GRAVEN_PRESET", "release")
    run("cmake", "--install", build, "--prefix", tmp_path / "prefix", cwd=tmp_path)
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare", cwd=tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(block("cmake", MODULES))
    (tmp_path / "descent.cc").write_text("")
    where = (
        f"-DCMAKE_PREFIX_PATH={tmp_path / 'prefix'}",
        f"-DPython_EXECUTABLE={tmp_path / 'bare' / 'bin' / 'python'}",
    )
    command = ["cmake", "-G", "Ninja", "-B", "build", *where]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    message = " ".join(done.stderr.split())
    assert done.returncode != 0 and "cannot import graven" in message
    assert "No module named 'graven'" in message


def test_the_pages_that_messages_name_are_installed(tmp_path: Path) -> None:
    build = ROOT / "build" / os.environ.get("GRAVEN_PRESET", "release")
    run("cmake", "--install", build, "--prefix", tmp_path, cwd=tmp_path)
    docs, installed = ROOT / "docs", tmp_path / "share/doc/graven"
    pages = {page.relative_to(installed) for page in installed.rglob("*.md")}
    assert {Path("cache.md"), Path("errors/retracing.md")} <= pages
    assert pages == {page.relative_to(docs) for page in docs.rglob("*.md")}


def test_headers_of_tests_are_not_installed(tmp_path: Path) -> None:
    build = ROOT / "build" / os.environ.get("GRAVEN_PRESET", "release")
    run("cmake", "--install", build, "--prefix", tmp_path, cwd=tmp_path)
    headers = {header.name for header in (tmp_path / "include").rglob("*.h")}
    assert "graven.h" in headers and not [name for name in headers if "test" in name]


def test_a_python_without_nanobind_is_named_with_what_to_do(tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare", cwd=tmp_path)
    python = tmp_path / "bare" / "bin" / "python"
    command = ["cmake", "-G", "Ninja", "-S", str(ROOT), "-B", "b", f"-DPython_EXECUTABLE={python}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    message = " ".join(done.stderr.split())
    assert done.returncode != 0 and f"{python} has no nanobind" in message
    assert "./dev bootstrap" in message and "-DGRAVEN_BUILD_PYTHON=OFF" in message


EXAMPLE_LISTS = """
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(Graven 0.1 REQUIRED)
find_package(doctest REQUIRED)
find_package(Threads REQUIRED)
add_executable(digits digits.cc)
target_link_libraries(digits PRIVATE Graven::graven)
target_compile_definitions(digits PRIVATE DIGITS_DATA="${CMAKE_CURRENT_SOURCE_DIR}/data/digits.bin")
file(GLOB tests tests/*_test.cc)
add_executable(tests tests/doctest_main.cc ${tests})
target_link_libraries(tests PRIVATE Graven::graven doctest::doctest Threads::Threads)
"""


def test_the_digits_and_the_tests_of_users_build_against_the_installed_package(
    tmp_path: Path,
) -> None:
    build = ROOT / "build" / os.environ.get("GRAVEN_PRESET", "release")
    prefix, user = tmp_path / "prefix", tmp_path / "user"
    run("cmake", "--install", build, "--prefix", prefix, cwd=tmp_path)
    (user / "tests").mkdir(parents=True)
    shutil.copy(ROOT / "examples" / "digits.cc", user)
    shutil.copytree(ROOT / "examples" / "data", user / "data")
    shutil.copy(ROOT / "cmake" / "doctest_main.cc", user / "tests")
    for test in (ROOT / "tests" / "cpp").glob("*.[ch]*"):
        text = test.read_text()
        if "#include <graven/graven.h>" in text:
            assert '#include "graven/' not in text, f"{test} includes more than users do"
            (user / "tests" / test.name).write_text(text)
    (user / "CMakeLists.txt").write_text(EXAMPLE_LISTS)
    run("cmake", "-G", "Ninja", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=user)
    run("cmake", "--build", "build", cwd=user)
    run("build/tests", cwd=user)
    assert "test accuracy" in run("build/digits", "--epochs", "1", cwd=user)


def test_the_installed_headers_and_objects_say_nothing_of_the_checkout(tmp_path: Path) -> None:
    build = ROOT / "build" / os.environ.get("GRAVEN_PRESET", "release")
    run("cmake", "--install", build, "--prefix", tmp_path, cwd=tmp_path)
    package = [file for file in (tmp_path / "lib" / "cmake").rglob("*") if file.is_file()]
    assert package and all(str(ROOT) not in file.read_text() for file in package)
    objects = (tmp_path / "lib").glob("libgraven*.so")
    paths = {line for file in objects for line in run("readelf", "-d", file, cwd=tmp_path).split()}
    assert not [path for path in paths if str(ROOT) in path]
