"""The workloads for JAX: jit of pure functions, with the state of a train step donated."""

import importlib
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.cell import Cell
from benchmarks.workloads import inputs

jax: Any = importlib.import_module("jax")
jnp: Any = importlib.import_module("jax.numpy")


def configure(threads: int) -> None:
    # A call whose arguments are there returns when its results are, as on the other systems, and
    # without the price of waiting for them from Python.
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    # JAX read the number of threads from NPROC when it was imported.
    if os.environ["NPROC"] != str(threads):
        raise RuntimeError(f"NPROC is {os.environ['NPROC']}; it must be {threads}")


def threads() -> int:
    return int(os.environ["NPROC"])


def version() -> str:
    return str(jax.__version__)


def _sums(*results: Any) -> Sequence[float]:
    return inputs.moments(np.asarray(result) for result in results)


def _cell(body: Callable[..., Any], arguments: Sequence[Any]) -> Cell:
    f = jax.jit(body)
    arrays = [jnp.asarray(argument) for argument in arguments]
    names = {f"x{i}": array for i, array in enumerate(arrays)}
    return Cell(f"f({', '.join(names)})", {"f": f, **names}, lambda: _sums(f(*arrays)))


def eager_add() -> Cell:
    x = jnp.asarray(inputs.normal(0, 4))
    return Cell("x + x", {"x": x}, lambda: _sums(x + x))


def cached_call() -> Cell:
    return _cell(lambda x: x + 1.0, [np.float32(2.0)])


def cached_call_20() -> Cell:
    def body(*positional: Any, **keywords: Any) -> Any:
        return positional[0] + keywords["k3"]

    f = jax.jit(body)
    arrays = [jnp.asarray(argument) for argument in inputs.twenty()]
    names = {f"a{i}": array for i, array in enumerate(arrays[:16])}
    keywords = {f"k{i}": array for i, array in enumerate(arrays[16:])}
    call = f"f({', '.join(names)}, {', '.join(f'{name}={name}' for name in keywords)})"
    return Cell(call, {"f": f, **names, **keywords}, lambda: _sums(f(*names.values(), **keywords)))


def cached_call_literals() -> Cell:
    def body(x: Any, add: bool, mode: str, count: int) -> Any:
        return x + float(count) if add and mode == "train" else x

    f = jax.jit(body, static_argnums=(1, 2, 3))
    x = jnp.asarray(inputs.normal(0, 4))
    return Cell('f(x, True, "train", 3)', {"f": f, "x": x}, lambda: _sums(f(x, True, "train", 3)))


def _first_call(make_call: Callable[[list[int]], Callable[[], Any]]) -> Cell:
    traces: list[int] = []

    def first_call() -> Any:
        before = len(traces)
        result = make_call(traces)()
        if len(traces) == before:
            raise RuntimeError("a new jit was called without being traced")
        return result

    return Cell("first_call()", {"first_call": first_call}, lambda: _sums(first_call()))


def trace_200() -> Cell:
    x = jnp.asarray(inputs.normal(0, 8))

    def make_call(traces: list[int]) -> Callable[[], Any]:
        def body(x: Any) -> Any:
            traces.append(1)
            for _ in range(100):
                x = x * 1.01 + 0.5
            return x

        f = jax.jit(body)
        return lambda: f(x)

    return _first_call(make_call)


def chain_1000() -> Cell:
    def body(x: Any) -> Any:
        for _ in range(500):
            x = jnp.sin(x) + 0.001
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
    return _cell(lambda a, b, c: jnp.tanh(a * b + c) * jax.nn.sigmoid(a), inputs.fused())


def softmax() -> Cell:
    return _cell(lambda x: jax.nn.softmax(x, axis=-1), [inputs.softmax()])


def softmax_of_short_rows() -> Cell:
    return _cell(lambda x: jax.nn.softmax(x, axis=-1), [inputs.softmax_of_short_rows()])


def _layer_norm(x: Any, scale: Any, shift: Any) -> Any:
    mean = jnp.mean(x, axis=-1, keepdims=True)
    centred = x - mean
    variance = jnp.mean(centred * centred, axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + inputs.EPSILON) * scale + shift


