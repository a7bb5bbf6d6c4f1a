"""Functions of numbers.

Source: tf.math.
"""

from graven import _public

_public.complete(__name__)
