"""Trains a character model, an LSTM that is a plain `for` over the letters, on a page of a book.

It is an ordinary program for `tf.function`: with `import tensorflow as tf` in place of the one
import below it runs there too. Each batch has pieces of another length, and one trace serves all.

    python dynamic_rnn.py --steps 300 --begin "Alice was "
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import graven as tf
import numpy as np
import numpy.typing as npt

DATA = Path(__file__).resolve().parent / "data" / "alice.txt"
STATE = 96  # numbers in the state of the LSTM
BATCH = 16
LENGTHS = (16, 48)  # the shortest and the longest piece of text in training

# Adam's constants: decay of the two running means, and what keeps a division from zero.
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-7


def load_text(path: Path) -> tuple[str, npt.NDArray[np.int32]]:
    """Returns the letters that occur in a text, in order, and the text as their numbers."""
    text = " ".join(path.read_text(encoding="utf-8").lower().split())
    letters = "".join(sorted(set(text)))
    return letters, np.array([letters.index(letter) for letter in text], np.int32)


def uniform(shape: list[int], seed: list[int], limit: float) -> tf.Variable:
    """Makes a variable of seeded random numbers, which are the same in each run."""
    return tf.Variable(tf.random.stateless_uniform(shape, seed, minval=-limit, maxval=limit))


class Model(tf.Module):
    """An LSTM over letters (Hochreiter and Schmidhuber, 1997), and a dense layer."""

    def __init__(self, letters: int, seed: int) -> None:
        super().__init__()
        limit = STATE**-0.5
        self.embedding = uniform([letters, 4 * STATE], [seed, 1], limit)
        self.recurrent = uniform([STATE, 4 * STATE], [seed, 2], limit)
        self.bias = tf.Variable(tf.zeros([4 * STATE]))
        self.dense = uniform([STATE, letters], [seed, 3], limit)
        self.dense_bias = tf.Variable(tf.zeros([letters]))

    def step(self, letter: tf.Tensor, h: tf.Tensor, c: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the next state, twice [batch, STATE], after letters that are embedded."""
        gates = letter + tf.matmul(h, self.recurrent) + self.bias
        i, f, g, o = tf.split(gates, 4, axis=1)
        c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(g)
        return tf.sigmoid(o) * tf.tanh(c), c

    def logits(self, h: tf.Tensor) -> tf.Tensor:
        """Returns which letter comes next, [..., letters], for states [..., STATE]."""
        return tf.tensordot(h, self.dense, 1) + self.dense_bias

    def __call__(self, texts: tf.Tensor) -> tf.Tensor:
        """Returns the logits after each letter of texts, int32 [batch, length], time first."""
        letters = tf.gather(self.embedding, tf.transpose(texts))
        h = tf.zeros([tf.shape(texts)[0], STATE])
        c = tf.zeros([tf.shape(texts)[0], STATE])
        states = tf.TensorArray(tf.float32, size=tf.shape(texts)[1])
        for t in tf.range(tf.shape(texts)[1]):
            h, c = self.step(letters[t], h, c)
            states = states.write(t, h)
        return self.logits(states.stack())


class Adam:
    """The optimiser of Kingma and Ba (2015), algorithm 1, written out."""

    def __init__(self, parameters: Any, rate: float) -> None:
        self.parameters = parameters
        self.rate = rate
        self.means = [tf.Variable(tf.zeros_like(p)) for p in parameters]
        self.squares = [tf.Variable(tf.zeros_like(p)) for p in parameters]
        self.count = tf.Variable(0.0)

    def apply(self, gradients: Any) -> None:
        """Moves each parameter one step against its gradient."""
        count = self.count.assign_add(1.0)
        for p, m, v, g in zip(self.parameters, self.means, self.squares, gradients, strict=True):
            gradient = tf.convert_to_tensor(g)  # That of the embedding has but the rows in use.
            m.assign(m * BETA1 + gradient * (1.0 - BETA1))
            v.assign(v * BETA2 + gradient * gradient * (1.0 - BETA2))
            mean = m / (1.0 - tf.pow(BETA1, count))
            square = v / (1.0 - tf.pow(BETA2, count))
            p.assign_sub(mean * self.rate / (tf.sqrt(square) + EPSILON))


