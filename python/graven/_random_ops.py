"""Random numbers: the same seeds give TensorFlow's numbers."""

from __future__ import annotations

import enum
from typing import Any, TypedDict

from graven import _engine
from graven import raw_ops as raw
from graven._dtypes import (
    DType,
    as_dtype,
    bfloat16,
    float16,
    float32,
    float64,
    int32,
    int64,
    uint32,
    uint64,
)
from graven._functions import add, concat, reduce_prod, stack, zeros
from graven._scopes import init_scope, name_scope
from graven._tensor_shape import TensorShape
from graven._types import DTypeLike, Name, ShapeLike, Tensor, TensorLike
from graven._unsupported import PublicClass, PublicEnumClass
from graven._variable import Variable

convert_to_tensor = _engine.convert_to_tensor

_MASK64 = 2**64 - 1
_FLOATS = (float16, bfloat16, float32, float64)


def _static_sizes(shape: ShapeLike) -> list[int] | None:
    """The sizes, if they are Python numbers."""
    if isinstance(shape, TensorShape):
        return [int(size or 0) for size in shape] if shape.is_fully_defined() else None
    if isinstance(shape, int):
        return [shape]
    if isinstance(shape, (list, tuple)) and all(isinstance(size, int) for size in shape):
        return list(shape)
    return None


def sizes_tensor(shape: ShapeLike) -> Tensor:
    """A shape as a vector of integers: int32, or int64 where a number does not fit."""
    sizes = _static_sizes(shape)
    if sizes is not None:
        fits = all(-(2**31) <= size < 2**31 for size in sizes)
        return _engine.constant(sizes, int32 if fits else int64)
    return convert_to_tensor(shape)


class Algorithm(enum.Enum, metaclass=PublicEnumClass):
    """The algorithms of random numbers, by TensorFlow's numbers. Philox is the one there is.

    Source: tf.random.Algorithm.
    """

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def _algorithm_number(alg: Any) -> int:
    if isinstance(alg, Algorithm):
        return int(alg.value)
    if isinstance(alg, str):
        names = {"philox": 1, "threefry": 2, "auto_select": 3}
        if alg not in names:
            raise ValueError(f"Unsupported algorithm name: {alg}; it is one of {sorted(names)}")
        return names[alg]
    return int(alg)


# --- Seeds of stateful ops.


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """Makes the two seeds of a stateful op, (None, None) for numbers that nobody foresees.

    Args:
      op_seed: The seed that the op was given, if any.

    Returns:
      Two integers, or two None.

    Source: tf.compat.v1.get_seed.
    """
    return _engine.seeds_of_op(None if op_seed is None else int(op_seed)) or (None, None)


class _SeedAttributes(TypedDict):
    seed: int
    seed2: int


def _seed_attributes(op_seed: int | None) -> _SeedAttributes:
    first, second = get_seed(op_seed)
    return {"seed": first or 0, "seed2": second or 0}


# --- What several functions share.


def _check_dtype(dtype: DTypeLike, accepted: tuple[DType, ...]) -> DType:
    wanted: DType = as_dtype(dtype)
    if wanted not in accepted:
        names = ", ".join(accepted_dtype.name for accepted_dtype in accepted)
        raise ValueError(
            f"Argument `dtype` got invalid value {wanted}. Accepted dtypes are {names}"
        )
    return wanted


def _check_bounds(dtype: DType, minval: Any, maxval: Any) -> None:
    if (minval is None) != (maxval is None):
        raise ValueError(
            f"For integer `dtype` argument {dtype}, argument `minval` and `maxval` must be both "
            f"None or not None. Got `minval`={minval} and `maxval`={maxval}."
        )
    if minval is not None and dtype in (uint32, uint64):
        raise ValueError(
            f"Argument `dtype` got invalid value {dtype} when argument `minval` is not None. "
            "Please don't use unsigned integers in this case."
        )


def _scaled(unit: Tensor, minval: TensorLike, maxval: TensorLike, name: Name) -> Tensor:
    low = convert_to_tensor(minval, unit.dtype)
    high = convert_to_tensor(1 if maxval is None else maxval, unit.dtype)
    return add(unit * (high - low), low, name=name)


