"""Functions of strings.

Source: tf.strings.
"""

from graven import _public

_public.complete(__name__)