def _gelu(x: Any) -> Any:
    return 0.5 * x * (1.0 + jnp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def layer_norm_gelu() -> Cell:
    return _cell(lambda x, scale, shift: _gelu(_layer_norm(x, scale, shift)), inputs.layer_norm())


def matmul() -> Cell:
    return _cell(lambda a, b, c: jax.nn.relu(a @ b + c), inputs.matmul())


def _loss(logits: Any, labels: Any) -> Any:
    logs = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(logs, labels[:, None], axis=1))


def _ready_copy(values: Any) -> Any:
    """Arrays with those values; a call on arrays that are still being made would not wait."""
    return jax.block_until_ready(jax.tree.map(jnp.array, values))


def _train_cell(step: Any, arguments: Sequence[Any], initial: Any) -> Cell:
    """Times a step `state, *arguments -> state, loss`, whose state each round finds as at first."""
    state: Any = None

    def reset() -> None:
        nonlocal state
        state = _ready_copy(initial)

    def train() -> Any:
        nonlocal state
        state, loss = step(state, *arguments)
        if not loss.is_ready():
            raise RuntimeError("a train step returned before its loss was there")
        return loss

    def check() -> Sequence[float]:
        reset()
        return [*(float(train()) for _ in range(3)), *_sums(*jax.tree.leaves(state))]

    return Cell("train()", {"train": train}, check, reset)


def _mlp_logits(x: Any, parameters: Sequence[Any]) -> Any:
    w1, b1, w2, b2, w3, b3 = parameters
    hidden = jax.nn.relu(x @ w1 + b1)
    hidden = jax.nn.relu(hidden @ w2 + b2)
    return hidden @ w3 + b3


def _mlp_step(traces: list[int]) -> Any:
    """A train step with Adam over (parameters, count, means, squares)."""
    beta_1, beta_2 = inputs.ADAM_BETA_1, inputs.ADAM_BETA_2

    def step(state: Any, x: Any, y: Any) -> Any:
        traces.append(1)
        parameters, count, means, squares = state
        loss, gradients = jax.value_and_grad(lambda p: _loss(_mlp_logits(x, p), y))(parameters)
        count = count + 1.0
        rate = inputs.ADAM_RATE * jnp.sqrt(1.0 - beta_2**count) / (1.0 - beta_1**count)
        means = [beta_1 * m + (1.0 - beta_1) * g for m, g in zip(means, gradients, strict=True)]
        squares = [
            beta_2 * s + (1.0 - beta_2) * g * g for s, g in zip(squares, gradients, strict=True)
        ]
        parameters = [
            p - rate * m / (jnp.sqrt(s) + inputs.ADAM_EPSILON)
            for p, m, s in zip(parameters, means, squares, strict=True)
        ]
        return (parameters, count, means, squares), loss

    return jax.jit(step, donate_argnums=0)


def _mlp_state(values: Sequence[Any]) -> Any:
    zeros = [np.zeros_like(value) for value in values]
    return list(values), np.float32(0.0), zeros, zeros


def mlp_train() -> Cell:
    images, labels, values = inputs.mlp()
    return _train_cell(
        _mlp_step([]), [jnp.asarray(images), jnp.asarray(labels)], _mlp_state(values)
    )


def trace_train_step() -> Cell:
    images, labels, values = inputs.mlp()
    x, y = jnp.asarray(images), jnp.asarray(labels)
    initial = _mlp_state(values)

    def make_call(traces: list[int]) -> Callable[[], Any]:
        step = _mlp_step(traces)
        # Donated by the call, hence new each time; a few megabytes beside a trace.
        state = _ready_copy(initial)
        return lambda: step(state, x, y)

    cell = _first_call(make_call)
    train = _train_cell(_mlp_step([]), [x, y], initial)
    return Cell(cell.statement, cell.names, train.check)


