"""Random numbers.

Source: tf.random.
"""
# Printed by tools/stubs.py.

from graven import _random_ops
from graven._functions import set_seed as set_seed
from graven._functions import uniform as uniform
from graven._random_ops import Algorithm as Algorithm
from graven._random_ops import Generator as Generator
from graven._random_ops import create_rng_state as create_rng_state
from graven._random_ops import get_global_generator as get_global_generator
from graven._random_ops import normal as normal
from graven._random_ops import set_global_generator as set_global_generator
from graven._random_ops import shuffle as shuffle
from graven._random_ops import stateless_normal as stateless_normal
from graven._random_ops import stateless_truncated_normal as stateless_truncated_normal
from graven._random_ops import stateless_uniform as stateless_uniform
from graven._random_ops import truncated_normal as truncated_normal

fold_in = _random_ops.stateless_fold_in
split = _random_ops.stateless_split
