"""The workloads for Graven and TensorFlow: one source, the module is named by the environment."""

import importlib
import itertools
import os
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.cell import Cell
from benchmarks.workloads import hundred_lines, inputs, watched

tf: Any = importlib.import_module(os.environ["BENCHMARK_MODULE"])
if getattr(tf, "__file__", None) is None:
    # A mere folder of that name imports as an empty namespace package.
    raise ImportError(
        f"the package {tf.__name__} is not installed for this Python", name=tf.__name__
    )

_OPTIONS: dict[str, Any] = {"jit_compile": True} if os.environ.get("BENCHMARK_JIT_COMPILE") else {}


def configure(threads: int) -> None:
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)


def threads() -> int:
    return int(tf.config.threading.get_intra_op_parallelism_threads())


def version() -> str:
    return str(tf.__version__)


def _function(body: Callable[..., Any]) -> Any:
    return tf.function(body, **_OPTIONS)


def _sums(*results: Any) -> Sequence[float]:
    return inputs.moments(result.numpy() for result in results)


def _cell(body: Callable[..., Any], arguments: Sequence[Any]) -> Cell:
    """Times a Function of tensors."""
    f = _function(body)
    tensors = [tf.constant(argument) for argument in arguments]
    names = {f"x{i}": tensor for i, tensor in enumerate(tensors)}
    return Cell(f"f({', '.join(names)})", {"f": f, **names}, lambda: _sums(f(*tensors)))


def eager_add() -> Cell:
    x = tf.constant(inputs.normal(0, 4))
    return Cell("x + x", {"x": x}, lambda: _sums(x + x))


def _eager(statement: str, is_random: bool = False) -> Callable[[], Cell]:
    """A workload that evaluates an expression over small tensors."""

    def make() -> Cell:
        names = {"tf": tf} | {
            name: tf.constant(value) for name, value in inputs.of_eager_calls().items()
        }

        def check() -> Sequence[float]:
            result = eval(statement, names)
            if is_random:
                return [float(size) for size in result.shape]
            return _sums(*(result if isinstance(result, tuple) else (result,)))

        # A program that cares binds the function once.
        function, _, arguments = statement.partition("(")
        if function.startswith("tf."):
            return Cell(f"f({arguments}", {**names, "f": eval(function, names)}, check)
        return Cell(statement, names, check)

    return make


eager_add_function = _eager("tf.add(x, y)")
eager_sum = _eager("tf.reduce_sum(x, 1)")
eager_mean = _eager("tf.reduce_mean(x, 1)")
eager_matmul = _eager("tf.matmul(x, y)")
eager_softmax = _eager("tf.nn.softmax(x)")
eager_conv2d = _eager('tf.nn.conv2d(image, filters, 1, "SAME")')
eager_reshape = _eager("tf.reshape(x, [2, 8])")
eager_slice = _eager("x[1:3]")
eager_concat = _eager("tf.concat([x, y], 0)")
eager_where = _eager("tf.where(mask, x, y)")
eager_moments = _eager("tf.nn.moments(x, [1])")
eager_clip = _eager("tf.clip_by_value(x, -1.0, 1.0)")
eager_one_hot = _eager("tf.one_hot(indices, 4)")
eager_uniform = _eager("tf.random.uniform([16])", is_random=True)


def cached_call() -> Cell:
    return _cell(lambda x: x + 1.0, [np.float32(2.0)])


def _watching(body: Callable[..., Any], stale: str, statement: str = "f(x)") -> Cell:
    f, x = tf.function(body, stale=stale), tf.constant(np.float32(2.0))
    names = {"f": f, "x": x, "change": watched.change}
    return Cell(statement, names, lambda: _sums(f(x)))


def unwatched_call() -> Cell:
    return _watching(watched.of_globals, "ignore")


def watched_call() -> Cell:
    return _watching(watched.of_globals, "retrace")


def watched_attributes() -> Cell:
    return _watching(watched.of_objects, "retrace")


def watched_beside_changes() -> Cell:
    return _watching(watched.of_globals, "retrace", "change(); f(x)")


