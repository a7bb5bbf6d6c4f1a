"""Random numbers: the same seeds give TensorFlow's numbers."""

from __future__ import annotations

import enum
from typing import Any

from graven import _engine
from graven._dtypes import float32, int32, int64, uint64
from graven._functions import (
    _generator_binomial,
    _generator_full_int,
    _generator_key,
    _generator_new_state,
    _generator_normal,
    _generator_seeds,
    _generator_skip,
    _generator_split,
    _generator_state,
    _generator_state_of_seed,
    _generator_truncated_normal,
    _generator_uniform,
)
from graven._scopes import init_scope
from graven._types import DTypeLike, Name, ShapeLike, Tensor, TensorLike
from graven._unsupported import PublicClass, PublicEnumClass
from graven._variable import Variable

convert_to_tensor = _engine.convert_to_tensor

_MASK64 = 2**64 - 1


class Algorithm(enum.Enum, metaclass=PublicEnumClass):
    """The algorithms of random numbers, by TensorFlow's numbers. Philox is the one there is.

    Source: tf.random.Algorithm.
    """

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3

    def __float__(self) -> float:
        return float(self.value)


# --- Generators.


def _signed_words(number: int, count: int) -> list[int]:
    """Cuts a number into 64-bit words of two's complement, lowest first."""
    words = [number >> (64 * i) & _MASK64 for i in range(count)]
    return [word - 2**64 if word >= 2**63 else word for word in words]


def _algorithm_number(alg: Any) -> int:
    return _engine.algorithm_number(Algorithm.PHILOX if alg is None else alg)


def create_rng_state(seed: Any, alg: Any) -> Tensor:
    """Makes the state of a generator: of Philox counter low, counter high, key.

    Args:
      seed: An integer, or a vector of integers.
      alg: "philox", an Algorithm, or its number.

    Returns:
      int64 of shape [3]; of ThreeFry [2].

    Source: tf.random.create_rng_state.
    """
    size = 2 if _algorithm_number(alg) == Algorithm.THREEFRY.value else 3
    words = _signed_words(seed, size) if isinstance(seed, int) else seed
    return _generator_state_of_seed(words, size)


class Generator(metaclass=PublicClass):
    """A source of random numbers whose state is a variable.

    Args:
      copy_from: A generator whose state is copied.
      state: The state: int64 of shape [3].
      alg: "philox", an Algorithm, or its number.

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
        self._algorithm = _algorithm_number(alg)
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
          alg: "philox", an Algorithm, or its number.

        Returns:
          A Generator.
        """
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """Makes a generator whose numbers follow from a seed.

        Args:
          seed: An integer, or a vector of integers.
          alg: "philox", an Algorithm, or its number; None means that.

        Returns:
          A Generator.
        """
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """Makes a generator whose numbers nobody foresees.

        Args:
          alg: "philox", an Algorithm, or its number; None means that.

        Returns:
          A Generator.
        """
        with init_scope():
            state = _generator_new_state()
        return cls(state=state, alg=alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """Makes a generator of a key and a counter.

        Args:
          key: An int64 scalar.
          counter: int64 of shape [2], the low word first.
          alg: "philox", an Algorithm, or its number.

        Returns:
          A Generator.
        """
        return cls(state=_generator_state(key, counter), alg=alg)

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
        return _generator_key(self._state)

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
        self.reset(create_rng_state(seed, self._algorithm))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Sets the state to that of from_key_counter.

        Args:
          key: An int64 scalar.
          counter: int64 of shape [2], the low word first.
        """
        self.reset(_generator_state(key, counter))

    def skip(self, delta: TensorLike) -> Tensor:
        """Moves on as if numbers had been drawn.

        Args:
          delta: How many, an integer scalar.

        Returns:
          The state before, int64 of shape [3].
        """
        return _generator_skip(self._state, self._algorithm, delta)

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
        return _generator_uniform(self._state, self._algorithm, shape, minval, maxval, dtype, name)

    def binomial(self, shape: ShapeLike, counts: TensorLike, probs: TensorLike,
                 dtype: DTypeLike = int32, name: Name = None) -> Tensor:  # fmt: skip
        """Draws counts of the binomial distribution: successes of so many attempts.

        Args:
          shape: The shape of the result, which ends with that of counts and probs.
          counts: How many attempts.
          probs: How likely each one succeeds; both broadcast.
          dtype: float16, float32, float64, int32 or int64.
          name: A name for the scope while a function is traced.

        Returns:
          The counts.
        """
        return _generator_binomial(self._state, self._algorithm, shape, counts, probs, dtype, name)

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
        return _generator_full_int(self._state, self._algorithm, shape, dtype, name)

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
        return _generator_normal(self._state, self._algorithm, shape, mean, stddev, dtype, name)

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
        return _generator_truncated_normal(
            self._state, self._algorithm, shape, mean, stddev, dtype, name
        )

    def make_seeds(self, count: int = 1) -> Tensor:
        """Draws seeds for stateless functions.

        Args:
          count: How many.

        Returns:
          int64 of shape [2, count].
        """
        return _generator_seeds(self._state, self._algorithm, count)

    def split(self, count: int = 1) -> list[Generator]:
        """Makes independent generators, of keys that this one draws.

        Args:
          count: How many.

        Returns:
          A list of Generators.
        """
        states = _generator_split(self._state, self._algorithm, count)
        return [Generator.from_state(state, self._algorithm) for state in states]


class _GlobalGenerator:
    generator: Generator | None = None


def get_global_generator() -> Generator:
    """Returns the generator of the process, made when it is first asked for.

    Source: tf.random.get_global_generator.
    """
    if _GlobalGenerator.generator is None:
        if _engine.seeds_are_required():
            raise RuntimeError(
                '"get_global_generator" cannot be called if determinism is enabled, unless '
                '"set_global_generator" has already been called.'
            )
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
