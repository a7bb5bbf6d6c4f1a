"""Finds the likeliest words with a given beginning, by a beam search that is a plain `for`.

The chance of a letter depends on the two before it, as counted in a page of a book. It is an
ordinary program for `tf.function`: with `import tensorflow as tf` in place of the one import below
it runs there too.

    python beam_search.py --begin wo --width 8
"""

import argparse
from pathlib import Path
from typing import Any

import graven as tf
import numpy as np
import numpy.typing as npt

DATA = Path(__file__).resolve().parent / "data" / "alice.txt"
LETTERS = " abcdefghijklmnopqrstuvwxyz"
END = 0  # the space, which ends a word
MOST_LETTERS = 16


def load_chances(path: Path, smoothing: float = 1e-3) -> npt.NDArray[np.float32]:
    """Counts the letters that follow each two of a text.

    Returns:
      The logarithms of their chances, [27, 27, 27]: two letters, then the one that follows.
    """
    text = "".join(c if c in LETTERS else " " for c in path.read_text(encoding="utf-8").lower())
    numbers = [LETTERS.index(letter) for letter in "  ".join(["", *text.split(), ""])]
    counts = np.full([len(LETTERS)] * 3, smoothing, np.float32)
    np.add.at(counts, (numbers[:-2], numbers[1:-1], numbers[2:]), 1.0)
    chances: npt.NDArray[np.float32] = np.log(counts / counts.sum(axis=2, keepdims=True))
    return chances


@tf.function
def beam_search(chances: tf.Tensor, begin: tf.Tensor, width: tf.Tensor) -> Any:
    """Continues a beginning until the words of all beams have ended.

    Args:
      chances: Logarithms of chances, float32 [letters, letters, letters].
      begin: The last two letters of the beginning, int32 [2].
      width: How many beams are kept, an int32 scalar.

    Returns:
      The letters that follow, int32 [width, steps], filled up with spaces, and the logarithms of
      the chances of the beams, float32 [width]; the likeliest first.
    """
    letters = tf.shape(chances)[0]
    # At first all beams are alike: only the first one counts.
    scores = tf.where(tf.range(width) == 0, 0.0, float("-inf"))
    before = tf.fill([width], begin[0])
    last = tf.fill([width], begin[1])
    ended = tf.fill([width], False)
    parents = tf.TensorArray(tf.int32, size=0, dynamic_size=True, element_shape=[None])
    chosen = tf.TensorArray(tf.int32, size=0, dynamic_size=True, element_shape=[None])
    steps = 0
    for step in tf.range(MOST_LETTERS):
        if tf.reduce_all(ended):
            break
        following = tf.gather_nd(chances, tf.stack([before, last], axis=1))
        # A word that has ended goes on with spaces, at no cost.
        stays = tf.where(tf.range(letters) == END, 0.0, float("-inf"))
        following = tf.where(ended[:, tf.newaxis], stays, following)
        totals = tf.reshape(scores[:, tf.newaxis] + following, [-1])
        scores, places = tf.math.top_k(totals, k=width)
        parent, letter = places // letters, places % letters
        before, last = tf.gather(last, parent), letter
        ended = tf.logical_or(tf.gather(ended, parent), letter == END)
        parents = parents.write(step, parent)
        chosen = chosen.write(step, letter)
        steps += 1

    # Each beam is read from its end: which beam it came from, and with which letter.
    words = tf.TensorArray(tf.int32, size=steps, element_shape=[None])
    beam = tf.range(width)
    for step in tf.range(steps - 1, -1, -1):
        words = words.write(step, tf.gather(chosen.read(step), beam))
        beam = tf.gather(parents.read(step), beam)
    return tf.transpose(words.stack()), scores


def complete(begin: str, width: int) -> list[tuple[str, float]]:
    """Returns the likeliest words with a beginning, and the logarithms of their chances."""
    last_two = [LETTERS.index(letter) for letter in ("  " + begin)[-2:]]
    found, scores = beam_search(
        tf.constant(load_chances(DATA)), tf.constant(last_two), tf.constant(width)
    )
    endings = ["".join(LETTERS[i] for i in row).rstrip() for row in found.numpy()]
    return [(begin + ending, float(s)) for ending, s in zip(endings, scores.numpy(), strict=True)]


def main() -> None:
    """Prints the words that a beginning is likely to become."""
    parser = argparse.ArgumentParser(description="Find the likeliest words with a beginning.")
    parser.add_argument("--begin", default="wo", help="the letters that the words begin with")
    parser.add_argument("--width", type=int, default=8, help="how many beams are kept")
    options = parser.parse_args()
    if not set(options.begin) <= set(LETTERS[1:]):
        parser.error(f"argument --begin: must be of the letters a to z, not {options.begin!r}")
    if not 1 <= options.width <= len(LETTERS):
        parser.error(f"argument --width: must be from 1 to {len(LETTERS)}, not {options.width}")
    for word, score in complete(options.begin, options.width):
        print(f"{score:8.3f}  {word}")


if __name__ == "__main__":
    main()
