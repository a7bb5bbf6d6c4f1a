"""Functions of bits.

Source: tf.bitwise.
"""
# Printed by tools/stubs.py.

from graven._functions import bitwise_and as bitwise_and
from graven._functions import bitwise_or as bitwise_or
from graven._functions import bitwise_xor as bitwise_xor
from graven._functions import invert as invert
from graven._functions import left_shift as left_shift
from graven._functions import right_shift as right_shift
