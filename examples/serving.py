"""A model that is served and goes on learning, and never traces by surprise.

The cache of its Functions from end to end: budgets, sizes that stay open, values that are watched,
explanations, and a lock of traces. serving.cc is the same program in C++ and prints the same lines.

    python serving.py [FILE OF THE LOCK]
"""

import sys

import graven as tf

FEATURES = 3

weights = tf.Variable(tf.zeros([FEATURES, 1]), name="weights")
temperature = 1.0
learning_rate = 0.5


@tf.function(max_bytes=1 << 20)
def score(rows: tf.Tensor) -> tf.Tensor:
    return tf.sigmoid(tf.squeeze(rows @ weights, 1) / temperature)


# Each number of places is a constant of its own trace: at most two of them are kept.
@tf.function(max_traces=2)
def best(rows: tf.Tensor, places: int) -> tf.Tensor:
    return tf.math.top_k(score(rows), places).values


# Another learning rate halfway would be a mistake, so it is an error.
@tf.function(stale="error")
def learn(rows: tf.Tensor, wanted: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((score(rows) - wanted) ** 2.0)
    weights.assign_sub(learning_rate * tape.gradient(loss, weights))
    return loss


def request(rows: int, dtype: tf.DType = tf.float32) -> tf.Tensor:
    """A request with so many rows."""
    return tf.cast(tf.reshape(tf.range(rows * FEATURES) % 5, [rows, FEATURES]), dtype)


def warm_up() -> None:
    """One request of each kind: the service makes its traces before it opens."""
    wanted = tf.constant([1.0, 0.0, 1.0, 0.0])
    first = learn(request(4), wanted)
    for _ in range(99):
        last = learn(request(4), wanted)
    print(f"learning: loss {float(first):.4f}, then {float(last):.4f}")
    for rows in (1, 2):
        score(request(rows))


def main() -> None:
    """Warms up, locks the traces, serves; then changes what should not change."""
    global temperature, learning_rate
    lock = sys.argv[1] if len(sys.argv) > 1 else "serving_traces.jsonl"
    with tf.trace_lock(lock, "record"):
        warm_up()

    with tf.trace_lock(lock, "locked"):
        for rows in range(1, 41):
            score(request(rows))
        info = score.cache_info()
        print(f"serving: {info.traces} traces for 40 sizes, {info.hits} hits")

        wrong = score.explain(request(1, tf.float64)).to_dict()["functions"][0]["call"]
        print(f"a request of float64 would trace: {wrong['why']['text']}")
        try:
            score(request(1, tf.float64))
        except tf.errors.TraceLockError:
            print("the lock refuses it")

    calm = float(score(request(2))[1])
    temperature = 4.0
    hot = float(score(request(2))[1])
    temperature = 1.0
    assert float(score(request(2))[1]) == calm
    print(f"temperature: {calm:.4f}, at 4.0 {hot:.4f}, and {score.cache_info().traces} traces")

    learning_rate = 5.0
    try:
        learn(request(4), tf.ones([4]))
    except RuntimeError:
        print("another learning rate is an error")

    for places in range(1, 5):
        best(request(8), places)
    info = best.cache_info()
    print(f"budget: {info.entries} of {info.traces} traces are kept, {info.evictions} went")


if __name__ == "__main__":
    main()
