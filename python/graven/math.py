"""Functions of numbers.

Source: tf.math.
"""

from graven import _public
from graven._nn_ops import log_softmax as log_softmax
from graven._nn_ops import softmax as softmax
from graven._nn_ops import zero_fraction as zero_fraction

_public.complete(__name__)
