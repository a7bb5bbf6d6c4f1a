"""Files.

Source: tf.io.
"""

from graven import _public

_public.complete(__name__)
