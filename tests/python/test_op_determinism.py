"""tf.config.experimental.enable_op_determinism, which holds to the end of a process."""

import subprocess
import sys

PROGRAM = """
import graven as tf

tf.config.experimental.enable_op_determinism()
shape = tf.constant([2, 2])
unseeded = [
    lambda: tf.random.uniform([2]),
    lambda: tf.random.normal([2]),
    lambda: tf.random.shuffle(tf.range(3)),
    lambda: tf.random.categorical([[0.0, 1.0]], 2),
    lambda: tf.random.gamma([2], 1.0),
    lambda: tf.random.poisson([2], 1.0),
    lambda: tf.nn.dropout(tf.ones([3]), 0.5),
]
for draw in unseeded:
    for call in (draw, tf.function(draw)):
        try:
            call()
        except RuntimeError as error:
            assert "require a seed to be set when determinism is enabled" in str(error), error
        else:
            raise AssertionError("numbers that nobody foresees")
for make in (tf.random.Generator.from_non_deterministic_state, tf.random.get_global_generator):
    try:
        make()
    except RuntimeError as error:
        assert "cannot be called" in str(error), error
    else:
        raise AssertionError("a state that nobody foresees")
tf.random.uniform([2], seed=3)
tf.random.stateless_uniform([2], [1, 2])
generator = tf.random.Generator.from_seed(1)
tf.random.set_global_generator(generator)
assert tf.random.get_global_generator() is generator
tf.random.set_seed(1)
for draw in unseeded:
    draw(), tf.function(draw)()
"""


def test_random_numbers_need_a_seed_then() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=300)
