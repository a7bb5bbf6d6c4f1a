"""GRAVEN_DUMP writes how each graph becomes a Program."""

import os
import re
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import threading
import graven as tf

@tf.function
def wave(x):
    unused = tf.exp(x)
    return tf.sin(x * 2.0 + (1.0 + 1.0)) * x

x = tf.ones([8])
first = wave(x)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_sum(wave(x))
tape.gradient(y, x)

functions = [tf.function(lambda x, k=k: x * float(k)) for k in range(4)]
threads = [threading.Thread(target=function, args=[x]) for function in functions]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(float(first[0]))
"""


def run(folder: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "GRAVEN_DUMP": folder},
        cwd=cwd,
        capture_output=True,
        text=True,
    )


def numbers(folder: Path) -> list[int]:
    return sorted(int(path.name.split("_")[0]) for path in folder.iterdir())


def test_each_graph_has_a_folder_of_its_passes_and_its_program(tmp_path: Path) -> None:
    done = run("graphs", tmp_path)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    made = sorted((tmp_path / "graphs").iterdir())
    assert numbers(tmp_path / "graphs") == list(range(1, len(made) + 1))
    wave = made[0]
    assert re.fullmatch(r"0001_wave_\d+", wave.name)
    assert sum("lambda" in path.name for path in made) == 4
    assert any("__forward_wave" in path.name for path in made)
    assert any("__backward_wave" in path.name for path in made)

    files = sorted(path.name for path in wave.iterdir())
    assert files[0] == "00_traced.txt"
    assert files[-2:] == ["program.txt", "times.txt"]
    assert "01_remove_dead_nodes.txt" in files
    assert any(name.endswith("_fuse.txt") for name in files)
    assert [name.split("_")[0] for name in files[:-2]] == [f"{i:02}" for i in range(len(files) - 2)]
    assert "Exp(" in (wave / "00_traced.txt").read_text()
    after = (wave / "01_remove_dead_nodes.txt").read_text()
    assert "Exp(" not in after
    assert re.match(r"# after remove_dead_nodes, which took [\d.]+ us\n", after)

    program = (wave / "program.txt").read_text()
    assert re.search(r"^step 0: .* ns$", program, re.MULTILINE)
    assert re.search(r"^return .* ns in all$", program, re.MULTILINE)
    times = (wave / "times.txt").read_text()
    assert re.search(r"^remove_dead_nodes: [\d.]+ us$", times, re.MULTILINE)
    assert re.search(r"^inline_calls: [\d.]+ us, nothing to do$", times, re.MULTILINE)
    assert re.search(r"^planning: [\d.]+ us\n\Z", times, re.MULTILINE)


def test_a_second_run_keeps_what_the_first_has_written(tmp_path: Path) -> None:
    run(str(tmp_path), tmp_path)
    first = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.txt")}
    run(str(tmp_path), tmp_path)
    assert all(path.stat().st_mtime_ns == time for path, time in first.items())
    assert len(list(tmp_path.rglob("*.txt"))) == 2 * len(first)
    assert len(set(numbers(tmp_path))) == len(numbers(tmp_path))


def test_a_folder_that_cannot_be_written_is_one_warning(tmp_path: Path) -> None:
    expected = run("", tmp_path)
    assert expected.stderr == "" and list(tmp_path.iterdir()) == []
    file = tmp_path / "file"
    file.write_text("here already")
    done = run(str(file / "graphs"), tmp_path)
    assert (done.returncode, done.stdout) == (0, expected.stdout)
    lines = done.stderr.splitlines()
    assert len(lines) == 1, lines
    assert re.fullmatch(
        rf"graven: GRAVEN_DUMP={file}/graphs: cannot write {file}/graphs: Not a directory\."
        " No graphs are written.",
        lines[0],
    )


NAMES = """
import graven as tf

def azAZ09_(x): return x + 1.0
tf.function(azAZ09_)(1.0)

def of_a_long_name(x): return x + 2.0
of_a_long_name.__name__ = "a" * 40 + "b" * 60
tf.function(of_a_long_name)(1.0)
"""


def test_folders_have_the_names_of_functions_or_their_last_80_characters(tmp_path: Path) -> None:
    environment = {**os.environ, "GRAVEN_DUMP": str(tmp_path)}
    subprocess.run([sys.executable, "-c", NAMES], env=environment, check=True)
    first, second = sorted(path.name for path in tmp_path.iterdir())
    assert re.fullmatch(r"0001_azAZ09__\d+", first)
    assert re.fullmatch(r"0002_a*b{60}_\d+", second) and len(second) == len("0002_") + 80


def test_a_full_disk_is_one_warning(tmp_path: Path) -> None:
    # Files of this process may be 512 bytes long.
    limited = "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    limited += "resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))\n"
    done = subprocess.run(
        [sys.executable, "-Bc", limited + PROGRAM],
        env={**os.environ, "GRAVEN_DUMP": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert done.stdout == run("", tmp_path).stdout
    assert len(done.stderr.splitlines()) == 1 and "File too large" in done.stderr
