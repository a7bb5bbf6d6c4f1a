"""Random numbers, by names that TensorFlow calls experimental.

Source: tf.random.experimental.
"""

from graven import _public
from graven._random_ops import Algorithm as Algorithm
from graven._random_ops import Generator as Generator
from graven._random_ops import create_rng_state as create_rng_state
from graven._random_ops import get_global_generator as get_global_generator
from graven._random_ops import set_global_generator as set_global_generator

_public.complete(__name__)