def _many(traces: int) -> tuple[Any, Any]:
    """A function with so many traces, one for each number, and its tensor."""
    f, x = _function(lambda x, n: x + 1.0), tf.constant(np.float32(2.0))
    for n in range(traces):
        f(x, n)
    return f, x


def cached_call_of_many() -> Cell:
    f, x = _many(100_000)
    return Cell("f(x, 50_000)", {"f": f, "x": x}, lambda: _sums(f(x, 50_000)))


def cached_call_in_turn() -> Cell:
    f, x = _many(10_000)
    # Neighbours in time are none in memory.
    numbers = itertools.cycle([n * 7919 % 10_000 for n in range(10_000)])
    return Cell("f(x, next(n))", {"f": f, "x": x, "n": numbers}, lambda: _sums(f(x, 1)))


def new_length() -> Cell:
    f = tf.function(lambda x: x + 1.0, autograph=False, reduce_retracing=True)
    tensors = [tf.ones([n]) for n in range(2, 2002)]
    for x in tensors[:3]:
        f(x)
    names = {"f": f, "x": itertools.cycle(tensors)}
    return Cell("f(next(x))", names, lambda: _sums(f(tensors[5])))


def cached_call_20() -> Cell:
    # fmt: off
    def body(
        a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any, a7: Any,
        a8: Any, a9: Any, a10: Any, a11: Any, a12: Any, a13: Any, a14: Any, a15: Any,
        *, k0: Any, k1: Any, k2: Any, k3: Any,
    ) -> Any:
        return a0 + k3
    # fmt: on

    f = _function(body)
    tensors = [tf.constant(argument) for argument in inputs.twenty()]
    names = {f"a{i}": tensor for i, tensor in enumerate(tensors[:16])}
    keywords = {f"k{i}": tensor for i, tensor in enumerate(tensors[16:])}
    call = f"f({', '.join(names)}, {', '.join(f'{name}={name}' for name in keywords)})"
    return Cell(call, {"f": f, **names, **keywords}, lambda: _sums(f(**names, **keywords)))


def cached_call_literals() -> Cell:
    def body(x: Any, add: bool, mode: str, count: int) -> Any:
        return x + float(count) if add and mode == "train" else x

    f = _function(body)
    x = tf.constant(inputs.normal(0, 4))
    return Cell('f(x, True, "train", 3)', {"f": f, "x": x}, lambda: _sums(f(x, True, "train", 3)))


def taped_calls() -> Cell:
    f = _function(lambda x: tf.tanh(x) * 0.9)
    x = tf.constant(inputs.normal(0, 4))

    def check() -> Sequence[float]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(f(x))
        return _sums(y, tape.gradient(y, x))

    calls = ["y = f(x)"] + ["y = f(y)"] * 9
    statement = "\n    ".join(["with Tape() as tape:", "tape.watch(x)", *calls])
    return Cell(statement, {"Tape": tf.GradientTape, "f": f, "x": x}, check)


def _first_call(make_call: Callable[[list[int]], Callable[[], Any]]) -> Cell:
    """Times the first call of a new Function each time, and sees to it that it is traced.

    make_call gets a list and returns a call of a new Function whose body appends to it.
    """
    traces: list[int] = []

    def first_call() -> Any:
        before = len(traces)
        result = make_call(traces)()
        if len(traces) == before:
            raise RuntimeError("a new Function was called without being traced")
        return result

    return Cell("first_call()", {"first_call": first_call}, lambda: _sums(first_call()))


def trace_200() -> Cell:
    x = tf.constant(inputs.normal(0, 8))

    def make_call(traces: list[int]) -> Callable[[], Any]:
        def body(x: Any) -> Any:
            traces.append(1)
            for _ in range(100):
                x = x * 1.01 + 0.5
            return x

        f = _function(body)
        return lambda: f(x)

    return _first_call(make_call)


def chain_1000() -> Cell:
    def body(x: Any) -> Any:
        for _ in range(500):
            x = tf.sin(x) + 0.001
        return x

    return _cell(body, [inputs.normal(0, 16)])


def _integer_chain(step: Callable[..., Any], *more: Any) -> Cell:
    def body(x: Any, *more: Any) -> Any:
        for _ in range(inputs.INTEGER_STEPS):
            x = step(x, *more) + 1
        return x

    return _cell(body, [inputs.integers(), *more])


