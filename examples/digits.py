"""Trains a small convolutional network to read handwritten digits.

It is an ordinary program for `tf.function`: with `import tensorflow as tf` in place of the one
import below it runs there too. The initial weights and the order of the images come from seeded
random numbers, which are the same in both. tqdm shows its progress, matplotlib draws its curve.

    python digits.py --png curve.png --npz parameters.npz
"""

import argparse
import json
import math
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import graven as tf
import numpy as np
import numpy.typing as npt

DATA = Path(__file__).resolve().parent / "data" / "digits.bin"
CLASSES = 10

# Adam's constants: decay of the two running means, and what keeps a division from zero.
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-7


def load_digits(path: Path) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """Reads the file that data/README.md describes.

    Returns:
      Images, float32 [n, height, width, 1], from 0 for paper to 1 for ink; labels, int32 [n].
    """
    content = path.read_bytes()
    if content[:8] != b"DIGITS01":
        raise ValueError(f"{path} is not a file of digits: it begins with {content[:8]!r}")
    n, height, width, _ = (int(number) for number in np.frombuffer(content, "<u4", 4, offset=8))
    pixels = np.frombuffer(content, np.uint8, n * height * width, offset=24)
    labels = np.frombuffer(content, np.uint8, n, offset=24 + pixels.size)
    images = pixels.reshape(n, height, width, 1).astype(np.float32) / np.float32(16.0)
    return images, labels.astype(np.int32)


def shuffled_order(n: int, seed: int, epoch: int) -> npt.NDArray[np.int64]:
    """Returns 0 .. n-1 in the order that sorts n random numbers; equal ones keep their order."""
    keys = tf.random.stateless_uniform([n], seed=[seed, 1000 + epoch])
    return np.argsort(keys.numpy(), kind="stable")


class Network:
    """Two convolutions, each followed by pooling, and two dense layers."""

    def __init__(self, seed: int) -> None:
        self.conv1, self.conv1_bias = self._layer([3, 3, 1, 32], 9, [seed, 1])
        self.conv2, self.conv2_bias = self._layer([3, 3, 32, 32], 9 * 32, [seed, 2])
        self.dense1, self.dense1_bias = self._layer([2 * 2 * 32, 64], 2 * 2 * 32, [seed, 3])
        self.dense2, self.dense2_bias = self._layer([64, CLASSES], 64, [seed, 4])
        self.parameters: list[tf.Variable] = [
            self.conv1, self.conv1_bias, self.conv2, self.conv2_bias,
            self.dense1, self.dense1_bias, self.dense2, self.dense2_bias,
        ]  # fmt: skip

    @staticmethod
    def _layer(shape: list[int], fan_in: int, seed: list[int]) -> tuple[tf.Variable, tf.Variable]:
        """Makes weights, uniform within sqrt(6 / fan_in) as He et al. advise, and a zero bias."""
        limit = math.sqrt(6.0 / fan_in)
        weights = tf.random.stateless_uniform(shape, seed=seed, minval=-limit, maxval=limit)
        return tf.Variable(weights), tf.Variable(tf.zeros([shape[-1]]))

    def __call__(self, images: tf.Tensor) -> tf.Tensor:
        """Returns the logits, float32 [n, 10], of images, float32 [n, 8, 8, 1]."""
        x = tf.nn.conv2d(images, self.conv1, strides=1, padding="SAME")
        x = tf.nn.relu(tf.nn.bias_add(x, self.conv1_bias))
        x = tf.nn.max_pool2d(x, ksize=2, strides=2, padding="VALID")
        x = tf.nn.conv2d(x, self.conv2, strides=1, padding="SAME")
        x = tf.nn.relu(tf.nn.bias_add(x, self.conv2_bias))
        x = tf.nn.max_pool2d(x, ksize=2, strides=2, padding="VALID")
        x = tf.reshape(x, [-1, 2 * 2 * 32])
        x = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, self.dense1), self.dense1_bias))
        return tf.nn.bias_add(tf.matmul(x, self.dense2), self.dense2_bias)

    def save(self, path: Path) -> None:
        """Writes each parameter under the name of its attribute, for numpy.load to read."""
        arrays: dict[str, Any] = {
            name: value.numpy()
            for name, value in vars(self).items()
            if isinstance(value, tf.Variable)
        }
        with path.open("wb") as file:
            np.savez(file, **arrays)