def _moved(standard: Tensor, mean: TensorLike, stddev: TensorLike, name: Name) -> Tensor:
    deviation = convert_to_tensor(stddev, standard.dtype)
    return add(standard * deviation, convert_to_tensor(mean, standard.dtype), name=name)


def _is_number(value: Any, number: int) -> bool:
    return isinstance(value, (int, float)) and value == number


# --- Stateful functions.


def normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = float32,
    seed: int | None = None,
    name: Name = None,
) -> Tensor:
    """Draws normal numbers.

    Args:
      shape: The shape of the result.
      mean: The mean, which broadcasts with the shape.
      stddev: The standard deviation, likewise.
      dtype: float16, bfloat16, float32 or float64.
      seed: With a seed, the same program draws the same numbers; see set_seed.
      name: A name for the node while a function is traced.

    Returns:
      The numbers.

    Source: tf.random.normal, OpDef "RandomStandardNormal".
    """
    with name_scope(name or "random_normal") as scope:
        standard = raw.RandomStandardNormal(
            sizes_tensor(shape), dtype=as_dtype(dtype), **_seed_attributes(seed)
        )
        return _moved(standard, mean, stddev, scope)


def truncated_normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = float32,
    seed: int | None = None,
    name: Name = None,
) -> Tensor:
    """Draws normal numbers, again if they lie more than two deviations from the mean.

    Args:
      shape: The shape of the result.
      mean: The mean, which broadcasts with the shape.
      stddev: The standard deviation before the cut, likewise.
      dtype: float16, bfloat16, float32 or float64.
      seed: With a seed, the same program draws the same numbers; see set_seed.
      name: A name for the node while a function is traced.

    Returns:
      The numbers.

    Source: tf.random.truncated_normal, OpDef "TruncatedNormal".
    """
    with name_scope(name or "truncated_normal") as scope:
        standard = raw.TruncatedNormal(
            sizes_tensor(shape), dtype=as_dtype(dtype), **_seed_attributes(seed)
        )
        return _moved(standard, mean, stddev, scope)


def shuffle(value: TensorLike, seed: int | None = None, name: Name = None) -> Tensor:
    """Puts the rows of a tensor in random order.

    Args:
      value: Any dtype, at least one dimension.
      seed: With a seed, the same program gives the same orders; see set_seed.
      name: A name for the node while a function is traced.

    Returns:
      The rows in another order.

    Source: tf.random.shuffle, OpDef "RandomShuffle".
    """
    return raw.RandomShuffle(value, name=name, **_seed_attributes(seed))


# --- Stateless functions.


class _Start(TypedDict):
    key: Tensor
    counter: Tensor
    alg: Tensor


def _start(seed: TensorLike, alg: Any) -> _Start:
    number = _algorithm_number(alg)
    key, counter = raw.StatelessRandomGetKeyCounter(convert_to_tensor(seed, None, int64))
    return {"key": key, "counter": counter, "alg": convert_to_tensor(number, int32)}


