"""Functions of neural networks.

Source: tf.nn.
"""

from graven import _public
from graven.nn import experimental as experimental

_public.complete(__name__)