class Adam:
    """The optimiser of Kingma and Ba (2015), algorithm 1, written out."""

    def __init__(self, parameters: list[tf.Variable], rate: float) -> None:
        self.parameters = parameters
        self.rate = rate
        self.means = [tf.Variable(tf.zeros_like(p)) for p in parameters]
        self.squares = [tf.Variable(tf.zeros_like(p)) for p in parameters]
        self.power1 = tf.Variable(1.0)  # BETA1 to the number of steps
        self.power2 = tf.Variable(1.0)

    def apply(self, gradients: list[tf.Tensor]) -> None:
        """Moves each parameter one step against its gradient."""
        self.power1.assign(self.power1 * BETA1)
        self.power2.assign(self.power2 * BETA2)
        for p, m, v, g in zip(self.parameters, self.means, self.squares, gradients, strict=True):
            m.assign(m * BETA1 + g * (1.0 - BETA1))
            v.assign(v * BETA2 + g * g * (1.0 - BETA2))
            mean = m / (1.0 - self.power1)
            square = v / (1.0 - self.power2)
            p.assign_sub(mean * self.rate / (tf.sqrt(square) + EPSILON))


def make_functions(network: Network, adam: Adam) -> tuple[Any, Any]:
    """Returns the two functions that are traced: one training step, and reading digits."""

    @tf.function
    def train_step(images: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the mean loss of the batch, and how many of its digits were read right."""
        with tf.GradientTape() as tape:
            logits = network(images)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        adam.apply(tape.gradient(loss, network.parameters))
        right = tf.equal(tf.argmax(logits, axis=1, output_type=tf.int32), labels)
        return loss, tf.reduce_sum(tf.cast(right, tf.int32))

    @tf.function
    def read_digits(images: tf.Tensor) -> tf.Tensor:
        return tf.argmax(network(images), axis=1, output_type=tf.int32)

    return train_step, read_digits


def print_traces(functions: Sequence[Any]) -> None:
    """Prints what each function's cache holds; TensorFlow cannot tell, and prints nothing."""
    if not all(hasattr(function, "cache_info") for function in functions):
        return
    print(f"\ntraces\n  {'function':12} {'hits':>8} {'trace ms':>10} {'bytes':>10}")
    for function in functions:
        for trace in function.cache_info().signatures:
            counts = f"{trace.hits:8} {trace.trace_ms:10.2f} {trace.bytes:10}"
            print(f"  {function.__name__:12} {counts}")
            indent = " " * 6
            print(
                textwrap.fill(
                    trace.signature,
                    100,
                    initial_indent=indent,
                    subsequent_indent=indent,
                    break_on_hyphens=False,
                )
            )


def print_confusion(labels: npt.NDArray[np.int32], read: npt.NDArray[np.int32]) -> None:
    """Prints how often each digit (a row) was read as which digit (a column)."""
    counts = np.zeros((CLASSES, CLASSES), np.int64)
    np.add.at(counts, (labels, read), 1)
    print("\nconfusion matrix (rows: the digit, columns: what it was read as)")
    print("     " + "".join(f"{digit:4}" for digit in range(CLASSES)))
    for digit, row in enumerate(counts):
        print(f"  {digit} |" + "".join(f"{count:4}" if count else "   ." for count in row))


def draw_learning_curve(path: Path, losses: Sequence[float], steps_per_epoch: int) -> None:
    """Draws the loss of each step, and its mean over the steps of an epoch, on a log scale."""
    from matplotlib.figure import Figure  # Unlike pyplot it never looks for a display.

    means = np.reshape(losses, (-1, steps_per_epoch)).mean(axis=1)
    middles = (np.arange(len(means)) + 0.5) * steps_per_epoch + 0.5
    figure = Figure(figsize=(8.0, 4.8), layout="constrained")
    axes = figure.subplots()
    axes.set(title="Training loss", xlabel="step", ylabel="mean loss of the batch")
    axes.set_yscale("log", nonpositive="mask")
    axes.plot(np.arange(1, len(losses) + 1), losses, color="lightsteelblue", label="step")
    axes.plot(
        middles, means, color="tab:blue", linewidth=2.5, marker="o", label="mean over an epoch"
    )
    axes.grid(axis="y", alpha=0.4)
    axes.legend()
    figure.savefig(path, format="png")


def positive(text: str) -> int:
    """Reads a command-line argument that must be a whole number above zero."""
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {number}")
    return number


def main() -> None:
    """Trains on four fifths of the images, tests on the others, and reports."""
    from tqdm import tqdm  # Here, so that other programs import the network without it.

    parser = argparse.ArgumentParser(description="Train a network that reads handwritten digits.")
    parser.add_argument("--epochs", type=positive, default=20, help="passes over the images")
    parser.add_argument("--batch", type=positive, default=32, help="images in a step")
    parser.add_argument("--rate", type=float, default=0.0015, help="Adam's learning rate")
    parser.add_argument("--seed", type=int, default=1, help="of the weights and of the order")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write losses and accuracy")
    parser.add_argument("--npz", type=Path, metavar="PATH", help="save the trained parameters")
    parser.add_argument("--png", type=Path, metavar="PATH", help="draw the learning curve")
    options = parser.parse_args()

    images, labels = load_digits(DATA)
    is_test = np.arange(len(labels)) % 5 == 0
    test_images, test_labels = tf.constant(images[is_test]), labels[is_test]
    images, labels = images[~is_test], labels[~is_test]

    network = Network(options.seed)
    train_step, read_digits = make_functions(network, Adam(network.parameters, options.rate))

    losses: list[float] = []
    begin = time.perf_counter()
    # The bar is on standard error, and only where that is a terminal.
    with tqdm(total=options.epochs * len(labels), unit=" images", leave=False, disable=None) as bar:
        for epoch in range(1, options.epochs + 1):
            order = shuffled_order(len(labels), options.seed, epoch)
            epoch_begin, total_loss, total_right = time.perf_counter(), 0.0, 0
            for start in range(0, len(order), options.batch):
                batch = order[start : start + options.batch]
                loss, right = train_step(tf.constant(images[batch]), tf.constant(labels[batch]))
                # The shortest text that reads back to the same float32 goes into the JSON file.
                losses.append(float(str(loss.numpy())))
                total_loss += losses[-1] * len(batch)
                total_right += int(right.numpy())
                bar.update(len(batch))
            mean_loss, accuracy = total_loss / len(order), 100 * total_right / len(order)
            speed = len(order) / (time.perf_counter() - epoch_begin)
            line = f"epoch {epoch:3}/{options.epochs}  loss {mean_loss:.4f}"
            with bar.external_write_mode():  # The bar makes room for a line.
                print(f"{line}  accuracy {accuracy:6.2f} %  {speed:7.0f} images/s", flush=True)
    seconds = time.perf_counter() - begin

    read = read_digits(test_images).numpy()
    test_accuracy = float(np.mean(read == test_labels))
    print(f"\n{len(losses)} steps in {seconds:.2f} s")
    print(f"test accuracy {100 * test_accuracy:.2f} % of {len(test_labels)} images")
    print_traces([train_step, read_digits])
    print_confusion(test_labels, read)

    if options.json:
        traces = [f.experimental_get_tracing_count() for f in (train_step, read_digits)]
        result = {"losses": losses, "test_accuracy": test_accuracy, "seconds": seconds}
        options.json.write_text(json.dumps({**result, "traces": sum(traces)}) + "\n")
    if options.npz:
        network.save(options.npz)
        print(f"\nparameters saved to {options.npz}")
    if options.png:
        draw_learning_curve(options.png, losses, math.ceil(len(labels) / options.batch))
        print(f"\nlearning curve drawn to {options.png}")


if __name__ == "__main__":
    main()
