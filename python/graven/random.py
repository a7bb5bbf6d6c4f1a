"""Random numbers.

Source: tf.random.
"""

from graven import _public
from graven._random_ops import Algorithm as Algorithm
from graven._random_ops import Generator as Generator
from graven._random_ops import create_rng_state as create_rng_state
from graven._random_ops import get_global_generator as get_global_generator
from graven._random_ops import normal as normal
from graven._random_ops import set_global_generator as set_global_generator
from graven._random_ops import shuffle as shuffle
from graven._random_ops import stateless_fold_in as fold_in  # noqa: F401
from graven._random_ops import stateless_normal as stateless_normal
from graven._random_ops import stateless_split as split  # noqa: F401
from graven._random_ops import stateless_truncated_normal as stateless_truncated_normal
from graven._random_ops import stateless_uniform as stateless_uniform
from graven._random_ops import truncated_normal as truncated_normal

_public.complete(__name__)
