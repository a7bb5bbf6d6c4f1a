"""TensorFlow's random numbers in NumPy: what the random ops of the engine must give, bit for bit.

test_philox_reference.py shows that this file and TensorFlow agree. All words are unsigned; sums
and products of uint32 and uint64 wrap around.

1. The block function (Philox4x32-10)
-------------------------------------
It maps a 128-bit counter c = (c0, c1, c2, c3), least significant word first, and a 64-bit key
k = (k0, k1) to four uint32 words. Ten rounds; a round with hi:lo the 64-bit product of two words is

    hi0:lo0 = 0xD2511F53 * c0        hi1:lo1 = 0xCD9E8D57 * c2
    c = (hi1 ^ c1 ^ k0, lo1, hi0 ^ c3 ^ k1, lo0)

and between two rounds (nine times) k0 += 0x9E3779B9, k1 += 0xBB67AE85. Source: Salmon, Moraes,
Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

2. The stream
-------------
Output group i of an op is block(c + i, k), with a 128-bit sum. A group gives 4 elements of a dtype
of 32 bits or fewer and 2 elements of a dtype of 64 bits, in row-major order of the output; what is
left of the last group is dropped. So element j depends on its index alone, and any cut into threads
gives the same numbers.

3. From words to elements
-------------------------
Words of a group are w0..w3. A 64-bit integer is w0 | w1 << 32, the second one w2 | w3 << 32.

    float32    bits 0x3F800000 | (w & 0x7FFFFF), read as a float, minus 1: a multiple of 2^-23
    float64    bits 0x3FF << 52 | (w0 & 0xFFFFF) << 32 | w1, minus 1 (the second from w2, w3)
    half       bits 0x3C00 | (w & 0x3FF), minus 1
    bfloat16   bits 0x3F80 | (w & 0x7F), minus 1
    integers   full range: the word, or the 64-bit integer, as it is
               range [lo, hi): lo + word mod (hi - lo), unsigned, wrapping (slightly biased)

A float in [minval, maxval) is u * (maxval - minval) + minval, each step rounded in the dtype; half
and bfloat16 are rounded after each step too.

Normal (Box-Muller), in float32 for float32, half and bfloat16:

    u = max(uniform(w0), 1e-7), v = 2 pi uniform(w1), r = sqrt(-2 log u): r sin v, then r cos v

and the same from w2, w3; the product 2 pi uniform(w1) is taken in float64 and rounded once. In
float64, u comes from w0, w1 and v from w2, w3; the bound is 1e-7 as well. A normal of given mean
and stddev is n * stddev + mean, each step rounded in the dtype.

Truncated normal: group i draws words one after another from block(c + s i), block(c + s i + 1), ...
with s = 256 (float64: 128) and makes normals of them as above (first sine, then cosine), of which
it keeps those with |n| < 2 until the group has its 4 (float64: 2) elements.

4. Key and counter
------------------
Stateless ops: seed = (s0, s1) as 64-bit integers (int32 is sign-extended) is scrambled by

    m = block(c = (s0 low, s0 high, s1 low, s1 high), k = (0x3EC8F720, 0x02461E29))
    key = (m0, m1), counter = (0, 0, m2, m3)

Generator: the state is three int64: counter low, counter high, key. from_seed(s) of a Python number
cuts s into 64-bit words, lowest first, of two's complement: 5 gives (5, 0, 0), -9 gives
(-9, -1, -1); a list or tensor of numbers is taken as it is, with zeros in front: [1, 2] gives
(0, 1, 2). Nothing is scrambled. An op that makes n elements (of any dtype) starts at the state's
counter and then adds 256 * n to it; skip(n) adds the same. The keys of split(n) are n full-range
int64 (states (0, 0, key)); make_seeds(n) stacks such numbers on a row of zeros.

Stateful ops (random.uniform, random.normal): with (seed, seed2) of section 5 the key is seed and
the counter starts at (0, 0, seed2 low, seed2 high). An op that makes n elements starts at its
counter and then adds 256 * n. Each op in a graph has a counter of its own, kept from call to call.
Eagerly the counter belongs to the kernel, which is cached by op, attributes (so by both seeds and
by the dtypes) and device. set_seed starts the counters of both kinds anew.

5. Seeds of stateful ops
------------------------
    global seed, op seed      (global, op)
    global seed only          eagerly (global, the next number of a Mersenne Twister that set_seed
                              starts anew); in a function (global, number of earlier random ops
                              without op seed in this graph, from 0)
    op seed only              (87654321, op)
    neither                   drawn from the system

Both are taken modulo 2^31 - 1 (never negative), and (0, 0), which would mean "draw", becomes
(0, 2^31 - 1). The Mersenne Twister is Python's random.Random(global).randint(0, 2^31 - 1): MT19937,
initialised by init_by_array with the 32-bit words of |global|, lowest first and at least one; each
number is the first 32-bit output that is below 2^31.

6. Refusals
-----------
A range of integers needs minval < maxval ("Need minval < maxval, got 5 >= 5"), both or neither, and
both scalar; floats take any minval and maxval that broadcast. A range of unsigned integers does not
exist on a CPU, only the full range of stateless ops and Generator; random.uniform has half,
bfloat16, float32, float64, int32 and int64. A seed of a stateless op has dtype int32 or int64 and
shape [2].
"""

