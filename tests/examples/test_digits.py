"""Runs examples/digits.py as its users do, and checks what it prints and writes.

The environment variable CONFORMANCE_MODULE names the module that the program imports, as for the
conformance tests; "graven" is the default, and "tensorflow" shows that the one line is enough.
./dev test runs these tests in .venv-demo; TensorFlow is in .venv-peers.
"""

import contextlib
import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MODULE = os.environ.get("CONFORMANCE_MODULE", "graven")
STEPS_PER_EPOCH = 45  # 1437 images in batches of 32


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the examples whose one import line names the module under test."""
    folder = tmp_path_factory.mktemp("examples") / "examples"
    shutil.copytree(EXAMPLES, folder, ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / "digits.py"
    source = path.read_text()
    assert source.count("import graven as tf\n") == 1
    path.write_text(source.replace("import graven as tf\n", f"import {MODULE} as tf\n"))
    return path


def run(
    program: Path, *arguments: str, env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)


@pytest.fixture(scope="module")
def two_epochs(program: Path) -> tuple[str, dict[str, Any], bytes]:
    """What two epochs print, their JSON, and their PNG; parameters.npz lies beside the program."""
    json_path, png_path, npz_path = (
        program.with_name(name) for name in ("result.json", "curve.png", "parameters.npz")
    )
    options = ["--json", str(json_path), "--png", str(png_path), "--npz", str(npz_path)]
    done = run(program, "--epochs", "2", *options)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(json_path.read_text()), png_path.read_bytes()


def test_json_has_one_loss_a_step_and_the_four_keys(
    two_epochs: tuple[str, dict[str, Any], bytes],
) -> None:
    result = two_epochs[1]
    assert set(result) == {"losses", "test_accuracy", "seconds", "traces"}
    assert len(result["losses"]) == 2 * STEPS_PER_EPOCH
    assert 0.8 < result["test_accuracy"] <= 1.0
    assert result["seconds"] > 0.0
    # The step for whole batches and for the last one of 29 images, and the function that reads.
    assert result["traces"] == 3


def test_losses_are_the_shortest_texts_of_float32_numbers(
    two_epochs: tuple[str, dict[str, Any], bytes],
) -> None:
    for loss in two_epochs[1]["losses"]:
        assert float(str(np.float32(loss))) == loss


def test_loss_falls(two_epochs: tuple[str, dict[str, Any], bytes]) -> None:
    losses = two_epochs[1]["losses"]
    first, last = np.mean(losses[:10]), np.mean(losses[-10:])
    assert 1.5 < first < 4.0  # ln 10 = 2.3 is the loss of one who guesses
    assert last < 0.5 * first


def test_two_runs_give_the_same_losses_and_seeds_give_others(
    program: Path, two_epochs: tuple[str, dict[str, Any], bytes]
) -> None:
    results = []
    for seed in ("1", "2"):
        path = program.with_name(f"seed{seed}.json")
        done = run(program, "--epochs", "1", "--seed", seed, "--json", str(path))
        assert done.returncode == 0, done.stderr
        results.append(json.loads(path.read_text())["losses"])
    assert results[0] == two_epochs[1]["losses"][:STEPS_PER_EPOCH]
    assert results[1][0] != results[0][0]


def test_progress_in_a_pipe_is_one_line_an_epoch(
    two_epochs: tuple[str, dict[str, Any], bytes],
) -> None:
    output = two_epochs[0]
    assert "\r" not in output
    lines = [line for line in output.splitlines() if line.startswith("epoch ")]
    assert len(lines) == 2
    for line in lines:
        assert re.search(r"loss \d+\.\d{4}  accuracy +\d+\.\d\d %  +\d+ images/s$", line)


def test_progress_bar_is_drawn_where_standard_error_is_a_terminal(program: Path) -> None:
    controller, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (24, 80))
    command = [sys.executable, str(program), "--epochs", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, text=True) as process:
        os.close(terminal)
        shown = read_terminal(controller)
        assert process.stdout
        lines = process.stdout.read().splitlines()
    os.close(controller)
    assert process.returncode == 0
    assert re.search(r"\r +\d+%\|.*\| \d+/2874 \[", shown)
    assert shown.rsplit("\r", 2)[1:] == [" " * 79, ""]  # In the end the bar is gone.
    assert [line[:9] for line in lines[:2]] == ["epoch   1", "epoch   2"]


def read_terminal(controller: int) -> str:
    """What is written to a terminal until it is closed, which Linux reports as an error."""
    written = b""
    with contextlib.suppress(OSError):
        while part := os.read(controller, 4096):
            written += part
    return written.decode()


def test_without_a_terminal_no_progress_bar_is_drawn(program: Path) -> None:
    done = run(program, "--epochs", "1")
    assert done.returncode == 0, done.stderr
    for output in (done.stdout, done.stderr):
        assert "\r" not in output and "%|" not in output
    assert MODULE == "tensorflow" or done.stderr == ""  # TensorFlow logs there.


def test_confusion_matrix_counts_every_test_image_once(
    two_epochs: tuple[str, dict[str, Any], bytes],
) -> None:
    output, result, _ = two_epochs
    rows = [line.split("|")[1].split() for line in output.splitlines() if "|" in line]
    counts = np.array([[0 if cell == "." else int(cell) for cell in row] for row in rows])
    assert counts.shape == (10, 10)
    assert counts.sum() == 360
    assert np.trace(counts) / 360 == pytest.approx(result["test_accuracy"])


def test_table_of_traces_is_printed_where_the_cache_can_tell(
    two_epochs: tuple[str, dict[str, Any], bytes],
) -> None:
    output, result, _ = two_epochs
    if MODULE == "tensorflow":
        assert "trace ms" not in output
        return
    rows = re.findall(r"^  (train_step|read_digits) +(\d+) +(\d+\.\d\d) +(\d+)$", output, re.M)
    assert len(rows) == result["traces"]
    assert all(float(trace_ms) > 0.0 and int(size) > 0 for _, _, trace_ms, size in rows)
    assert output.count("(images: TensorSpec(") == len(rows)
    assert max(map(len, output.splitlines())) <= 100
    hits = sum(int(row[1]) for row in rows if row[0] == "train_step")
    assert hits == len(result["losses"]) - 2  # the first call of each signature is a miss


def test_learning_curve_is_a_whole_png_with_ink_on_it(
    two_epochs: tuple[str, dict[str, Any], bytes],
) -> None:
    png = two_epochs[2]
    assert png[:8] == b"\x89PNG\r\n\x1a\n" and png[-8:-4] == b"IEND"
    pixels = matplotlib.image.imread(io.BytesIO(png), format="png")
    assert pixels.shape == (480, 800, 4)
    assert (pixels[..., 3] == 1.0).all()
    blue = (pixels[..., 2] - pixels[..., 0]) > 100 / 255
    assert 100 < blue.sum() < 20_000


def test_learning_curve_is_drawn_without_a_display_whatever_backend_is_wished(
    program: Path,
) -> None:
    path = program.with_name("no_display.png")
    hidden = ("DISPLAY", "WAYLAND_DISPLAY")
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    done = run(program, "--epochs", "1", "--png", str(path), env={**env, "MPLBACKEND": "tkagg"})
    assert done.returncode == 0, done.stderr
    assert matplotlib.image.imread(path, format="png").shape == (480, 800, 4)


READ_AGAIN = """
import sys
import {module} as tf
import numpy as np
import digits

