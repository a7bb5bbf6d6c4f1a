"""A train step in steady state takes nothing from the system.

What is counted: the address space of the process (all that malloc, Python and the engine's own
allocator map or grow), and page faults. A fault is what fresh memory costs when it is first
touched, so memory that is taken and given back within a step shows too. Calls of malloc that its
free lists answer are not counted: they take nothing from the system.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

MEASURE = """
import json, resource
import graven as tf

def address_space():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0])

def measure(step):
    for _ in range(60):
        step()
    windows = []
    for _ in range(6):
        held = tf.config.experimental.get_memory_info("CPU:0")["current"]
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        pages = address_space()
        for _ in range(300):
            step()
        windows.append({
            "pages": address_space() - pages,
            "faults": resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults,
            "tensor_bytes": tf.config.experimental.get_memory_info("CPU:0")["current"] - held,
        })
    print(json.dumps(windows))
"""

MLP = """
sizes = (784, 512, 512, 10)
parameters = []
for i, (rows, columns) in enumerate(zip(sizes, sizes[1:])):
    weights = tf.random.stateless_uniform([rows, columns], seed=[1, i], minval=-0.05, maxval=0.05)
    parameters += [tf.Variable(weights), tf.Variable(tf.zeros([columns]))]
means = [tf.Variable(tf.zeros_like(p)) for p in parameters]
squares = [tf.Variable(tf.zeros_like(p)) for p in parameters]

@tf.function
def step(x, y):
    w1, b1, w2, b2, w3, b3 = parameters
    with tf.GradientTape() as tape:
        hidden = tf.nn.relu(tf.matmul(x, w1) + b1)
        hidden = tf.nn.relu(tf.matmul(hidden, w2) + b2)
        logits = tf.matmul(hidden, w3) + b3
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        )
    for p, m, v, g in zip(parameters, means, squares, tape.gradient(loss, parameters)):
        m.assign(0.9 * m + 0.1 * g)
        v.assign(0.999 * v + 0.001 * g * g)
        p.assign_sub(1e-4 * m / (tf.sqrt(v) + 1e-7))
    return loss

x = tf.random.stateless_uniform([128, 784], seed=[2, 0])
y = tf.zeros([128], tf.int32)
measure(lambda: step(x, y))
"""

CNN = f"""
import sys
sys.path.insert(0, {str(EXAMPLES)!r})
import digits

network = digits.Network(1)
train_step, _ = digits.make_functions(network, digits.Adam(network.parameters, 0.0015))
images = tf.random.stateless_uniform([32, 8, 8, 1], seed=[2, 0])
labels = tf.zeros([32], tf.int32)
measure(lambda: train_step(images, labels))
"""


@pytest.mark.parametrize("model", [MLP, CNN], ids=["mlp", "cnn"])
def test_a_train_step_takes_nothing_from_the_system(model: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", MEASURE + model], capture_output=True, text=True, check=True
    )
    windows = json.loads(run.stdout)
    assert {window["tensor_bytes"] for window in windows} == {0}
    # What each step takes shows as a fault in each of the 300. Fewer are those of threads that come
    # to their working memory late.
    assert any(window["pages"] < 300 and window["faults"] < 300 for window in windows), windows