import random
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]
Array = npt.NDArray[Any]

MASK32 = 0xFFFFFFFF
MASK64 = 0xFFFFFFFFFFFFFFFF
MASK128 = MASK64 << 64 | MASK64
MAX_INT32 = 2**31 - 1
DEFAULT_GLOBAL_SEED = 87654321
ELEMENTS_RESERVED = 256  # counters by which a stateful stream moves on for one element

# dtype: (unsigned integer of its size, bits of 1.0, mask of the mantissa)
FLOATS: dict[np.dtype[Any], tuple[type[Any], int, int]] = {
    np.dtype(np.float32): (np.uint32, 0x3F800000, 0x7FFFFF),
    np.dtype(np.float16): (np.uint16, 0x3C00, 0x3FF),
    np.dtype(ml_dtypes.bfloat16): (np.uint16, 0x3F80, 0x7F),
}


def block(counters: Words, key: int) -> Words:
    """Applies the block function to counters, uint32 [n, 4], with a 64-bit key."""
    c = [counters[:, i].astype(np.uint64) for i in range(4)]
    k0, k1 = key & MASK32, key >> 32
    mask, shift = np.uint64(MASK32), np.uint64(32)
    for _ in range(10):
        product0, product1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [
            (product1 >> shift) ^ c[1] ^ np.uint64(k0),
            product1 & mask,
            (product0 >> shift) ^ c[3] ^ np.uint64(k1),
            product0 & mask,
        ]
        k0, k1 = (k0 + 0x9E3779B9) & MASK32, (k1 + 0xBB67AE85) & MASK32
    return np.stack(c, axis=1).astype(np.uint32)


def words_of(number: int) -> list[int]:
    """Returns the four 32-bit words of a 128-bit number, least significant first."""
    return [number >> (32 * i) & MASK32 for i in range(4)]


def groups(counter: int, key: int, n: int) -> Words:
    """Returns n groups of the stream that starts at a 128-bit counter: uint32 [n, 4]."""
    counters = np.array([words_of(counter + i) for i in range(n)], np.uint32)
    return block(counters.reshape(n, 4), key)


def scramble(seed: Sequence[int]) -> tuple[int, int]:
    """Returns the (counter, key) of a stateless op."""
    start = (seed[0] & MASK64) | (seed[1] & MASK64) << 64
    (m,) = groups(start, 0x02461E29_3EC8F720, 1).tolist()
    return m[2] << 64 | m[3] << 96, m[0] | m[1] << 32


