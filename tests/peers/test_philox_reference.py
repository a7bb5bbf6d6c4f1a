"""Shows that philox_reference.py gives TensorFlow's random numbers."""

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
import tensorflow as tf
from ops import philox_reference as reference

FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
INTEGERS = [np.int32, np.int64, np.uint32, np.uint64]
SHAPES = [[], [0], [1], [3], [7], [5, 3], [2, 0, 4], [100_003]]
SEEDS = [[0, 0], [7, -3], [-1, 2**31 - 1], [2**40 + 3, -(2**63)]]
# Box-Muller takes log, sin and cos, which differ in the last bit from library to library.
NORMAL_TOLERANCE = {np.float32: 1e-6, np.float64: 1e-14, np.float16: 2e-3, ml_dtypes.bfloat16: 2e-2}


def assert_same_bits(actual: tf.Tensor, expected: npt.NDArray[np.generic]) -> None:
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    assert actual.numpy().tobytes() == expected.tobytes()


def assert_close(actual: tf.Tensor, expected: npt.NDArray[np.generic], dtype: type) -> None:
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    difference = np.abs(actual.numpy().astype(np.float64) - expected.astype(np.float64))
    bound = NORMAL_TOLERANCE[dtype] * np.maximum(1.0, np.abs(expected.astype(np.float64)))
    assert (difference <= bound).all()


def stateless_seed(seed: list[int]) -> tf.Tensor:
    return tf.constant(seed, tf.int64)


