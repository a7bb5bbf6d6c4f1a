"""Functions of neural networks.

Source: tf.nn.
"""

from graven import _public

_public.complete(__name__)