network = digits.Network(seed=7)
with np.load(sys.argv[1]) as saved:
    for name in saved:
        getattr(network, name).assign(saved[name])
    print(*saved)
images, labels = digits.load_digits(digits.DATA)
_, read_digits = digits.make_functions(network, digits.Adam(network.parameters, 0.0))
print(np.mean(read_digits(tf.constant(images[::5])).numpy() == labels[::5]))
"""


def test_saved_parameters_read_as_many_digits_in_another_process(
    program: Path, two_epochs: tuple[str, dict[str, Any], bytes]
) -> None:
    again = program.with_name("read_again.py")
    again.write_text(READ_AGAIN.format(module=MODULE))
    done = run(again, str(program.with_name("parameters.npz")))
    assert done.returncode == 0, done.stderr
    names, accuracy = done.stdout.splitlines()
    layers = ("conv1", "conv2", "dense1", "dense2")
    assert names.split() == [f"{layer}{suffix}" for layer in layers for suffix in ("", "_bias")]
    assert float(accuracy) == two_epochs[1]["test_accuracy"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--epochs", "0"), "argument --epochs: must be at least 1, not 0"),
        (("--batch", "many"), "argument --batch: invalid positive value: 'many'"),
    ],
)
def test_bad_argument_is_refused_with_its_name(
    program: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = run(program, *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_file_that_holds_no_digits_is_refused(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "examples"
    shutil.copytree(program.parent, folder)
    (folder / "data" / "digits.bin").write_bytes(b"GIF89a" + bytes(100))
    done = run(folder / "digits.py", "--epochs", "1")
    assert done.returncode == 1
    assert "is not a file of digits" in done.stderr
