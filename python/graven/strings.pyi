"""Functions of strings.

Source: tf.strings.
"""
# Printed by tools/stubs.py.

from graven._functions import join as join
