"""A function of a hundred lines, for conversion: what is converted is text, and reads any `tf`."""

# What it does is of no meaning. It has what programs have: branches, loops, exits and calls.
# ruff: noqa: SIM108
# mypy: ignore-errors

from typing import Any

tf: Any = None


def f(x, n):
    total = tf.reduce_sum(x)
    count = tf.constant(0)
    best = tf.reduce_max(x)
    scale = 1.0
    if total > 0.0:
        scale = total * 0.5
        if best > 2.0:
            best = best - 1.0
        else:
            best = best + 1.0
    elif total < -4.0:
        scale = total * 0.25
    else:
        scale = tf.constant(2.0)
    for i in tf.range(n):
        if i == 2:
            continue
        if total > 100.0:
            break
        total += tf.cast(i, tf.float32) * scale
        count += 1
    while count < 10:
        count += 1
        if count % 2 == 0:
            total = total * 0.5 + best
        else:
            total = total - 0.25
        if total < -10.0 and best < 0.0:
            total = tf.abs(total)
    state = tf.zeros_like(x)
    outputs = tf.TensorArray(tf.float32, size=n)
    for t in tf.range(n):
        candidate = tf.tanh(x * 0.5 + state)
        gate = tf.sigmoid(x - state)
        state = gate * state + (1.0 - gate) * candidate
        if tf.reduce_sum(state) > 3.0:
            state = state * 0.5
        elif tf.reduce_sum(state) < -3.0:
            state = state * 0.75
        outputs = outputs.write(t, state)
    stacked = outputs.stack()

    def normalised(values, epsilon=1e-3):
        mean = tf.reduce_mean(values)
        square = tf.reduce_mean(values * values)
        if square < epsilon:
            return values - mean
        return (values - mean) / tf.sqrt(square)

    values = normalised(stacked)
    for row in values:
        largest = tf.reduce_max(row)
        if largest > best:
            best = largest
        elif largest < -best or count > 100:
            best = best * 0.5
    for size in [4, 8, 16]:
        if size > 8:
            scale = scale * 0.5
        else:
            scale = scale + 0.125
    names = {"total": total, "best": best}
    for name in names:
        if name == "total":
            names[name] = names[name] * 0.5
        else:
            names[name] = names[name] + 1.0
    k = 0
    while k < 3:
        k += 1
        if k == 2:
            continue
        total = total + 0.5 * k
    power = tf.constant(1.0)
    steps = tf.constant(0)
    while power < 64.0:
        power = power * 2.0
        steps += 1
        if steps > 20:
            break
    sign = 1.0 if total > 0.0 else -1.0
    is_small = total < 1.0 and best < 1.0
    is_large = total > 10.0 or best > 10.0
    if is_small:
        result = total + best
    elif is_large:
        result = total - best
    else:
        result = total * best
    middle = tf.reduce_mean(values)
    if not is_small and -1.0 < middle < 1.0:
        result = result + middle
    for j in tf.range(2):
        for m in tf.range(2):
            if j == m:
                result = result + tf.cast(j + m, tf.float32)
            else:
                result = result - 0.5
    return result * sign + scale + power + names["best"] + tf.cast(steps, tf.float32)