def stateless_uniform(
    shape: ShapeLike,
    seed: TensorLike,
    minval: TensorLike = 0,
    maxval: TensorLike = None,
    dtype: DTypeLike = float32,
    name: Name = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Makes uniform numbers of a seed: the same at each call.

    Args:
      shape: The shape of the result.
      seed: Two integers, int32 or int64.
      minval: The lower bound, which is included; None for the full range of integers.
      maxval: The upper bound, which is not; None means 1, or the full range of integers.
      dtype: A float dtype, int32, int64, or, for the full range, uint32 or uint64.
      name: A name for the node while a function is traced.
      alg: "philox" or "auto_select", which is the same.

    Returns:
      The numbers.

    Raises:
      ValueError: There is no such dtype here, or one bound of integers is None.

    Source: tf.random.stateless_uniform, OpDef "StatelessRandomUniformV2" and kin.
    """
    dtype = _check_dtype(dtype, (*_FLOATS, int32, int64, uint32, uint64))
    if dtype.is_integer:
        _check_bounds(dtype, minval, maxval)
    with name_scope(name or "stateless_random_uniform") as scope:
        sizes = sizes_tensor(shape)
        start = _start(seed, alg)
        return _uniform_of(sizes, start, minval, maxval, dtype, scope)


def _uniform_of(
    sizes: Tensor, start: _Start, minval: Any, maxval: Any, dtype: DType, scope: Name
) -> Tensor:
    if not dtype.is_integer:
        unit = raw.StatelessRandomUniformV2(sizes, **start, dtype=dtype)
        return _scaled(unit, minval, maxval, scope)
    if minval is None:
        return raw.StatelessRandomUniformFullIntV2(sizes, **start, dtype=dtype, name=scope)
    low, high = convert_to_tensor(minval, dtype), convert_to_tensor(maxval, dtype)
    return raw.StatelessRandomUniformIntV2(sizes, **start, minval=low, maxval=high, name=scope)


def stateless_normal(
    shape: ShapeLike,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = float32,
    name: Name = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Makes normal numbers of a seed: the same at each call.

    Args:
      shape: The shape of the result.
      seed: Two integers, int32 or int64.
      mean: The mean.
      stddev: The standard deviation.
      dtype: A float dtype.
      name: A name for the node while a function is traced.
      alg: "philox" or "auto_select", which is the same.

    Returns:
      The numbers.

    Source: tf.random.stateless_normal, OpDef "StatelessRandomNormalV2".
    """
    with name_scope(name or "stateless_random_normal") as scope:
        standard = raw.StatelessRandomNormalV2(
            sizes_tensor(shape), **_start(seed, alg), dtype=as_dtype(dtype)
        )
        return _moved(standard, mean, stddev, scope)


def stateless_truncated_normal(
    shape: ShapeLike,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = float32,
    name: Name = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Makes normal numbers of a seed that lie within two deviations: the same at each call.

    Args:
      shape: The shape of the result.
      seed: Two integers, int32 or int64.
      mean: The mean.
      stddev: The standard deviation before the cut.
      dtype: A float dtype.
      name: A name for the node while a function is traced.
      alg: "philox" or "auto_select", which is the same.

    Returns:
      The numbers.

    Source: tf.random.stateless_truncated_normal, OpDef "StatelessTruncatedNormalV2".
    """
    with name_scope(name or "stateless_truncated_normal") as scope:
        standard = raw.StatelessTruncatedNormalV2(
            sizes_tensor(shape), **_start(seed, alg), dtype=as_dtype(dtype)
        )
        return _moved(standard, mean, stddev, scope)


# --- Generators.


def _signed_words(number: int, count: int) -> list[int]:
    """Cuts a number into 64-bit words of two's complement, lowest first."""
    words = [number >> (64 * i) & _MASK64 for i in range(count)]
    return [word - 2**64 if word >= 2**63 else word for word in words]


def _state_of_seed(seed: Any) -> Any:
    if isinstance(seed, int):
        return _signed_words(seed, 3)
    given = raw.Reshape(raw.Cast(convert_to_tensor(seed), DstT=int64), convert_to_tensor([-1]))
    state = concat([zeros([2], int64), given], 0)
    return raw.StridedSlice(state, convert_to_tensor([-3]), convert_to_tensor([0]),
                            convert_to_tensor([1]), end_mask=1)  # fmt: skip


def create_rng_state(seed: Any, alg: Any) -> Tensor:
    """Makes the state of a generator: counter low, counter high, key.

    Args:
      seed: An integer, or a vector of integers.
      alg: "philox" or its number.

    Returns:
      int64 of shape [3].

    Source: tf.random.create_rng_state.
    """
    _check_philox(alg)
    return convert_to_tensor(_state_of_seed(seed), int64)


def _check_philox(alg: Any) -> int:
    number = 1 if alg is None else _algorithm_number(alg)
    if number not in (1, 3):
        raise ValueError(f"Only the algorithm philox (1) is there, not {alg}")
    return 1


class Generator(metaclass=PublicClass):
    """A source of random numbers whose state is a variable.

    Args:
      copy_from: A generator whose state is copied.
      state: The state: int64 of shape [3].
      alg: "philox" or its number.

    Raises:
      ValueError: There are both or none of copy_from and state.

    Source: tf.random.Generator.
    """

    def __init__(self, copy_from: Generator | None = None, state: Any = None,
                 alg: Any = None) -> None:  # fmt: skip
        if (copy_from is None) == (state is None):
            raise ValueError("Specify either copy_from, or state and alg")
        if copy_from is not None:
            state, alg = copy_from.state, copy_from.algorithm
        self._algorithm = _check_philox(alg)
        if isinstance(state, Variable):
            self._state = state
            return
        self._state = Variable(convert_to_tensor(state, int64), dtype=int64, trainable=False,
                               name="StateVar")  # fmt: skip

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """Makes a generator of a state.

        Args:
          state: int64 of shape [3], as `state` gives it; a variable is shared.
          alg: "philox" or its number.

        Returns:
          A Generator.
        """
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """Makes a generator whose numbers follow from a seed.

        Args:
          seed: An integer, or a vector of integers.
          alg: "philox" or its number; None means that.

        Returns:
          A Generator.
        """
        return cls(state=_state_of_seed(seed), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """Makes a generator whose numbers nobody foresees.

        Args:
          alg: "philox" or its number; None means that.

        Returns:
          A Generator.
        """
        with init_scope():
            state = raw.NonDeterministicInts(convert_to_tensor([3]), dtype=int64)
        return cls(state=state, alg=alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """Makes a generator of a key and a counter.

        Args:
          key: An int64 scalar.
          counter: int64 of shape [2], the low word first.
          alg: "philox" or its number.

        Returns:
          A Generator.
        """
        return cls(state=cls._of_key_counter(key, counter), alg=alg)

    @staticmethod
    def _of_key_counter(key: Any, counter: Any) -> Tensor:
        flat = convert_to_tensor([-1])
        words = [raw.Reshape(convert_to_tensor(word, int64), flat) for word in (counter, key)]
        return concat(words, 0)

    @property
    def state(self) -> Variable:
        """The state: counter low, counter high, key."""
        return self._state

    @property
    def algorithm(self) -> int:
        """The number of the algorithm."""
        return self._algorithm

    @property
    def key(self) -> Tensor:
        """The key, a scalar."""
        key: Tensor = self._state.read_value()[2]
        return key

    def reset(self, state: Any) -> None:
        """Sets the state.

        Args:
          state: int64 of shape [3], as `state` gives it.
        """
        self._state.assign(convert_to_tensor(state, int64))

    def reset_from_seed(self, seed: Any) -> None:
        """Sets the state to that of from_seed.

        Args:
          seed: An integer, or a vector of integers.
        """
        self.reset(_state_of_seed(seed))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Sets the state to that of from_key_counter.

        Args:
          key: An int64 scalar.
          counter: int64 of shape [2], the low word first.
        """
        self.reset(self._of_key_counter(key, counter))

    def skip(self, delta: TensorLike) -> Tensor:
        """Moves on as if numbers had been drawn.

        Args:
          delta: How many, an integer scalar.

        Returns:
          The state before, int64 of shape [3].
        """
        alg = convert_to_tensor(self._algorithm, int32)
        steps = raw.Cast(convert_to_tensor(delta, None, int64), DstT=uint64)
        return raw.RngReadAndSkip(self._state.handle, alg, steps)

    def _start(self, sizes: Tensor) -> _Start:
        before = self.skip(reduce_prod(raw.Cast(sizes, DstT=int64)))
        words = raw.Bitcast(before, type=uint64)
        return {"key": words[2:3], "counter": words[:2],
                "alg": convert_to_tensor(self._algorithm, int32)}  # fmt: skip

    def uniform(self, shape: ShapeLike, minval: TensorLike = 0, maxval: TensorLike = None,
                dtype: DTypeLike = float32, name: Name = None) -> Tensor:  # fmt: skip
        """Draws uniform numbers, as stateless_uniform makes them.

        Args:
          shape: The shape of the result.
          minval: The lower bound, which may be drawn; it broadcasts to the shape.
          maxval: The upper bound, which is not drawn; None means 1 for floats.
          dtype: A float dtype, int32 or int64; uint32 and uint64 with both bounds None.
          name: A name for the scope while a function is traced.

        Returns:
          The numbers.

        Raises:
          ValueError: One bound of integers is None, or unsigned ones have a bound.
        """
        dtype = as_dtype(dtype)
        if dtype.is_integer:
            _check_bounds(dtype, minval, maxval)
        with name_scope(name or "stateful_uniform") as scope:
            sizes = sizes_tensor(shape)
            return _uniform_of(sizes, self._start(sizes), minval, maxval, dtype, scope)

    def uniform_full_int(self, shape: ShapeLike, dtype: DTypeLike = uint64,
                         name: Name = None) -> Tensor:  # fmt: skip
        """Draws integers of the full range of their dtype.

        Args:
          shape: The shape of the result.
          dtype: int32, int64, uint32 or uint64.
          name: A name for the scope while a function is traced.

        Returns:
          The numbers.
        """
        with name_scope(name or "stateful_uniform_full_int") as scope:
            sizes = sizes_tensor(shape)
            start = self._start(sizes)
            return _uniform_of(sizes, start, None, None, as_dtype(dtype), scope)

    def normal(self, shape: ShapeLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0,
               dtype: DTypeLike = float32, name: Name = None) -> Tensor:  # fmt: skip
        """Draws normal numbers.

        Args:
          shape: The shape of the result.
          mean: The mean; it broadcasts to the shape.
          stddev: The standard deviation, likewise.
          dtype: A float dtype.
          name: A name for the scope while a function is traced.

        Returns:
          The numbers.
        """
        with name_scope(name or "stateful_normal") as scope:
            sizes = sizes_tensor(shape)
            start = self._start(sizes)
            standard = raw.StatelessRandomNormalV2(sizes, **start, dtype=as_dtype(dtype))
            return _moved(standard, mean, stddev, scope)

    def truncated_normal(self, shape: ShapeLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0,
                         dtype: DTypeLike = float32, name: Name = None) -> Tensor:  # fmt: skip
        """Draws normal numbers that lie within two deviations.

        Args:
          shape: The shape of the result.
          mean: The mean; it broadcasts to the shape.
          stddev: The standard deviation before the cut, likewise.
          dtype: A float dtype.
          name: A name for the scope while a function is traced.

        Returns:
          The numbers.
        """
        with name_scope(name or "truncated_normal") as scope:
            sizes = sizes_tensor(shape)
            start = self._start(sizes)
            standard = raw.StatelessTruncatedNormalV2(sizes, **start, dtype=as_dtype(dtype))
            return _moved(standard, mean, stddev, scope)

    def make_seeds(self, count: int = 1) -> Tensor:
        """Draws seeds for stateless functions.

        Args:
          count: How many.

        Returns:
          int64 of shape [2, count].
        """
        drawn = self.uniform_full_int([count], int64)
        return stack([drawn, raw.ZerosLike(drawn)])

    def split(self, count: int = 1) -> list[Generator]:
        """Makes independent generators, of keys that this one draws.

        Args:
          count: How many.

        Returns:
          A list of Generators.
        """
        keys = self.uniform_full_int([count], int64)
        return [Generator.from_key_counter(keys[i], [0, 0], self._algorithm) for i in range(count)]


class _GlobalGenerator:
    generator: Generator | None = None


def get_global_generator() -> Generator:
    """Returns the generator of the process, made when it is first asked for.

    Source: tf.random.get_global_generator.
    """
    if _GlobalGenerator.generator is None:
        with init_scope():
            _GlobalGenerator.generator = Generator.from_non_deterministic_state()
    return _GlobalGenerator.generator


def set_global_generator(generator: Generator) -> None:
    """Makes a generator that of the process.

    Args:
      generator: A Generator.

    Source: tf.random.set_global_generator.
    """
    _GlobalGenerator.generator = generator


def stateless_split(seed: TensorLike, num: int = 2, alg: Any = "auto_select") -> Tensor:
    """Makes several seeds of one.

    Args:
      seed: Two integers, int32 or int64.
      num: How many.
      alg: "philox" or "auto_select", which is the same.

    Returns:
      Integers of the seed's dtype and of shape [num, 2].

    Source: tf.random.split.
    """
    given = convert_to_tensor(seed)
    return stateless_uniform([num, 2], given, None, None, given.dtype, alg=alg)


def stateless_fold_in(seed: TensorLike, data: TensorLike, alg: Any = "auto_select") -> Tensor:
    """Makes a seed of a seed and a number.

    Args:
      seed: Two integers, int32 or int64.
      data: An int32 or int64 scalar.
      alg: "philox" or "auto_select", which is the same.

    Returns:
      Integers of the dtype of data and of shape [2].

    Source: tf.random.fold_in.
    """
    number = convert_to_tensor(data)
    first = stateless_uniform([], seed, None, None, number.dtype, alg=alg)
    return stack([first, number])
