"""Functions of numbers.

Source: tf.math.
"""

from graven import _public
from graven.math import special as special

_public.complete(__name__)
