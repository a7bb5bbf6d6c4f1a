"""Functions of strings.

Source: tf.strings.
"""

from graven import _public

__getattr__, __dir__ = _public.names_of(__name__)
