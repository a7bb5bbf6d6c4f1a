"""Functions of neural networks, by names that TensorFlow calls experimental.

Source: tf.nn.experimental.
"""

from graven import _public

_public.complete(__name__)
