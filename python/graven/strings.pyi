"""Functions of strings.

Source: tf.strings.
"""
# Printed by tools/stubs.py.

from graven._op_functions import join as join