def test_block_gives_the_known_answers_of_its_authors() -> None:
    # The vectors of the Random123 distribution for philox4x32-10.
    ones = reference.block(np.full((1, 4), 2**32 - 1, np.uint32), 2**64 - 1)
    assert [hex(word) for word in ones[0]] == [
        "0x408f276d",
        "0x41c83b0e",
        "0xa20bc7c6",
        "0x6d5451fd",
    ]
    zeros = reference.block(np.zeros((1, 4), np.uint32), 0)
    assert [hex(word) for word in zeros[0]] == [
        "0x6627e8d5",
        "0xe169c58d",
        "0xbc57ac4c",
        "0x9b00dbd8",
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_scramble_gives_key_and_counter(seed: list[int]) -> None:
    counter, key = reference.scramble(seed)
    their_key, their_counter = tf.raw_ops.StatelessRandomGetKeyCounter(seed=stateless_seed(seed))
    assert their_key.numpy().tolist() == [key]
    assert their_counter.numpy().tolist() == [counter & reference.MASK64, counter >> 64]


def test_a_seed_of_int32_is_sign_extended() -> None:
    actual = tf.random.stateless_uniform([5], tf.constant([7, -3], tf.int32))
    assert_same_bits(actual, reference.uniform(*reference.scramble([7, -3]), [5], np.float32))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_stateless_uniform_of_floats(dtype: type, shape: list[int]) -> None:
    for seed in SEEDS:
        actual = tf.random.stateless_uniform(shape, stateless_seed(seed), dtype=dtype)
        assert_same_bits(actual, reference.uniform(*reference.scramble(seed), shape, dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_stateless_uniform_of_floats_in_a_range(dtype: type) -> None:
    actual = tf.random.stateless_uniform([1001], [7, -3], -0.37, 2.11, dtype=dtype)
    stream = reference.scramble([7, -3])
    assert_same_bits(actual, reference.uniform(*stream, [1001], dtype, -0.37, 2.11))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_stateless_uniform_of_integers_in_the_full_range(dtype: type, shape: list[int]) -> None:
    for seed in SEEDS:
        actual = tf.random.stateless_uniform(shape, stateless_seed(seed), None, None, dtype)
        expected = reference.uniform(*reference.scramble(seed), shape, dtype, None, None)
        assert_same_bits(actual, expected)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_stateless_uniform_of_integers_in_a_range(dtype: type) -> None:
    limits = np.iinfo(dtype)
    for low, high in [(0, 3), (5, 1000), (-7, 4), (limits.min, limits.max), (limits.min, 0)]:
        actual = tf.random.stateless_uniform([1001], [7, -3], low, high, dtype)
        stream = reference.scramble([7, -3])
        assert_same_bits(actual, reference.uniform(*stream, [1001], dtype, low, high))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_stateless_normal(dtype: type, shape: list[int]) -> None:
    stream = reference.scramble([7, -3])
    actual = tf.random.stateless_normal(shape, [7, -3], dtype=dtype)
    assert_close(actual, reference.normal(*stream, shape, dtype), dtype)
    actual = tf.random.stateless_normal(shape, [7, -3], 0.25, 1.75, dtype=dtype)
    assert_close(actual, reference.normal(*stream, shape, dtype, 0.25, 1.75), dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_stateless_truncated_normal(dtype: type) -> None:
    actual = tf.random.stateless_truncated_normal([2001], [7, -3], dtype=dtype)
    stream = reference.scramble([7, -3])
    assert_close(actual, reference.truncated_normal(*stream, [2001], dtype), dtype)


@pytest.mark.parametrize("seed", [0, 5, -9, 2**62, 2**63, 2**64 + 3, 2**191, -(2**130)])
def test_generator_from_seed_draws_and_moves_on(seed: int) -> None:
    theirs, ours = tf.random.Generator.from_seed(seed), reference.Generator(seed)
    assert_same_bits(theirs.state, ours.state)
    assert_same_bits(theirs.uniform([7, 3]), ours.uniform([7, 3]))
    assert_same_bits(theirs.state, ours.state)
    actual = theirs.uniform([3], 2.0, 5.0, tf.float64)
    assert_same_bits(actual, ours.uniform([3], np.float64, 2.0, 5.0))
    assert_close(theirs.normal([9], 1.0, 2.0), ours.normal([9], np.float32, 1.0, 2.0), np.float32)
    actual = theirs.uniform([9], -4, 9, tf.int64)
    assert_same_bits(actual, ours.uniform([9], np.int64, -4, 9))
    actual = theirs.uniform_full_int([9], tf.uint32)
    assert_same_bits(actual, ours.uniform([9], np.uint32, None, None))
    theirs.skip(11)
    ours.skip(11)
    assert_same_bits(theirs.uniform([0]), ours.uniform([0]))
    assert_same_bits(theirs.uniform([]), ours.uniform([]))
    assert_same_bits(theirs.state, ours.state)


def test_counter_of_a_generator_carries_into_its_second_word() -> None:
    start = 2**64 - 3
    theirs, ours = tf.random.Generator.from_seed(start), reference.Generator(start)
    assert_same_bits(theirs.uniform([40]), ours.uniform([40]))
    assert_same_bits(theirs.state, ours.state)
    assert ours.state.tolist()[1] == 1


def test_counter_of_a_generator_wraps_without_touching_the_key() -> None:
    start = 2**128 - 3
    theirs, ours = tf.random.Generator.from_seed(start), reference.Generator(start)
    assert_same_bits(theirs.uniform([40]), ours.uniform([40]))
    assert_same_bits(theirs.state, ours.state)
    assert ours.state.tolist()[1:] == [0, 0]


def test_generator_from_a_list_has_zeros_in_front() -> None:
    assert tf.random.Generator.from_seed([1, 2]).state.numpy().tolist() == [0, 1, 2]
    assert tf.random.Generator.from_seed([1, 2, 3]).state.numpy().tolist() == [1, 2, 3]


def test_keys_of_split_and_seeds_of_make_seeds_are_full_range_numbers() -> None:
    keys = reference.Generator(5).uniform([3], np.int64, None, None).tolist()
    theirs = tf.random.Generator.from_seed(5)
    assert [g.state.numpy().tolist() for g in theirs.split(3)] == [[0, 0, key] for key in keys]
    theirs = tf.random.Generator.from_seed(5)
    assert theirs.make_seeds(3).numpy().tolist() == [keys, [0, 0, 0]]


GLOBAL_SEEDS = [0, 3, -4, 2**31 - 1, 2**40]


@pytest.mark.parametrize("global_seed", GLOBAL_SEEDS)
def test_eager_ops_without_op_seed_follow_the_global_seed(global_seed: int) -> None:
    tf.random.set_seed(global_seed)
    op_seeds = reference.EagerOpSeeds(global_seed)

    def next_op() -> reference.StatefulOp:
        return reference.StatefulOp(reference.op_seeds(global_seed, op_seeds.next()))

    for _ in range(20):
        assert_same_bits(tf.random.uniform([5]), next_op().uniform([5]))
    actual = tf.random.normal([5], 1.0, 2.0)
    assert_close(actual, next_op().normal([5], np.float32, 1.0, 2.0), np.float32)
    actual = tf.random.uniform([5], -3, 9, tf.int32)
    assert_same_bits(actual, next_op().uniform([5], np.int32, -3, 9))


@pytest.mark.parametrize("op_seed", [0, 5, -2, 2**35])
@pytest.mark.parametrize("global_seed", GLOBAL_SEEDS)
def test_eager_ops_with_op_seed_go_on_where_the_last_one_ended(
    global_seed: int, op_seed: int
) -> None:
    tf.random.set_seed(global_seed)
    seeds = reference.op_seeds(global_seed, op_seed)
    for dtype in FLOATS:
        op = reference.StatefulOp(seeds)
        for shape in ([5], [5], [2, 3]):
            actual = tf.random.uniform(shape, -1.0, 1.0, dtype, seed=op_seed)
            assert_same_bits(actual, op.uniform(shape, dtype, -1.0, 1.0))
        op = reference.StatefulOp(seeds)
        for _ in range(2):
            actual = tf.random.normal([7], dtype=dtype, seed=op_seed)
            assert_close(actual, op.normal([7], dtype), dtype)
    for dtype in (np.int32, np.int64):
        op = reference.StatefulOp(seeds)
        for high in (10, 10, 13):  # the range is an input, so the op stays the same
            actual = tf.random.uniform([7], 0, high, dtype, seed=op_seed)
            assert_same_bits(actual, op.uniform([7], dtype, 0, high))


def test_op_seed_alone_goes_with_the_default_global_seed() -> None:
    tf.random.set_seed(None)  # as before the first set_seed
    op = reference.StatefulOp(reference.op_seeds(None, 5))
    for _ in range(2):
        assert_same_bits(tf.random.uniform([5], seed=5), op.uniform([5]))

    @tf.function  # type: ignore[untyped-decorator]
    def draw() -> tf.Tensor:
        return tf.random.uniform([3], seed=5)

    op = reference.StatefulOp(reference.op_seeds(None, 5))
    for _ in range(2):
        assert_same_bits(draw(), op.uniform([3]))


def test_ops_of_a_function_are_numbered_and_each_keeps_its_counter() -> None:
    tf.random.set_seed(9)

    @tf.function  # type: ignore[untyped-decorator]
    def draw() -> tuple[tf.Tensor, ...]:
        return (
            tf.random.uniform([3]),
            tf.random.uniform([3], seed=4),
            tf.random.uniform([5], 0, 100, tf.int32),
            tf.random.uniform([2]),
        )

    for _ in range(2):  # set_seed starts the sequence anew
        ops = [reference.StatefulOp(reference.op_seeds(9, seed)) for seed in (0, 4, 1, 2)]
        for _ in range(3):
            a, b, c, d = draw()
            assert_same_bits(a, ops[0].uniform([3]))
            assert_same_bits(b, ops[1].uniform([3]))
            assert_same_bits(c, ops[2].uniform([5], np.int32, 0, 100))
            assert_same_bits(d, ops[3].uniform([2]))
        tf.random.set_seed(9)


def test_refusals_are_those_of_section_6() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Need minval < maxval, got 5 >= 5"):
        tf.random.stateless_uniform([2], [1, 2], 5, 5, tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Need minval < maxval, got 5 >= 5"):
        tf.random.uniform([2], 5, 5, tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="maxval must be 0-D, got shape"):
        tf.random.stateless_uniform([2], [1, 2], 0, [3, 4], tf.int32)
    with pytest.raises(ValueError, match="must be both None or not None"):
        tf.random.stateless_uniform([2], [1, 2], 0, None, tf.int32)
    with pytest.raises(ValueError, match="Must specify maxval"):
        tf.random.uniform([2], dtype=tf.int32)
    with pytest.raises(ValueError, match="unsigned"):
        tf.random.stateless_uniform([2], [1, 2], tf.constant(0, tf.uint32), 3, tf.uint32)
    with pytest.raises(ValueError, match="got invalid value <dtype: 'uint32'>"):
        tf.random.uniform([2], 0, 5, tf.uint32)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"seed must have shape \[2\], not \[3\]"
    ):
        tf.random.stateless_uniform([2], [1, 2, 3])
