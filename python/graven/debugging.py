"""Checks of values when a program runs, and what tracebacks show.

Source: tf.debugging.
"""

from graven import _public
from graven._debug_ops import Assert as Assert
from graven._debug_ops import assert_proper_iterable as assert_proper_iterable
from graven._debug_ops import assert_same_float_dtype as assert_same_float_dtype
from graven._debug_ops import assert_shapes as assert_shapes
from graven._debug_ops import disable_check_numerics as disable_check_numerics
from graven._debug_ops import enable_check_numerics as enable_check_numerics
from graven._tracebacks import disable_traceback_filtering as disable_traceback_filtering
from graven._tracebacks import enable_traceback_filtering as enable_traceback_filtering
from graven._tracebacks import is_traceback_filtering_enabled as is_traceback_filtering_enabled

_public.complete(__name__)
