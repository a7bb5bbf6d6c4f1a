"""Special functions.

Source: tf.math.special.
"""

from graven import _public

_public.complete(__name__)
