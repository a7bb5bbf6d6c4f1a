"""Linear algebra.

Source: tf.linalg.
"""

from graven import _public

_public.complete(__name__)
