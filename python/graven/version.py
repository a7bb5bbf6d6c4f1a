"""Which Graven this is.

Source: tf.version.
"""

VERSION = "0.1.0"
