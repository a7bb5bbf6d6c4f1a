"""Programs over a vector with names that are None on some paths of staged statements.

Plain Python gives what each means. TensorFlow refuses them all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def programs(tf: Any) -> dict[str, Callable[[Any], Any]]:
    """Returns the programs by name, over a system.

    Args:
      tf: graven or tensorflow.
    """

    def compared(x: Any) -> Any:
        p = None
        if x[0] > 0:
            p = x * 2
        if p is not None:
            x = x + p
        return x

    def compared_with_else(x: Any) -> Any:
        p = None
        if x[0] < 0:
            p = x * 2
        if p is None:  # noqa: SIM108
            x = x - 1
        else:
            x = x + p
        return x

    def filled_in(x: Any) -> Any:
        p = None
        if x[0] > 0:
            p = x * 2
        if p is None:
            p = x * 10
        return p

    def emptied(x: Any) -> Any:
        p = x
        if x[0] > 0:
            p = None
        return x * 3 if p is None else p

    def used_where_it_is_there(x: Any) -> Any:
        p: Any = None
        if x[0] > -10:
            p = x * 2
        return tf.stack([p, x + p, p * p - 1, tf.abs(p), -p], axis=p.shape.rank)

    def of_a_loop(x: Any) -> Any:
        best = None
        for e in x:
            if e > 1:
                best = e if best is None else tf.maximum(best, e)
        if best is None:
            return x[0] * 0
        return best

    def found_first(x: Any) -> Any:
        found = None
        for e in x:
            if e > 1.5:
                found = e
                break
        return tf.constant(-1.0) if found is None else found * e

    def set_and_unset(x: Any) -> Any:
        p, i = None, 0
        while i < len(x):
            if p is None:
                if x[i] > 1:
                    p = x[i]
            else:
                p = None
            i += 1
        return x[0] if p is None else p

    def a_structure(x: Any) -> Any:
        p: Any = None
        if x[0] > 0:
            p = (x, [x * 2])
        if p is not None:
            a, (b,) = p
            x = a + b
        return x

    def an_expression(x: Any) -> Any:
        p = x * 3 if x[0] > 0 else None
        if p is not None and p[0] > 0.5:
            return p
        return x * 0.5

    def an_argument(x: Any) -> Any:
        def added(p: Any, y: Any) -> Any:
            if p is None:
                return y
            return p * y

        p = None
        if x[0] > 0:
            p = x * 2
        return added(p, x)

    def two(x: Any) -> Any:
        p = q = None
        if x[0] > 0:
            p = x
        else:
            q = x * 2
        if p is None or q is None:
            x = x + 1
        if not (p is None):  # noqa: E714
            x = x + p
        return x if q is None else x - q

    def nested(x: Any) -> Any:
        p = None
        if x[0] > 0:
            if x[1] > 1:
                p = x[1] * 2
        else:
            p = x[2]
        total = x[0]
        for e in x:
            if p is not None:
                total = total + p * e
        return total

    return {name: f for name, f in locals().items() if name != "tf"}


VECTORS = ([1.0, 2.0, 3.0], [-1.0, -2.0, 0.5], [0.5, 0.75, 0.25])
