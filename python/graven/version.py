"""Which Graven this is.

Source: tf.version.
"""

from graven import _public

VERSION = "0.1.0"

_public.complete(__name__)