def _max_pool(x: Any) -> Any:
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def cnn_train() -> Cell:
    images, labels, values = inputs.cnn()
    layout = ("NHWC", "HWIO", "NHWC")

    def convolve(x: Any, filters: Any) -> Any:
        return jax.lax.conv_general_dilated(x, filters, (1, 1), "SAME", dimension_numbers=layout)

    def loss_of(parameters: Any, x: Any, y: Any) -> Any:
        f1, b1, f2, b2, w, b = parameters
        h = _max_pool(jax.nn.relu(convolve(x, f1) + b1))
        h = _max_pool(jax.nn.relu(convolve(h, f2) + b2))
        return _loss(h.reshape(inputs.CNN_BATCH, inputs.CNN_POOLED) @ w + b, y)

    def step(parameters: Any, x: Any, y: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x, y)
        return [p - inputs.SGD_RATE * g for p, g in zip(parameters, gradients, strict=True)], loss

    return _train_cell(
        jax.jit(step, donate_argnums=0), [jnp.asarray(images), jnp.asarray(labels)], values
    )


def lstm() -> Cell:
    def body(x: Any, w: Any, u: Any, b: Any) -> Any:
        def step(state: Any, x_t: Any) -> Any:
            h, c = state
            i, f, g, o = jnp.split(x_t @ w + h @ u + b, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

        zeros = jnp.zeros((inputs.LSTM_BATCH, inputs.LSTM_STATE))
        return jax.lax.scan(step, (zeros, zeros), jnp.swapaxes(x, 0, 1))[0][0]

    return _cell(body, inputs.lstm())


def lstm_for() -> Cell:
    return lstm()


def _lstm_states(x: Any, w: Any, u: Any, b: Any) -> Any:
    """The state after each step, [step, batch, state]."""

    def step(state: Any, x_t: Any) -> Any:
        h, c = state
        i, f, g, o = jnp.split(x_t @ w + h @ u + b, 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zeros = jnp.zeros((inputs.LSTM_BATCH, inputs.LSTM_STATE))
    return jax.lax.scan(step, (zeros, zeros), jnp.swapaxes(x, 0, 1))[1]


def lstm_array() -> Cell:
    return _cell(_lstm_states, inputs.lstm())


def lstm_array_train() -> Cell:
    x, *values = inputs.lstm()

    def step(parameters: Any, x: Any) -> Any:
        def loss_of(parameters: Any) -> Any:
            return jnp.mean(_lstm_states(x, *parameters) ** 2)

        loss, gradients = jax.value_and_grad(loss_of)(parameters)
        return [p - inputs.SGD_RATE * g for p, g in zip(parameters, gradients, strict=True)], loss

    return _train_cell(jax.jit(step, donate_argnums=0), [jnp.asarray(x)], values)


def lstm_train() -> Cell:
    return lstm_array_train()


def beam_search() -> Cell:
    letters, width, steps = inputs.BEAM_LETTERS, inputs.BEAM_WIDTH, inputs.BEAM_STEPS

    def body(chances: Any) -> Any:
        def step(state: Any, _: Any) -> Any:
            scores, before, last = state
            totals = (scores[:, None] + chances[before, last]).reshape(-1)
            scores, places = jax.lax.top_k(totals, width)
            parent, letter = places // letters, places % letters
            return (scores, last[parent], letter), (parent, letter)

        def back(beam: Any, made: Any) -> Any:
            parent, letter = made
            return parent[beam], letter[beam]

        beams = jnp.arange(width)
        start = jnp.where(beams == 0, 0.0, -jnp.inf), beams * 0, beams * 0
        (scores, _, _), made = jax.lax.scan(step, start, length=steps)
        return scores, jax.lax.scan(back, beams, made, reverse=True)[1]

    f, chances = jax.jit(body), jnp.asarray(inputs.beam_search())
    return Cell("f(chances)", {"f": f, "chances": chances}, lambda: _sums(*f(chances)))


def _row(row: Any) -> Any:
    return jnp.sum(jnp.tanh(row) * row)


def map_fn() -> Cell:
    return _cell(lambda x: jax.lax.map(_row, x), [inputs.rows()])


def vectorized_map() -> Cell:
    return _cell(jax.vmap(_row), [inputs.rows()])


def jacobian_mlp() -> Cell:
    image, values = inputs.jacobian()
    parameters = [jnp.asarray(value) for value in values]
    return _cell(jax.jacrev(lambda x: _mlp_logits(x, parameters)), [image])


def hvp() -> Cell:
    images, labels, values, changes = inputs.hvp()
    x, y = jnp.asarray(images), jnp.asarray(labels)
    parameters = [jnp.asarray(value) for value in values]
    tangents = [jnp.asarray(change) for change in changes]

    def body(x: Any, y: Any, parameters: list[Any], tangents: list[Any]) -> Any:
        gradient = jax.grad(lambda p: _loss(_mlp_logits(x, p), y))
        return jax.jvp(gradient, (parameters,), (tangents,))[1]

    f = jax.jit(body)
    names = {"f": f, "x": x, "y": y, "p": parameters, "t": tangents}
    return Cell("f(x, y, p, t)", names, lambda: _sums(*f(x, y, parameters, tangents)))


def trace_50_ifs() -> Cell:
    x = jnp.float32(0.5)

    def make_call(traces: list[int]) -> Callable[[], Any]:
        def body(x: Any) -> Any:
            traces.append(1)
            for i in range(inputs.IFS):
                x = jax.lax.cond(x > 0.1 * i, lambda x: x * 1.01, lambda x: x + 0.5, x)
            return x

        f = jax.jit(body)
        return lambda: f(x)

    return _first_call(make_call)


def _modulo_loop(length: Any) -> Cell:
    def body(n: Any) -> Any:
        return jax.lax.while_loop(
            lambda v: v[1] < n, lambda v: (v[0] + v[1] % 7, v[1] + 1), (jnp.int32(0), jnp.int32(0))
        )[0]

    return _cell(body, [length])


def while_modulo() -> Cell:
    return _modulo_loop(inputs.LOOP_LENGTH)


def while_modulo_million() -> Cell:
    return _modulo_loop(inputs.MILLION)


def while_collatz_million() -> Cell:
    def step(v: Any) -> Any:
        n, count = v
        return jax.lax.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1), count + 1

    def body(starts: Any) -> Any:
        return jax.lax.fori_loop(
            1,
            starts,
            lambda start, count: jax.lax.while_loop(lambda v: v[0] != 1, step, (start, count))[1],
            jnp.int32(0),
        )

    return _cell(body, [inputs.COLLATZ_STARTS])


def while_collatz() -> Cell:
    def body(n: Any) -> Any:
        def step(v: Any) -> Any:
            n, count = v
            return jax.lax.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1), count + 1

        return jax.lax.while_loop(lambda v: v[0] != 1, step, (n, jnp.int32(0)))[1]

    return _cell(body, [inputs.COLLATZ_START])