def make_functions(model: Model, adam: Adam) -> tuple[Any, Any]:
    """Returns the two functions that are traced: one training step, and writing text."""

    @tf.function(input_signature=[tf.TensorSpec([BATCH, None], tf.int32)])
    def train_step(texts: tf.Tensor) -> tf.Tensor:
        """Returns the mean loss of predicting each letter from those before it."""
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=tf.transpose(texts[:, 1:]), logits=model(texts[:, :-1])
            )
            loss = tf.reduce_mean(losses)
        adam.apply(tape.gradient(loss, model.trainable_variables))
        return loss

    @tf.function
    def write(begin: tf.Tensor, most: tf.Tensor, stop: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
        """Continues a text by `most` letters, or until it draws the letter `stop`."""
        h = tf.zeros([1, STATE])
        c = tf.zeros([1, STATE])
        text = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        letter = begin[0]
        for t in tf.range(tf.size(begin) + most):
            if t < tf.size(begin):
                letter = begin[t]
            else:
                chances = tf.cumsum(tf.nn.softmax(model.logits(h)[0] * 2.0))
                drawn = tf.random.stateless_uniform([], tf.stack([seed, t]))
                letter = tf.reduce_sum(tf.cast(chances[:-1] < drawn, tf.int32))
            text = text.write(t, letter)
            if t >= tf.size(begin) and letter == stop:
                break
            h, c = model.step(tf.gather(model.embedding, [letter]), h, c)
        letters: tf.Tensor = text.stack()
        return letters

    return train_step, write


def pieces(text: npt.NDArray[np.int32], seed: int, step: int) -> npt.NDArray[np.int32]:
    """Returns BATCH pieces of the text, of one length, for a step."""
    drawn = tf.random.stateless_uniform([BATCH + 1], [seed, 1000 + step]).numpy()
    length = LENGTHS[0] + int(drawn[0] * (LENGTHS[1] - LENGTHS[0] + 1))
    starts = (drawn[1:] * (len(text) - length)).astype(np.int64)
    found: npt.NDArray[np.int32] = text[starts[:, None] + np.arange(length)]
    return found


def main() -> None:
    """Trains, prints the loss as it falls, and lets the model write a sentence."""
    parser = argparse.ArgumentParser(description="Train a model of the letters of a text.")
    parser.add_argument("--steps", type=int, default=600, help="batches to train on")
    parser.add_argument("--rate", type=float, default=0.005, help="Adam's learning rate")
    parser.add_argument("--seed", type=int, default=1, help="of the weights and of the batches")
    parser.add_argument("--begin", default="alice was ", help="what the model is to continue")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the losses")
    options = parser.parse_args()

    letters, text = load_text(DATA)
    begin = options.begin.lower()
    if options.steps < 1:
        parser.error(f"argument --steps: must be at least 1, not {options.steps}")
    if not begin or not set(begin) <= set(letters):
        parser.error(f"argument --begin: must be of the letters {letters!r}, not {options.begin!r}")

    model = Model(len(letters), options.seed)
    train_step, write = make_functions(model, Adam(model.trainable_variables, options.rate))
    losses: list[float] = []
    start = time.perf_counter()
    for step in range(options.steps):
        losses.append(float(train_step(tf.constant(pieces(text, options.seed, step)))))
        if (step + 1) % 100 == 0:
            print(f"step {step + 1:4}  loss {np.mean(losses[-100:]):.3f}", flush=True)
    print(f"{options.steps} steps in {time.perf_counter() - start:.2f} s")

    numbers = tf.constant([letters.index(letter) for letter in begin])
    stop = tf.constant(letters.index("."))
    written = write(numbers, tf.constant(200), stop, tf.constant(options.seed))
    written_text = "".join(letters[i] for i in written.numpy())
    print(written_text)
    if options.json:
        traces = train_step.experimental_get_tracing_count()
        result = {"losses": losses, "text": written_text, "traces": traces}
        options.json.write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
