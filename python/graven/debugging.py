"""Checks of values when a program runs.

Source: tf.debugging.
"""

from graven import _public
from graven._debug_ops import Assert as Assert
from graven._debug_ops import assert_proper_iterable as assert_proper_iterable
from graven._debug_ops import assert_same_float_dtype as assert_same_float_dtype
from graven._debug_ops import assert_shapes as assert_shapes

_public.complete(__name__)
