"""Programs over a vector whose lists change their length in staged statements.

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

    def appended(x: Any) -> Any:
        out = []
        for e in x:
            out.append(e * 2)
        return tf.stack(out)

    def read(x: Any) -> Any:
        out = []
        for e in x:
            out.append(e * e)
        return tf.stack([out[0] + out[-1], tf.cast(len(out), tf.float32), out[len(out) - 2]])

    def after_a_number(x: Any) -> Any:
        out = [0]
        for e in x:
            out.append(e * 2)
        return tf.stack(out)

    def in_a_while(x: Any) -> Any:
        out, i = [x[0]], 0
        while i < len(x):
            if x[i] > 1.5:
                out.append(out[-1] * x[i])
            i += 1
        return tf.stack(out)

    def in_a_branch(x: Any) -> Any:
        out = [x[0]]
        if x[0] > 0:
            out.append(x[1])
        return tf.concat([out, x], 0)

    def in_both_branches(x: Any) -> Any:
        out = [x[0]]
        if x[0] > 0:
            out.append(x[1] * 2)
        else:
            out.append(x[2] * 3)
        first, second = out
        return first + second

    def added(x: Any) -> Any:
        out: list[Any] = []
        for e in x:
            out += [e, e * 2]
        return tf.stack(out)

    def bound_again(x: Any) -> Any:
        out: list[Any] = []
        for e in x:
            out = [e * 3] + out  # noqa: RUF005
        return tf.stack(out)

    def extended(x: Any) -> Any:
        out: list[Any] = []
        for e in x:
            out.extend([e, -e])
        out.reverse()
        out.insert(1, x[0] * 100)
        taken = out.pop(0)
        out += [x[1]]
        return tf.stack(out[1:]) + taken

    def joined(x: Any) -> Any:
        out = []
        for e in x:
            out.append(tf.stack([e, e + 1]))
        return tf.concat(out, 0) + tf.concat(out, axis=-1) * 2

    def stacked_behind(x: Any) -> Any:
        out = []
        for e in x:
            out.append(tf.stack([e, e + 1]))
        return tf.stack(out, axis=1) + tf.stack(out, -1) * tf.add_n(out)[:, None]

    def iterated(x: Any) -> Any:
        out = []
        for e in x:
            if e > 1:
                out.append(e * e)
        total = tf.constant(0.0)
        for v in out:
            total = total * 2 + v
        return total + sum(out)

    def inner(x: Any) -> Any:
        out = []
        for e in x:
            smaller = []
            for g in x:
                if g <= e:
                    smaller.append(g)
            out.append(tf.reduce_sum(tf.stack(smaller)))
        return tf.stack(out)

    def from_two_loops(x: Any) -> Any:
        out = []
        for e in x:
            for g in x:
                if g > e:
                    out.append(g - e)
        return tf.stack(out)

    def left_early(x: Any) -> Any:
        out = []
        for e in x:
            if e < 1.5:
                continue
            out.append(e)
            if e > 2:
                break
        else:
            out.append(x[0] * 10)
        return tf.stack(out)

    def returned_early(x: Any) -> Any:
        out = []
        for e in x:
            out.append(e)
            if e > 1.5:
                return tf.reduce_sum(out)
        return tf.stack(out)[0]

    def sliding_window(x: Any) -> Any:
        window = [x[0], x[0]]
        for e in x:
            window.append(e)
            window.pop(0)
        return window[0] * 10 + window[1]

    def stack_of_work(x: Any) -> Any:
        work, count = [x[0] * 3], tf.constant(0.0)
        while work:
            v = work.pop()
            if v > 0.5:
                work.append(v - 1)
                work.append(v - 2)
            count += v
        return count

    def running(x: Any) -> Any:
        out = [0.0]
        for e in x:
            out.append(out[-1] + e)
        return tf.stack(out)

    def item_set(x: Any) -> Any:
        out = [x[0]]
        for e in x:
            if e > 1:
                out[-1] = out[-1] + e
            out.append(e)
        out[1] = out[1] * 5
        return tf.stack(out)

    def pairs(x: Any) -> Any:
        out = []
        for i in tf.range(len(x)):
            out.append((x[i], i))
        total = tf.constant(0.0)
        for v, i in out:
            total += v * tf.cast(i, tf.float32)
        return total + out[1][0]

    def product(x: Any) -> Any:
        p, out = None, []
        for e in x:
            p = e if p is None else p * e
            out.append(p)
        return tf.stack(out) + p

    def made_in_a_helper(x: Any) -> Any:
        def doubled(values: Any) -> Any:
            out = []
            for v in values:
                out.append(v * 2)
            return out

        out = doubled(x)
        out.append(x[0])
        return tf.stack(out)

    def emptied(x: Any) -> Any:
        out, sums = [], []
        for e in x:
            out.append(e)
            if e > 1.5:
                sums.append(tf.reduce_sum(out))
                out.clear()
        return tf.stack(sums)

    def two(x: Any) -> Any:
        small, large = [], []
        for e in x:
            if e > 1.5:
                large.append(e)
            else:
                small.append(e)
        both = small + large
        return tf.stack(both) * tf.cast(len(large), tf.float32)

    def copied(x: Any) -> Any:
        out = []
        for e in x:
            out.append(e)
        other = list(out)
        other.append(x[0])
        return tf.reduce_sum(tf.stack(list(reversed(other)))[:2]) + tf.reduce_sum(out)

    return {name: f for name, f in locals().items() if name != "tf"}


# What the programs need of their vectors: the elements at the start are positive.
VECTORS = ([1.0, 2.0, 3.0], [2.5, 0.5, 1.0, 4.0, 1.25])
