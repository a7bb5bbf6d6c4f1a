"""Random numbers: those that TensorFlow gives for the same seeds, bit for bit where it can be.

The reference is philox_reference.py, which tests/peers holds against TensorFlow.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ops import philox_reference as philox
from ops.sample import (
    DTYPE,
    FLOATS,
    PLAIN,
    Sample,
    Wrong,
    float32,
    int32,
    int64,
    numpy_dtype,
    uint64,
)
from ops.setups import are_unforeseeable, on_variable, with_streams_restarted

WIDE = ("int32", "int64", "uint32", "uint64")
RANGED = ("int32", "int64")
SHAPES = (int32([]), int32([7]), int64([3, 5]), int32([0, 4]))
SEEDS = (int32([7, -3]), int64([2**40, 5]))
PHILOX = int32(1)


def _key_and_counter(seed: Any) -> tuple[Any, Any]:
    counter, key = philox.scramble([int(s) for s in seed])
    return uint64([key]), uint64([counter & philox.MASK64, counter >> 64])


def _stream(key: Any, counter: Any) -> tuple[int, int]:
    return int(counter[0]) | int(counter[1]) << 64, int(key[0])


def _allowed(kind: str) -> dict[str, Any]:
    """Logarithms and sines of two libraries differ in their last digit."""
    return {} if kind in ("unit", "full_range") else {"tolerance": 1e-6, "ulp": 1}


def _draw(kind: str, counter: int, key: int, shape: Any, dtype: str) -> Any:
    sizes = [int(size) for size in shape]
    if kind == "truncated_normal":
        return philox.truncated_normal(counter, key, sizes, numpy_dtype(dtype))
    return philox.draw(kind, counter, key, sizes, numpy_dtype(dtype))


def _dtypes(kind: str) -> tuple[str, ...]:
    return WIDE if kind == "full_range" else FLOATS


def _stateless(op: str, kind: str) -> Iterator[Sample]:
    for shape in SHAPES:
        for seed in SEEDS:
            yield Sample(
                op,
                (shape, seed),
                lambda shape, seed, dtype: _draw(
                    kind, *philox.scramble(seed.tolist()), shape, dtype
                ),
                _dtypes(kind),
                {"dtype": DTYPE},
                **_allowed(kind),
            )
        key, counter = _key_and_counter(SEEDS[0])
        yield Sample(
            op + "V2",
            (shape, key, counter, PHILOX),
            lambda shape, key, counter, alg, dtype: _draw(
                kind, *_stream(key, counter), shape, dtype
            ),
            _dtypes(kind),
            {"dtype": DTYPE},
            **_allowed(kind),
        )


def _ranged(shape: Any, counter: int, key: int, low: Any, high: Any) -> Any:
    sizes = [int(size) for size in shape]
    return philox.integers(counter, key, sizes, low.dtype, int(low), int(high))


def _stateful(op: str, kind: str) -> Iterator[Sample]:
    """Two calls of one op with seeds: the second goes on where the first ended."""

    def draws(shape: Any, seed: int, seed2: int, dtype: str) -> Any:
        stream = philox.StatefulOp((seed, seed2))
        count = int(np.prod(shape))
        return tuple(_draw(kind, stream.skip(count), stream.key, shape, dtype) for _ in range(2))

    for shape in SHAPES:
        yield Sample(
            op,
            (shape,),
            draws,
            FLOATS,
            {"seed": 3, "seed2": 5, "dtype": DTYPE},
            setup=with_streams_restarted,
            calls=2,
            **_allowed(kind),
        )


def _stateful_integers(shape: Any, low: Any, high: Any, seed: int, seed2: int) -> Any:
    stream = philox.StatefulOp((seed, seed2))
    count = int(np.prod(shape))
    return tuple(_ranged(shape, stream.skip(count), stream.key, low, high) for _ in range(2))


def _shuffled_by(x: Any, counter: int, key: int) -> Any:
    """Swaps each row but the last with one of those from it on, by one word each."""
    n = len(x)
    words = philox.groups(counter, key, max(1, -(-(n - 1) // 4))).ravel().tolist()
    order = list(range(n))
    for i in range(n - 1):
        j = i + words[i] % (n - i)
        order[i], order[j] = order[j], order[i]
    return x[order]


def _shuffled(x: Any, seed: int, seed2: int) -> Any:
    stream = philox.StatefulOp((seed, seed2))
    return _shuffled_by(x, stream.counter, stream.key)


def _classes(logits: Any, num_samples: Any, counter: int, key: int, dtype: str) -> Any:
    """The first class whose running total is above a uniform share of the whole."""
    shape = (len(logits), int(num_samples))
    shares = philox.draw("unit", counter, key, shape, np.dtype(np.float64))
    rows = logits.astype(np.float64)
    finite = np.isfinite(rows)
    largest = np.max(np.where(finite, rows, -np.inf), axis=1, keepdims=True)
    totals = np.cumsum(np.where(finite, np.exp(rows - largest), 0), axis=1)
    return np.array(
        [
            np.searchsorted(total, share * total[-1], "right")
            for total, share in zip(totals, shares, strict=True)
        ]
    ).reshape(shape).astype(numpy_dtype(dtype))  # fmt: skip


def _drawn_classes(logits: Any, num_samples: Any, seed: int, seed2: int, output_dtype: str) -> Any:
    """Two calls; each passes whole groups for each row, of two words a number."""
    stream = philox.StatefulOp((seed, seed2))
    count = len(logits) * -(-int(num_samples) // 4) * 4 * 2
    return tuple(
        _classes(logits, num_samples, stream.skip(count), stream.key, output_dtype)
        for _ in range(2)
    )


LOGITS = ([[0.5, -1, 2], [0, 3, np.nan]], [[-np.inf, 1, 0.25, 0.125]])


STATES = (int64([5, 0, 9]), int64([-3, -1, 2**40]))


def _generator(state: Any) -> philox.Generator:
    words = [int(word) & philox.MASK64 for word in state]
    generator = philox.Generator(0)
    generator.counter, generator.key = words[0] | words[1] << 64, words[2]
    return generator


def _of_generator(op: str, kind: str) -> Iterator[Sample]:
    def draws(state: Any, algorithm: Any, shape: Any, dtype: str) -> Any:
        generator = _generator(state)
        count = int(np.prod(shape))
        drawn = [_draw(kind, generator.skip(count), generator.key, shape, dtype) for _ in range(2)]
        return (*drawn, generator.state)

    for shape in SHAPES:
        for state in STATES:
            yield Sample(
                op,
                (state, int64(1), shape),
                draws,
                _dtypes(kind),
                {"dtype": DTYPE},
                setup=on_variable,
                calls=2,
                **_allowed(kind),
            )


def _integers_of_generator(state: Any, algorithm: Any, shape: Any, low: Any, high: Any) -> Any:
    generator = _generator(state)
    counter = generator.skip(int(np.prod(shape)))
    return _ranged(shape, counter, generator.key, low, high), generator.state


def _skipped(state: Any, algorithm: Any, delta: Any) -> Any:
    generator = _generator(state)
    generator.skip(int(delta))
    return generator.state


SAMPLES = [
    *_stateless("StatelessRandomUniform", "unit"),
    *_stateless("StatelessRandomNormal", "standard_normal"),
    *_stateless("StatelessTruncatedNormal", "truncated_normal"),
    *_stateless("StatelessRandomUniformFullInt", "full_range"),
    *[
        Sample("StatelessRandomUniformInt", (shape, seed, low, high),
               lambda shape, seed, low, high:
               _ranged(shape, *philox.scramble(seed.tolist()), low, high), RANGED)
        for shape in SHAPES for seed in SEEDS for low, high in ((-3, 9), (100, 101))
    ],
    *[
        Sample("StatelessRandomUniformIntV2", (shape, *_key_and_counter(SEEDS[1]), PHILOX, -3, 9),
               lambda shape, key, counter, alg, low, high:
               _ranged(shape, *_stream(key, counter), low, high), RANGED)
        for shape in SHAPES
    ],
    *[
        Sample("StatelessRandomGetKeyCounter", (seed,), _key_and_counter) for seed in SEEDS
    ],
    *[
        Sample("StatelessRandomGetKeyCounterAlg", (seed,),
               lambda seed: (*_key_and_counter(seed), PHILOX)) for seed in SEEDS
    ],
    Sample("StatelessRandomGetAlg", (), lambda: PHILOX),
    *_stateful("RandomUniform", "unit"),
    *_stateful("RandomStandardNormal", "standard_normal"),
    *_stateful("TruncatedNormal", "truncated_normal"),
    *[
        Sample("RandomUniformInt", (shape, -3, 9), _stateful_integers, RANGED,
               {"seed": 3, "seed2": 5}, setup=with_streams_restarted, calls=2)
        for shape in SHAPES
    ],
    *[
        Sample("RandomShuffle", (values,), _shuffled, PLAIN, {"seed": 3, "seed2": 5},
               setup=with_streams_restarted)
        for values in (list(range(11)), [[1, 2], [3, 4], [5, 6]], [7])
    ],
    Sample("RandomShuffle", (["a", "b", "c", "d", "e"],),
           _shuffled, ("string",), {"seed": 3, "seed2": 5}, setup=with_streams_restarted),
    *[
        Sample("StatelessShuffle", (values, *_key_and_counter(seed), PHILOX),
               lambda x, key, counter, alg: _shuffled_by(x, *_stream(key, counter)), PLAIN)
        for values in (list(range(11)), [[1, 2], [3, 4], [5, 6]], [7]) for seed in SEEDS
    ],
    Sample("StatelessShuffle", (["a", "b", "c", "d", "e"], *_key_and_counter(SEEDS[0]), PHILOX),
           lambda x, key, counter, alg: _shuffled_by(x, *_stream(key, counter)), ("string",)),
    *[
        Sample("Multinomial", (logits, int32(num_samples)), _drawn_classes, FLOATS,
               {"seed": 3, "seed2": 5, "output_dtype": index},
               setup=with_streams_restarted, calls=2)
        for logits in LOGITS for num_samples in (0, 5) for index in RANGED
    ],
    *[
        Sample("StatelessMultinomial", (logits, int32(num_samples), seed),
               lambda logits, num_samples, seed, output_dtype:
               _classes(logits, num_samples, *philox.scramble(seed.tolist()), output_dtype),
               FLOATS, {"output_dtype": index})
        for logits in LOGITS for num_samples in (0, 5) for seed in SEEDS for index in RANGED
    ],
    *_of_generator("StatefulUniform", "unit"),
    *_of_generator("StatefulStandardNormalV2", "standard_normal"),
    *_of_generator("StatefulTruncatedNormal", "truncated_normal"),
    *_of_generator("StatefulUniformFullInt", "full_range"),
    *[
        Sample("StatefulUniformInt", (STATES[0], int64(1), shape, -3, 9),
               _integers_of_generator, RANGED, setup=on_variable)
        for shape in SHAPES
    ],
    *[
        Sample("RngSkip", (state, int64(1), int64(delta)), _skipped, setup=on_variable)
        for state in STATES for delta in (0, 7, 2**50)
    ],
    *[
        Sample("RngReadAndSkip", (state, int32(1), uint64(delta)),
               lambda *x: (x[0], _skipped(*x)), setup=on_variable)
        for state in STATES for delta in (0, 7, 2**50)
    ],
    Sample("RngReadAndSkip", (STATES[0], int32(1), uint64(2**63)),
           lambda *x: (x[0], _skipped(*x)), setup=on_variable,
           beside_tensorflow="256 * delta overflows there"),
    *[
        Sample("NonDeterministicInts", (np.array([100], dtype),),
               lambda shape, dtype: (True, shape), WIDE[1:], {"dtype": DTYPE},
               setup=are_unforeseeable)
        for dtype in (np.int32, np.int64)
    ],
]  # fmt: skip

SHAPE, KEY, COUNTER = int32([2]), uint64([1]), uint64([1, 2])
ONE_TO_ONE = (int32(1), int32(1))
_V2 = ("StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2",
       "StatelessRandomUniformFullIntV2")  # fmt: skip
_BY_SEED = tuple(op.removesuffix("V2") for op in _V2)
_STATEFUL = ("RandomUniform", "RandomStandardNormal", "TruncatedNormal")
_OF_GENERATOR = ("StatefulUniform", "StatefulStandardNormalV2", "StatefulTruncatedNormal",
                 "StatefulUniformFullInt")  # fmt: skip
WRONG = [
    *[Wrong(op, (SHAPE, int32([1])), "seed must have shape [2], not [1]") for op in _BY_SEED],
    *[Wrong(op, (int32([2, -1]), int32([1, 2])), "-1") for op in _BY_SEED],
    *[
        Wrong(op, (SHAPE, float32([1, 2])), "Value for attr 'Tseed' of float is not in the list")
        for op in _BY_SEED
    ],
    *[
        Wrong(op, (SHAPE, uint64([1, 2]), COUNTER, PHILOX), "key must have shape [1]")
        for op in _V2
    ],
    *[
        Wrong(op, (SHAPE, KEY, uint64([1]), PHILOX), "counter must be of size at least 2",
              beside_tensorflow="it reads what lies behind the counter in memory")
        for op in _V2
    ],
    *[
        Wrong(op, (SHAPE, KEY, COUNTER, int32(7)), "Unsupported algorithm id: 7") for op in _V2
    ],
    *[Wrong(op, (int32([-1]),), "-1", attrs={"dtype": "float32"}) for op in _STATEFUL],
    *[Wrong(op, (float32([1]),), "Value for attr 'T' of float is not in the list",
            attrs={"dtype": "float32"}) for op in _STATEFUL],
    *[Wrong(op, (float32([1, 2, 3]), int64(1), SHAPE), "3 int64", setup=on_variable)
      for op in _OF_GENERATOR],
    *[Wrong(op, (int64([1, 2]), int64(1), SHAPE), "at least 3", setup=on_variable)
      for op in _OF_GENERATOR],
    *[Wrong(op, (int64([1, 2, 3]), int64(9), SHAPE), "Unsupported algorithm id: 9",
            setup=on_variable) for op in _OF_GENERATOR],
    Wrong("StatelessRandomUniformInt", (SHAPE, int32([1, 2]), *ONE_TO_ONE),
          "Need minval < maxval, got 1 >= 1"),
    Wrong("StatelessRandomUniformInt", (SHAPE, int32([1, 2]), int32([1]), int32(2)),
          "minval must be 0-D, got shape [1]"),
    Wrong("StatelessRandomUniformIntV2", (SHAPE, KEY, COUNTER, PHILOX, *ONE_TO_ONE),
          "Need minval < maxval, got 1 >= 1"),
    Wrong("RandomUniformInt", (SHAPE, *ONE_TO_ONE), "Need minval < maxval, got 1 >= 1"),
    Wrong("RandomUniformInt", (SHAPE, int32(1), int32([2])),
          "maxval must be 0-D, got shape [1]"),
    Wrong("StatefulUniformInt", (STATES[0], int64(1), SHAPE, int32(3), int32(2)),
          "Need minval < maxval, got 3 >= 2", setup=on_variable),
    Wrong("StatelessShuffle", (SHAPE, uint64([1, 2]), COUNTER, PHILOX), "key must have shape [1]"),
    *[
        Wrong(op, (logits, num_samples, *seed), message)
        for op, seed in (("Multinomial", ()), ("StatelessMultinomial", (int32([1, 2]),)))
        for logits, num_samples, message in (
            (float32([1, 2]), int32(1), "logits should be a matrix, got shape [2]"),
            (float32([[1, 2]]), int32([1]), "num_samples should be a scalar, got shape [1]"),
            (float32([[1, 2]]), int32(-1), "num_samples should be non-negative, got -1"),
            (float32([[], []]), int32(1), "num_classes should be positive, got 0"),
        )
    ],
    Wrong("StatelessMultinomial", (float32([[1]]), int32(1), int32([1, 2, 3])),
          "seed must have shape [2], not [3]"),
    Wrong("StatelessRandomGetKeyCounter", (int32([1, 2, 3]),),
          "seed must have shape [2], not [3]"),
    Wrong("StatelessRandomGetKeyCounterAlg", (int32([1, 2, 3]),),
          "seed must have shape [2], not [3]"),
    Wrong("RngSkip", (int64([1, 2]), int64(1), int64(1)), "at least 3",
          setup=on_variable),
    Wrong("RngSkip", (int64([1, 2, 3]), int64(2), int64(1)), "ThreeFry",
          error="UnimplementedError", setup=on_variable),
    Wrong("RngReadAndSkip", (int64([1, 2, 3]), int32(9), uint64(1)),
          "Unsupported algorithm id: 9", setup=on_variable),
    Wrong("NonDeterministicInts", (float32([1]),),
          "has no kernel for attr 'shape_dtype' of float", error="NotFoundError"),
]  # fmt: skip
