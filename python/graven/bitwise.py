"""Functions of bits.

Source: tf.bitwise.
"""

from graven import _public

_public.complete(__name__)
