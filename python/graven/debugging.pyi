"""Checks of values when a program runs.

Source: tf.debugging.
"""
# Printed by tools/stubs.py.

from graven._debug_ops import Assert as Assert
from graven._debug_ops import assert_all_finite as assert_all_finite
from graven._debug_ops import assert_equal as assert_equal
from graven._debug_ops import assert_greater as assert_greater
from graven._debug_ops import assert_greater_equal as assert_greater_equal
from graven._debug_ops import assert_integer as assert_integer
from graven._debug_ops import assert_less as assert_less
from graven._debug_ops import assert_less_equal as assert_less_equal
from graven._debug_ops import assert_near as assert_near
from graven._debug_ops import assert_negative as assert_negative
from graven._debug_ops import assert_non_negative as assert_non_negative
from graven._debug_ops import assert_non_positive as assert_non_positive
from graven._debug_ops import assert_none_equal as assert_none_equal
from graven._debug_ops import assert_positive as assert_positive
from graven._debug_ops import assert_proper_iterable as assert_proper_iterable
from graven._debug_ops import assert_rank as assert_rank
from graven._debug_ops import assert_rank_at_least as assert_rank_at_least
from graven._debug_ops import assert_rank_in as assert_rank_in
from graven._debug_ops import assert_same_float_dtype as assert_same_float_dtype
from graven._debug_ops import assert_scalar as assert_scalar
from graven._debug_ops import assert_shapes as assert_shapes
from graven._debug_ops import assert_type as assert_type
from graven._functions import check_numerics as check_numerics