def integer_products_40() -> Cell:
    return _integer_chain(lambda x: x * 3)


def integer_quotients_40() -> Cell:
    return _integer_chain(lambda x: x // 3)


def integer_quotients_by_tensor_40() -> Cell:
    return _integer_chain(lambda x, y: x // y, inputs.divisors())


def fused_elementwise() -> Cell:
    return _cell(lambda a, b, c: tf.tanh(a * b + c) * tf.sigmoid(a), inputs.fused())


def softmax() -> Cell:
    return _cell(lambda x: tf.nn.softmax(x), [inputs.softmax()])


def softmax_of_short_rows() -> Cell:
    return _cell(lambda x: tf.nn.softmax(x), [inputs.softmax_of_short_rows()])


def _layer_norm(x: Any, scale: Any, shift: Any) -> Any:
    mean = tf.reduce_mean(x, axis=-1, keepdims=True)
    centred = x - mean
    variance = tf.reduce_mean(centred * centred, axis=-1, keepdims=True)
    return centred * tf.math.rsqrt(variance + inputs.EPSILON) * scale + shift


def _gelu(x: Any) -> Any:
    return 0.5 * x * (1.0 + tf.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def layer_norm_gelu() -> Cell:
    return _cell(lambda x, scale, shift: _gelu(_layer_norm(x, scale, shift)), inputs.layer_norm())


def matmul() -> Cell:
    return _cell(lambda a, b, c: tf.nn.relu(tf.matmul(a, b) + c), inputs.matmul())


def _train_cell(step: Any, arguments: Sequence[Any], variables: Sequence[Any]) -> Cell:
    """Times a train step, whose variables every round finds as they were at first."""
    initial = [variable.numpy() for variable in variables]

    def reset() -> None:
        for variable, value in zip(variables, initial, strict=True):
            variable.assign(value)

    def check() -> Sequence[float]:
        reset()
        losses = [float(step(*arguments).numpy()) for _ in range(3)]
        return [*losses, *_sums(*variables)]

    names = {f"x{i}": argument for i, argument in enumerate(arguments)}
    return Cell(f"step({', '.join(names)})", {"step": step, **names}, check, reset)


def _loss(logits: Any, labels: Any) -> Any:
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )


class _Adam:
    """Adam by hand (Kingma and Ba, 2015) over variables of its own."""

    def __init__(self, parameters: Sequence[Any]) -> None:
        self.parameters = parameters
        self.count = tf.Variable(0.0)
        self.means = [tf.Variable(tf.zeros_like(parameter)) for parameter in parameters]
        self.squares = [tf.Variable(tf.zeros_like(parameter)) for parameter in parameters]

    @property
    def variables(self) -> list[Any]:
        return [*self.parameters, self.count, *self.means, *self.squares]

    def apply(self, gradients: Sequence[Any]) -> None:
        beta_1, beta_2 = inputs.ADAM_BETA_1, inputs.ADAM_BETA_2
        self.count.assign_add(1.0)
        count = self.count.read_value()
        rate = (
            inputs.ADAM_RATE * tf.sqrt(1.0 - tf.pow(beta_2, count)) / (1.0 - tf.pow(beta_1, count))
        )
        for parameter, gradient, mean, square in zip(
            self.parameters, gradients, self.means, self.squares, strict=True
        ):
            mean.assign(beta_1 * mean + (1.0 - beta_1) * gradient)
            square.assign(beta_2 * square + (1.0 - beta_2) * gradient * gradient)
            parameter.assign_sub(rate * mean / (tf.sqrt(square) + inputs.ADAM_EPSILON))


def _mlp_logits(x: Any, parameters: Sequence[Any]) -> Any:
    w1, b1, w2, b2, w3, b3 = parameters
    hidden = tf.nn.relu(tf.matmul(x, w1) + b1)
    hidden = tf.nn.relu(tf.matmul(hidden, w2) + b2)
    return tf.matmul(hidden, w3) + b3


def _mlp_step(adam: _Adam, traces: list[int]) -> Any:
    def step(x: Any, y: Any) -> Any:
        traces.append(1)
        with tf.GradientTape() as tape:
            loss = _loss(_mlp_logits(x, adam.parameters), y)
        adam.apply(tape.gradient(loss, adam.parameters))
        return loss

    return _function(step)


def mlp_train() -> Cell:
    images, labels, values = inputs.mlp()
    adam = _Adam([tf.Variable(value) for value in values])
    arguments = [tf.constant(images), tf.constant(labels)]
    return _train_cell(_mlp_step(adam, []), arguments, adam.variables)


def trace_train_step() -> Cell:
    images, labels, values = inputs.mlp()
    x, y = tf.constant(images), tf.constant(labels)
    adam = _Adam([tf.Variable(value) for value in values])

    def make_call(traces: list[int]) -> Callable[[], Any]:
        step = _mlp_step(adam, traces)
        return lambda: step(x, y)

    cell = _first_call(make_call)
    train = _train_cell(_mlp_step(adam, []), [x, y], adam.variables)
    return Cell(cell.statement, cell.names, train.check, train.reset)


def cnn_train() -> Cell:
    images, labels, values = inputs.cnn()
    parameters = [tf.Variable(value) for value in values]

    def step(x: Any, y: Any) -> Any:
        f1, b1, f2, b2, w, b = parameters
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, f1, 1, "SAME"), b1))
            h = tf.nn.max_pool2d(h, 2, 2, "VALID")
            h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(h, f2, 1, "SAME"), b2))
            h = tf.nn.max_pool2d(h, 2, 2, "VALID")
            logits = tf.matmul(tf.reshape(h, [inputs.CNN_BATCH, inputs.CNN_POOLED]), w) + b
            loss = _loss(logits, y)
        gradients = tape.gradient(loss, parameters)
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.assign_sub(inputs.SGD_RATE * gradient)
        return loss

    return _train_cell(_function(step), [tf.constant(images), tf.constant(labels)], parameters)


