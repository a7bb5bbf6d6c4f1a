"""Functions of strings.

Source: tf.strings.
"""

from graven._public import names_of

__getattr__, __dir__ = names_of(__name__)
