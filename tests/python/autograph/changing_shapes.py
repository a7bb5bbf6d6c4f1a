"""Programs over a vector with loops on tensors, whose variables change their shapes in them.

Plain Python gives what each means. TensorFlow refuses them all.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any


def programs(tf: Any) -> dict[str, Callable[[Any], Any]]:
    """Returns the programs by name, over a system.

    Args:
      tf: graven or tensorflow.
    """

    def first_of(x: Any) -> Any:
        return tf.reshape(x[0], [1])

    def doubled(x: Any) -> Any:
        y, n = first_of(x), tf.constant(3)
        while n > 0:
            y = tf.concat([y, y * 2], 0)
            n -= 1
        return y

    def over_rows(x: Any) -> Any:
        y = tf.zeros([0])
        for e in x:
            y = tf.concat([y, [e, e * e]], 0)
        return y

    def over_a_range(x: Any) -> Any:
        y = tf.ones([1, 2])
        for i in tf.range(len(x)):
            y = tf.concat([y, y[-1:] * x[i]], 0)
        return y

    def shrunk(x: Any) -> Any:
        y = tf.stack([x[0], x[1], x[2], x[0]])
        while tf.size(y) > 1:
            y = y[1:] * y[0]
        return y

    def rank(x: Any) -> Any:
        y = x[0] * x[1]
        for _ in tf.range(2):
            y = tf.stack([y, y + x[2]])
        return y

    def while_size(x: Any) -> Any:
        y = first_of(x)
        while tf.size(y) < 5:
            y = tf.concat([y, x[:2]], 0)
        return y

    def tuples(x: Any) -> Any:
        pair = first_of(x), (tf.zeros([0]), 0.5)
        for e in x:
            y, (z, k) = pair
            pair = tf.concat([y, [e * k]], 0), (tf.concat([z, y[:1]], 0), k + 1.0)
        return tf.concat([pair[0], pair[1][0] * pair[1][1]], 0)

    def dicts(x: Any) -> Any:
        d = {"y": first_of(x), "n": tf.constant(0)}
        while d["n"] < 3:
            d["y"] = tf.concat([d["y"], d["y"] * x[1]], 0)
            d["n"] += 1
        return d["y"]

    def lists_of_known_length(x: Any) -> Any:
        ys = [first_of(x), first_of(x) * 2]
        for e in x:
            ys[0] = tf.concat([ys[0], ys[1] * e], 0)
        return ys[0]

    def attributes(x: Any) -> Any:
        box = SimpleNamespace(y=first_of(x), inner=SimpleNamespace(z=tf.zeros([0, 1])))
        for e in x:
            box.y = tf.concat([box.y, [e]], 0)
            box.inner.z = tf.concat([box.inner.z, tf.reshape(e * e, [1, 1])], 0)
        return box.y[1:] + box.inner.z[:, 0]

    def nested(x: Any) -> Any:
        y = first_of(x)
        z = y
        for e in x:
            for g in x:
                if g <= e:
                    y = tf.concat([y, [g * e]], 0)
            z = y[1:]
        return z

    def inner_starts_anew(x: Any) -> Any:
        total = tf.zeros([])
        for e in x:
            y = first_of(x)
            for _ in tf.range(2):
                y = tf.concat([y, y * e], 0)
            total += tf.reduce_sum(y)
        return total

    def handed_on(x: Any) -> Any:
        a = b = c = first_of(x)
        for e in x:
            c = b
            b = a
            a = tf.concat([a, a * e], 0)
        return tf.concat([a, b, c], 0)

    def in_a_branch(x: Any) -> Any:
        y = first_of(x)
        for e in x:
            if e > 1.5:
                y = tf.concat([y, [e]], 0)
            elif e > 1.1:
                y = y[:1] * e
        return y

    def left_early(x: Any) -> Any:
        y = first_of(x)
        for e in x:
            if e < 1.1:
                continue
            y = tf.concat([y, [e]], 0)
            if e > 3:
                break
        else:
            y = y * 3
        return y

    def returned_early(x: Any) -> Any:
        y = first_of(x)
        for e in x:
            y = tf.concat([y, y * e], 0)
            if tf.size(y) > 3:
                return y
        return y[:1]

    def while_true(x: Any) -> Any:
        y = first_of(x)
        while True:
            y = tf.concat([y, y * x[1]], 0)
            if tf.size(y) > 6:
                break
        return y

    def bound_in_the_loop(x: Any) -> Any:
        y = first_of(x)
        for e in x:
            z = y * e
            y = tf.concat([y, z], 0)
        return z

    def none_at_first(x: Any) -> Any:
        y = None
        for e in x:
            y = tf.reshape(e, [1]) if y is None else tf.concat([y, y * e], 0)
        return y

    def none_on_some_paths(x: Any) -> Any:
        y = None
        for e in x:
            if e > 1.1:
                y = tf.reshape(e, [1]) if y is None else tf.concat([y, [e]], 0)
        if y is None:
            return first_of(x)
        return y

    def beside_a_growing_list(x: Any) -> Any:
        y, sums, parts = first_of(x), [], []
        for e in x:
            sums.append(tf.reduce_sum(y))
            parts.append(y[:1])
            y = tf.concat([y, [e]], 0)
        return tf.concat([y, tf.stack(sums), tf.concat(parts, 0)], 0)

    def in_a_helper(x: Any) -> Any:
        def grown(y: Any, n: Any) -> Any:
            while n > 0:
                y = tf.concat([y, y + 1], 0)
                n -= 1
            return y

        return grown(grown(first_of(x), tf.constant(1)), tf.constant(2))

    def in_a_function(x: Any) -> Any:
        longer = tf.function(lambda y, e: tf.concat([y, y * e], 0))
        y = first_of(x)
        for e in x:
            y = longer(y, e)
        return y

    def one_of_two(x: Any) -> Any:
        y, z = first_of(x), first_of(x)
        for e in x:
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(y, tf.TensorShape([None]))]
            )
            y = tf.concat([y, [e]], 0)
            z = tf.concat([z, y], 0)
        return z

    return {name: f for name, f in locals().items() if name not in ("tf", "first_of")}


# What the programs need of their vectors: three elements or more.
VECTORS = ([1.0, 2.0, 3.0], [2.5, 0.5, 1.0, 4.0, 1.25])