def lstm() -> Cell:
    def body(x: Any, w: Any, u: Any, b: Any) -> Any:
        h = tf.zeros([inputs.LSTM_BATCH, inputs.LSTM_STATE])
        c = tf.zeros([inputs.LSTM_BATCH, inputs.LSTM_STATE])
        for step in tf.unstack(x, axis=1):
            gates = tf.matmul(step, w) + tf.matmul(h, u) + b
            i, f, g, o = tf.split(gates, 4, axis=1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
        return h

    return _cell(body, inputs.lstm())


def lstm_for() -> Cell:
    def body(x: Any, w: Any, u: Any, b: Any) -> Any:
        h = tf.zeros([inputs.LSTM_BATCH, inputs.LSTM_STATE])
        c = tf.zeros([inputs.LSTM_BATCH, inputs.LSTM_STATE])
        steps = tf.transpose(x, [1, 0, 2])
        for t in tf.range(tf.shape(steps)[0]):
            gates = tf.matmul(steps[t], w) + tf.matmul(h, u) + b
            i, f, g, o = tf.split(gates, 4, axis=1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
        return h

    return _cell(body, inputs.lstm())


def _lstm_states(x: Any, w: Any, u: Any, b: Any) -> Any:
    """The state after each step, [step, batch, state], by a `for` that writes a TensorArray."""
    h = tf.zeros([inputs.LSTM_BATCH, inputs.LSTM_STATE])
    c = tf.zeros([inputs.LSTM_BATCH, inputs.LSTM_STATE])
    steps = tf.transpose(x, [1, 0, 2])
    states = tf.TensorArray(tf.float32, size=tf.shape(steps)[0])
    for t in tf.range(tf.shape(steps)[0]):
        gates = tf.matmul(steps[t], w) + tf.matmul(h, u) + b
        i, f, g, o = tf.split(gates, 4, axis=1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
        states = states.write(t, h)
    return states.stack()


def _lstm_states_unrolled(x: Any, w: Any, u: Any, b: Any) -> Any:
    h = tf.zeros([inputs.LSTM_BATCH, inputs.LSTM_STATE])
    c = tf.zeros([inputs.LSTM_BATCH, inputs.LSTM_STATE])
    states = []
    for step in tf.unstack(x, axis=1):
        gates = tf.matmul(step, w) + tf.matmul(h, u) + b
        i, f, g, o = tf.split(gates, 4, axis=1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
        states.append(h)
    return tf.stack(states)


def lstm_array() -> Cell:
    return _cell(_lstm_states, inputs.lstm())


def _lstm_train(states: Callable[..., Any]) -> Cell:
    x, *values = inputs.lstm()
    parameters = [tf.Variable(value) for value in values]

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(states(x, *parameters) ** 2)
        gradients = tape.gradient(loss, parameters)
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.assign_sub(inputs.SGD_RATE * gradient)
        return loss

    return _train_cell(_function(step), [tf.constant(x)], parameters)


def lstm_train() -> Cell:
    return _lstm_train(_lstm_states_unrolled)


def lstm_array_train() -> Cell:
    return _lstm_train(_lstm_states)


def beam_search() -> Cell:
    letters, width, steps = inputs.BEAM_LETTERS, inputs.BEAM_WIDTH, inputs.BEAM_STEPS

    def body(chances: Any) -> Any:
        scores = tf.where(tf.range(width) == 0, 0.0, float("-inf"))
        before = tf.zeros([width], tf.int32)
        last = tf.zeros([width], tf.int32)
        parents = tf.TensorArray(tf.int32, size=steps, element_shape=[width])
        chosen = tf.TensorArray(tf.int32, size=steps, element_shape=[width])
        for t in tf.range(steps):
            following = tf.gather_nd(chances, tf.stack([before, last], axis=1))
            totals = tf.reshape(scores[:, tf.newaxis] + following, [-1])
            scores, places = tf.math.top_k(totals, k=width)
            parent, letter = places // letters, places % letters
            before, last = tf.gather(last, parent), letter
            parents = parents.write(t, parent)
            chosen = chosen.write(t, letter)
        found = tf.TensorArray(tf.int32, size=steps, element_shape=[width])
        beam = tf.range(width)
        for t in tf.range(steps - 1, -1, -1):
            found = found.write(t, tf.gather(chosen.read(t), beam))
            beam = tf.gather(parents.read(t), beam)
        return scores, found.stack()

    f, chances = _function(body), tf.constant(inputs.beam_search())
    return Cell("f(chances)", {"f": f, "chances": chances}, lambda: _sums(*f(chances)))


def _row(row: Any) -> Any:
    return tf.reduce_sum(tf.tanh(row) * row)


def map_fn() -> Cell:
    return _cell(lambda x: tf.map_fn(_row, x), [inputs.rows()])


def vectorized_map() -> Cell:
    return _cell(lambda x: tf.vectorized_map(_row, x), [inputs.rows()])


def jacobian_mlp() -> Cell:
    image, values = inputs.jacobian()
    parameters = [tf.constant(value) for value in values]

    def body(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = _mlp_logits(x, parameters)
        return tape.jacobian(y, x)

    return _cell(body, [image])


def hvp() -> Cell:
    images, labels, values, changes = inputs.hvp()
    x, y = tf.constant(images), tf.constant(labels)
    parameters = [tf.constant(value) for value in values]
    tangents = [tf.constant(change) for change in changes]

    def body(x: Any, y: Any, parameters: list[Any], tangents: list[Any]) -> Any:
        with tf.autodiff.ForwardAccumulator(parameters, tangents) as accumulator:
            with tf.GradientTape() as tape:
                tape.watch(parameters)
                loss = _loss(_mlp_logits(x, parameters), y)
            gradients = tape.gradient(loss, parameters)
        return accumulator.jvp(gradients)

    f = _function(body)
    names = {"f": f, "x": x, "y": y, "p": parameters, "t": tangents}
    return Cell("f(x, y, p, t)", names, lambda: _sums(*f(x, y, parameters, tangents)))


def convert_100_lines() -> Cell:
    # Conversions are kept for each code, so each call needs another one.
    code, numbers = hundred_lines.f.__code__, itertools.count()

    def convert() -> Any:
        other = code.replace(co_consts=(*code.co_consts, next(numbers)))
        return tf.autograph.to_graph(types.FunctionType(other, {"tf": tf}, "f"))

    x = tf.constant(inputs.normal(0, 8))
    return Cell("convert()", {"convert": convert}, lambda: _sums(convert()(x, tf.constant(3))))


def trace_50_ifs() -> Cell:
    x = tf.constant(0.5)

    def make_call(traces: list[int]) -> Callable[[], Any]:
        def body(x: Any) -> Any:
            traces.append(1)
            for i in range(inputs.IFS):
                if x > 0.1 * i:  # noqa: SIM108 (a branch with a body of its own)
                    x = x * 1.01
                else:
                    x = x + 0.5
            return x

        f = _function(body)
        return lambda: f(x)

    return _first_call(make_call)


def _modulo_loop(length: Any) -> Cell:
    def body(n: Any) -> Any:
        s = tf.constant(0)
        i = tf.constant(0)
        while i < n:
            s += i % 7
            i += 1
        return s

    return _cell(body, [length])


def while_modulo() -> Cell:
    return _modulo_loop(inputs.LOOP_LENGTH)


def while_modulo_million() -> Cell:
    return _modulo_loop(inputs.MILLION)


def _loop_of(step: Callable[[Any], Any]) -> Cell:
    def body(n: Any, x: Any) -> Any:
        for _ in tf.range(n):
            x = step(x)
        return x

    return _cell(body, [inputs.LOOP_LENGTH, inputs.ONE_ELEMENT])


def loop_of_one_op() -> Cell:
    return _loop_of(tf.cumsum)


def loop_of_five_ops() -> Cell:
    def step(x: Any) -> Any:
        x = tf.cumsum(tf.reverse(tf.cumsum(x), [0]))
        return tf.cumsum(tf.reverse(x, [0]))

    return _loop_of(step)


def while_collatz_million() -> Cell:
    def body(starts: Any) -> Any:
        count = tf.constant(0)
        for start in tf.range(1, starts):
            n = start
            while n != 1:
                if n % 2 == 0:  # noqa: SIM108 (a branch with a body of its own)
                    n = n // 2
                else:
                    n = 3 * n + 1
                count += 1
        return count

    return _cell(body, [inputs.COLLATZ_STARTS])


def while_collatz() -> Cell:
    def body(n: Any) -> Any:
        count = tf.constant(0)
        while n != 1:
            if n % 2 == 0:  # noqa: SIM108 (a branch with a body of its own)
                n = n // 2
            else:
                n = 3 * n + 1
            count += 1
        return count

    return _cell(body, [inputs.COLLATZ_START])


def transformer() -> Cell:
    x, values = inputs.transformer()
    names = list(values)
    batch, length, width = inputs.BLOCK_BATCH, inputs.BLOCK_LENGTH, inputs.BLOCK_WIDTH
    heads = inputs.BLOCK_HEADS

    def body(x: Any, *parameters: Any) -> Any:
        p = dict(zip(names, parameters, strict=True))
        h = _layer_norm(x, p["scale_1"], p["shift_1"])
        qkv = tf.reshape(tf.matmul(h, p["qkv"]), [batch, length, 3, heads, width // heads])
        q, k, v = tf.unstack(tf.transpose(qkv, [2, 0, 3, 1, 4]))
        weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * (width // heads) ** -0.5)
        mixed = tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3])
        x = x + tf.matmul(tf.reshape(mixed, [batch, length, width]), p["project"])
        h = _layer_norm(x, p["scale_2"], p["shift_2"])
        h = _gelu(tf.matmul(h, p["up"]) + p["up_bias"])
        return x + tf.matmul(h, p["down"]) + p["down_bias"]

    return _cell(body, [x, *values.values()])


def lengths() -> Cell:
    arrays, weight = inputs.lengths()
    tensors, w = [tf.constant(array) for array in arrays], tf.constant(weight)

    last: list[Any] = []

    def body(x: Any, w: Any) -> Any:
        return tf.reduce_sum(tf.tanh(tf.matmul(x, w)))

    def all_lengths() -> None:
        f = _function(body)
        last[:] = [f(x, w) for x in tensors]

    body(w, w)  # Loads the libraries that a first op loads.
    # A call more would leave traces behind, and the growth of memory is part of the figure.
    return Cell("all_lengths()", {"all_lengths": all_lengths}, lambda: _sums(*last))
