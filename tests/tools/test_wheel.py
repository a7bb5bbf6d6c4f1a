"""pip install gives a package that works with the checkout out of reach."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import graven
import pytest
from stubs import stubs as printed_stubs

ROOT = Path(__file__).resolve().parents[2]
# Runs eagerly, traced, differentiated, and through the library of matrix products.
PROGRAM = """
import sys
import graven as tf
w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.matmul(x, w) ** 2.0)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss
x = tf.constant([[1.0, 0.0]])
print(float(step(x)), w.numpy().tolist())
tf.linalg.inv(w)
libraries = {line.split()[-1] for line in open("/proc/self/maps") if "libgraven" in line}
print(*sorted(libraries | {tf.__file__}))
"""
# What `python -m graven docs/cache.md` does.
SHOW_PAGE = """
import runpy
sys.argv[1:] = ["docs/cache.md"]
runpy.run_module("graven", run_name="__main__")
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built by what ./dev installed.

    The compiler goes by the name that ./dev build calls it by, and not by that of Python's build,
    so that ccache knows the objects.
    """
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps"]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "CC": "cc", "CXX": "c++"}
    subprocess.run([*build, "-w", folder, ROOT], check=True, env=env)
    (file,) = folder.glob("graven-*.whl")
    return file


def test_a_wheel_holds_types_and_what_the_engine_needs(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in ("py.typed", "libgraven.so", "libgraven_onednn.so", "libdnnl.so.2"):
        assert f"graven/{name}" in names
    assert "graven/libgraven_lapack.so" in names
    stubs = {f"graven/{path}" for path in printed_stubs(graven)} | {"graven/_engine.pyi"}
    assert (
        {"graven/__init__.pyi", "graven/math/__init__.pyi", "graven/raw_ops.pyi"} <= stubs <= names
    )
    assert wheel.stat().st_size < 40 << 20


def test_a_wheel_holds_the_licenses_of_what_it_bundles(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        found = [re.fullmatch(r"graven/(lib[^/]*[.]so[.]\d+)", name) for name in names]
        bundled = {name[1] for name in found if name and not name[1].startswith("libgraven")}
        assert {name.partition(".")[0] for name in bundled} == {
            "libdnnl", "libgomp", "libhwy", "libhwy_contrib", "libOpenCL"
        }  # fmt: skip
        for name in (*bundled, "boost", "nanobind", "openblas"):
            text = archive.read(f"graven/licenses/{name}.txt").decode()
            assert "copyright" in text.lower() and len(text) > 500
        assert "graven/licenses/GPL-3.txt" in names  # What that of libgomp refers to.


def test_a_wheel_holds_the_pages_that_messages_name(wheel: Path) -> None:
    pages = {f"graven/{page.relative_to(ROOT)}" for page in (ROOT / "docs").rglob("*.md")}
    assert {"graven/docs/cache.md", "graven/docs/errors/retracing.md"} <= pages
    assert pages <= set(zipfile.ZipFile(wheel).namelist())


def test_an_installed_wheel_trains_by_its_own_files_alone(wheel: Path, tmp_path: Path) -> None:
    package = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*install, "--target", package, wheel], check=True)
    # -S: no site-packages, so that the path hook of .venv does not find the checkout.
    numpy = Path(sys.executable).parents[1] / "lib"
    (packages,) = numpy.glob("python3*/site-packages")
    code = f"import sys; sys.path[:0] = [{str(package)!r}, {str(packages)!r}]\n{PROGRAM}"
    run = [sys.executable, "-S", "-c", code]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    numbers, files = done.stdout.splitlines()
    assert numbers == "5.0 [[0.800000011920929, 1.600000023841858], [3.0, 4.0]]"
    assert all(file.startswith(str(package)) for file in files.split())
    code = f"import sys; sys.path[:0] = [{str(package)!r}, {str(packages)!r}]\n{SHOW_PAGE}"
    shown = subprocess.run([*run[:-1], code], cwd=tmp_path, capture_output=True, text=True)
    assert shown.stdout == (package / "graven/docs/cache.md").read_text(), shown.stderr