def transformer() -> Cell:
    x, values = inputs.transformer()
    batch, length, width = inputs.BLOCK_BATCH, inputs.BLOCK_LENGTH, inputs.BLOCK_WIDTH
    heads = inputs.BLOCK_HEADS
    names = list(values)

    def body(x: Any, *parameters: Any) -> Any:
        p = dict(zip(names, parameters, strict=True))
        h = _layer_norm(x, p["scale_1"], p["shift_1"])
        qkv = (h @ p["qkv"]).reshape(batch, length, 3, heads, width // heads)
        q, k, v = jnp.transpose(qkv, (2, 0, 3, 1, 4))
        scores = q @ jnp.swapaxes(k, -1, -2) * (width // heads) ** -0.5
        mixed = jnp.transpose(jax.nn.softmax(scores) @ v, (0, 2, 1, 3))
        x = x + mixed.reshape(batch, length, width) @ p["project"]
        h = _layer_norm(x, p["scale_2"], p["shift_2"])
        return x + _gelu(h @ p["up"] + p["up_bias"]) @ p["down"] + p["down_bias"]

    return _cell(body, [x, *values.values()])


def lengths() -> Cell:
    arrays, weight = inputs.lengths()
    xs, w = [jnp.asarray(array) for array in arrays], jnp.asarray(weight)
    last: list[Any] = []

    def body(x: Any, w: Any) -> Any:
        return jnp.sum(jnp.tanh(x @ w))

    def all_lengths() -> None:
        f = jax.jit(body)
        last[:] = [f(x, w) for x in xs]

    body(w, w)  # Loads the libraries that a first op loads.
    return Cell("all_lengths()", {"all_lengths": all_lengths}, lambda: _sums(*last))
