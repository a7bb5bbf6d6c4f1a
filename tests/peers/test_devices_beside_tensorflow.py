"""Several logical CPUs: where tensors are and which requests are refused, the same in both."""

import json
import os
import subprocess
import sys

import pytest

# Each prints a line of JSON for each expression: its value, or the class of the error.
PROGRAM = """
import json
import sys
import importlib

tf = importlib.import_module(sys.argv[1])
one = tf.config.LogicalDeviceConfiguration()
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [one] * 3)
x = tf.constant([1.0, 2.0])


def on(device, f):
    with tf.device(device):
        return f()


y = on("/CPU:1", lambda: tf.constant([3.0]))
v = on("/CPU:1", lambda: tf.Variable([1.0, 2.0]))


def refuse(count):
    tf.config.set_logical_device_configuration(cpu, [one] * count)


def nested():
    with tf.device("/job:localhost"):
        with tf.device("/CPU:2"):
            with tf.device(None):
                inner = (x + 1.0).device
            return [inner, (x + 1.0).device]


def gradient():
    with tf.device("/CPU:1"):
        a = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(a)
            b = a * a
    return [b.device, tape.gradient(b, a).device]


def within_host_function():
    places = []

    def add(x):
        places.append((x + 1.0).device)
        return x

    call = tf.function(lambda x: tf.py_function(add, [x], tf.float32), autograph=False)
    on("/CPU:1", lambda: call(x))
    return places


PLACES = ["/CPU:1", "cpu:2", "/device:CPU:1", "/job:localhost/replica:0/task:0/device:CPU:2",
          "/cpu", "CPU:3", "/GPU:0", "/job:worker/task:0", "/task:1", "/device:TPU:0", "CPU:*",
          "/job:localhost", "nonsense"]
WAYS = {
    "constant": lambda: tf.constant([3.0]).device,
    "conversion": lambda: tf.convert_to_tensor([1.0]).device,
    "sum": lambda: (x + 1.0).device,
    "zeros": lambda: tf.zeros([2]).device,
    "variable": lambda: tf.Variable(1.0).device,
    "value": lambda: (v + x).device,
    "identity": lambda: tf.identity(y).device,
    "number": lambda: float((y[0] * 2.0).numpy()),
}
checks = {f"{way} on {place}": lambda f=f, place=place: on(place, f)
          for place in PLACES for way, f in WAYS.items()}
checks |= {
    "default": lambda: x.device,
    "made there": lambda: [y.device, y.backing_device, y.numpy().tolist()],
    "mixed": lambda: [(x + y).device, (x + y).numpy().tolist(), (y + 1.0).device],
    "cpu": lambda: y.cpu().device,
    "variable": lambda: [v.device, v.read_value().device],
    "argument": lambda: tf.function(lambda a: a * 2.0, autograph=False)(y).numpy().tolist(),
    "traced": lambda: tf.function(lambda: on("/CPU:2", lambda: x * 2.0), autograph=False)()
    .numpy().tolist(),
    "nested": nested,
    "gradient": gradient,
    "within a host function": within_host_function,
    "listed": lambda: [d.name for d in tf.config.list_logical_devices("CPU")],
    "no GPU": lambda: len(tf.config.list_logical_devices("GPU")),
    "as it is": lambda: refuse(3),
    "another number": lambda: refuse(2),
}
for hard in (False, True):
    tf.config.set_soft_device_placement(not hard)
    for name, check in checks.items():
        try:
            result = check()
        except Exception as error:
            result = type(error).__name__
        print(json.dumps([name, hard, result]))
"""


def test_tensors_are_where_those_of_tensorflow_are() -> None:
    def lines(module: str) -> list[object]:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, module],
            timeout=120.0,
            capture_output=True,
            text=True,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        )
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]

    ours, theirs = lines("graven"), lines("tensorflow")
    assert len(ours) == len(theirs) > 100
    assert [a for a, b in zip(ours, theirs, strict=True) if a != b] == []


@pytest.mark.parametrize("limit", ["memory_limit", "experimental_priority"])
def test_what_a_cpu_cannot_have_is_refused(limit: str) -> None:
    import graven
    import tensorflow

    for tf in (graven, tensorflow):
        cpu = tf.config.list_physical_devices("CPU")[0]
        with pytest.raises(ValueError):
            tf.config.set_logical_device_configuration(
                cpu, [tf.config.LogicalDeviceConfiguration(**{limit: 10})]
            )