def pairs(words: Words) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Splits groups into (first, second) words of pairs, flat: w0 with w1, w2 with w3."""
    flat = words.reshape(-1, 2).astype(np.uint64)
    return flat[:, 0], flat[:, 1]


def full_range(words: Words, dtype: npt.DTypeLike) -> Array:
    """Returns flat integers of 32 or 64 bits."""
    if np.dtype(dtype).itemsize == 4:
        return words.reshape(-1).view(dtype)
    low, high = pairs(words)
    return (low | high << np.uint64(32)).view(dtype)


def unit(words: Words, dtype: npt.DTypeLike) -> Array:
    """Returns flat floats in [0, 1)."""
    dtype = np.dtype(dtype)
    if dtype == np.float64:
        high, low = pairs(words)
        bits = np.uint64(0x3FF << 52) | (high & np.uint64(0xFFFFF)) << np.uint64(32) | low
        return bits.view(np.float64) - 1.0
    integer, one, mask = FLOATS[dtype]
    bits32 = (words.reshape(-1) & np.uint32(mask)) | np.uint32(one)
    result: Array = bits32.astype(integer).view(dtype) - np.ones((), dtype)
    return result


def standard_normal(words: Words, dtype: npt.DTypeLike) -> Array:
    """Returns flat normals of mean 0 and deviation 1."""
    compute = np.float64 if np.dtype(dtype) == np.float64 else np.float32
    uniforms = unit(words, compute).reshape(-1, 2)
    u = np.maximum(uniforms[:, 0], compute(1e-7))
    angle = (2.0 * np.pi * uniforms[:, 1].astype(np.float64)).astype(compute)
    radius = np.sqrt(compute(-2.0) * np.log(u))
    return (
        np.stack([radius * np.sin(angle), radius * np.cos(angle)], axis=1).reshape(-1).astype(dtype)
    )


def truncated_normal(counter: int, key: int, shape: Sequence[int], dtype: npt.DTypeLike) -> Array:
    """Returns normals of mean 0 and deviation 1 that lie within two deviations."""
    n = int(np.prod(shape, dtype=np.int64))
    per_group = 2 if np.dtype(dtype).itemsize == 8 else 4
    compute = np.float64 if np.dtype(dtype) == np.float64 else np.float32
    elements: list[Array] = []
    for i in range(-(-n // per_group)):
        words = groups(
            counter + 64 * per_group * i, key, 16
        )  # 16 groups hold enough with all but certainty
        normals = standard_normal(words, compute)
        kept = normals[np.abs(normals) < 2.0][:per_group]
        assert len(kept) == per_group
        elements.append(kept)
    flat = np.concatenate([np.zeros(0, compute), *elements])
    return flat[:n].astype(dtype).reshape(shape)


def draw(kind: str, counter: int, key: int, shape: Sequence[int], dtype: npt.DTypeLike) -> Array:
    """Returns the elements "full_range", "unit" or "standard_normal" of a stream."""
    n = int(np.prod(shape, dtype=np.int64))
    per_group = 2 if np.dtype(dtype).itemsize == 8 else 4
    words = groups(counter, key, -(-n // per_group))
    kinds = {"full_range": full_range, "unit": unit, "standard_normal": standard_normal}
    return kinds[kind](words, dtype)[:n].reshape(shape)


def integers(counter: int, key: int, shape: Sequence[int], dtype: npt.DTypeLike,
             minval: int, maxval: int) -> Array:  # fmt: skip
    """Returns int32 or int64 numbers in [minval, maxval)."""
    unsigned, mask = {4: (np.uint32, MASK32), 8: (np.uint64, MASK64)}[np.dtype(dtype).itemsize]
    low, size = np.array([minval & mask, (maxval - minval) & mask], unsigned)
    result: Array = draw("full_range", counter, key, shape, unsigned) % size + low
    return result.view(dtype)


def uniform(counter: int, key: int, shape: Sequence[int], dtype: npt.DTypeLike,
            minval: float | None = 0, maxval: float | None = None) -> Array:  # fmt: skip
    """Returns numbers in [minval, maxval): of a float dtype (maxval None: 1) or an integer one.

    For an integer dtype minval None and maxval None mean the full range.
    """
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        if minval is None and maxval is None:
            return draw("full_range", counter, key, shape, dtype)
        assert minval is not None and maxval is not None
        return integers(counter, key, shape, dtype, int(minval), int(maxval))
    low = np.array(minval).astype(dtype)
    high = np.array(1 if maxval is None else maxval).astype(dtype)
    result: Array = draw("unit", counter, key, shape, dtype) * (high - low) + low
    return result


def normal(counter: int, key: int, shape: Sequence[int], dtype: npt.DTypeLike,
           mean: float = 0.0, stddev: float = 1.0) -> Array:  # fmt: skip
    """Returns normals of the given mean and deviation."""
    dtype = np.dtype(dtype)
    standard = draw("standard_normal", counter, key, shape, dtype)
    scaled = standard * np.array(stddev).astype(dtype)
    result: Array = scaled + np.array(mean).astype(dtype)
    return result


class Generator:
    """random.Generator: draws from a counter and moves it on."""

    def __init__(self, seed: int) -> None:
        self.counter, self.key = seed & MASK128, seed >> 128 & MASK64

    @property
    def state(self) -> npt.NDArray[np.int64]:
        """Counter low, counter high, key, as the state variable holds them."""
        numbers = [self.counter & MASK64, self.counter >> 64, self.key]
        return np.array(numbers, np.uint64).view(np.int64)

    def skip(self, n: int) -> int:
        """Moves on by n elements and returns the counter as it was."""
        before = self.counter
        self.counter = (before + ELEMENTS_RESERVED * n) & MASK128
        return before

    def uniform(self, shape: Sequence[int], dtype: npt.DTypeLike = np.float32,
                minval: float | None = 0, maxval: float | None = None) -> Array:  # fmt: skip
        """Draws uniforms."""
        return uniform(self.skip(int(np.prod(shape))), self.key, shape, dtype, minval, maxval)

    def normal(self, shape: Sequence[int], dtype: npt.DTypeLike = np.float32,
               mean: float = 0.0, stddev: float = 1.0) -> Array:  # fmt: skip
        """Draws normals."""
        return normal(self.skip(int(np.prod(shape))), self.key, shape, dtype, mean, stddev)


class StatefulOp(Generator):
    """One random.uniform or random.normal op with the seeds of op_seeds()."""

    def __init__(self, seeds: tuple[int, int]) -> None:
        super().__init__((seeds[1] & MASK64) << 64 | (seeds[0] & MASK64) << 128)


def op_seeds(global_seed: int | None, op_seed: int) -> tuple[int, int]:
    """Returns (seed, seed2) of a stateful op; op_seed is given or made as section 5 says."""
    seeds = (DEFAULT_GLOBAL_SEED if global_seed is None else global_seed, op_seed)
    seeds = (seeds[0] % MAX_INT32, seeds[1] % MAX_INT32)
    return (0, MAX_INT32) if seeds == (0, 0) else seeds


class EagerOpSeeds:
    """The op seeds of eager ops that were given none, after set_seed(global_seed)."""

    def __init__(self, global_seed: int) -> None:
        self._random = random.Random(global_seed)

    def next(self) -> int:
        """Returns the op seed of the next op."""
        return self._random.randint(0, MAX_INT32)
