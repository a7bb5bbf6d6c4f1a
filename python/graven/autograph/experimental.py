"""Control over what AutoGraph converts (tf.autograph.experimental)."""

import functools as _functools
from collections.abc import Callable as _Callable
from typing import Any as _Any

from graven import _public
from graven.autograph._loop_options import UNSPECIFIED as _UNSPECIFIED
from graven.autograph._options import Feature as Feature
from graven.autograph._status import Status as _Status
from graven.autograph._status import StatusScope as _StatusScope


def do_not_convert(func: _Callable[..., _Any] | None = None) -> _Any:
    """Makes a function run as it is, and what it calls, too.

    Args:
      func: The function; None returns a decorator.

    Returns:
      A function that calls it, or a decorator.

    Source: tf.autograph.experimental.do_not_convert.
    """
    if func is None:
        return do_not_convert
    from graven.autograph._operators.allow_list import keep_as_is  # Takes milliseconds.

    function = func

    def unconverted(*args: _Any, **kwargs: _Any) -> _Any:
        with _StatusScope(_Status.DISABLED):
            return function(*args, **kwargs)

    _functools.update_wrapper(unconverted, function)
    keep_as_is(unconverted)
    return unconverted


def set_loop_options(
    parallel_iterations: _Any = _UNSPECIFIED,
    swap_memory: _Any = _UNSPECIFIED,
    maximum_iterations: _Any = _UNSPECIFIED,
    shape_invariants: _Any = _UNSPECIFIED,
    recompute: _Any = _UNSPECIFIED,
) -> None:
    """Says how a loop on tensors is to run; stands first in the body of the loop.

    In a converted function the call is taken out of the loop. Called anywhere else, and in loops
    that run while the function is traced, it does nothing.

    Args:
      parallel_iterations: As in tf.while_loop.
      swap_memory: As in tf.while_loop.
      maximum_iterations: After how many iterations the loop ends.
      shape_invariants: A list of pairs: a variable, and a tf.TensorShape that includes all shapes
        that it has in the loop.
      recompute: As in tf.while_loop: k saves memory of gradients, the loop keeps its variables
        every k iterations. TensorFlow does not have it.

    Source: tf.autograph.experimental.set_loop_options.
    """
    del parallel_iterations, swap_memory, maximum_iterations, shape_invariants, recompute


_public.complete(__name__)
