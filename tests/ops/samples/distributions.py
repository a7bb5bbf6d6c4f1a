"""Random numbers of distributions with parameters: TensorFlow's, bit for bit.

TensorFlow is the reference. What the numbers are distributed like, test_distributions.py measures.
"""

from ops.sample import Sample, Wrong, float32, int32, int64, uint64
from ops.setups import on_variable, with_streams_restarted

FLOATS = ("float16", "float32", "float64")
NUMBERS = (*FLOATS, "int32", "int64")
SEED = int32([7, -3])
KEY, COUNTER, PHILOX = uint64([5]), uint64([2, 3]), int32(1)
SEEDS = {"seed": 3, "seed2": 5}
STATE = int64([5, 0, 9])
ALPHAS = [0.03125, 0.5, 1.0, 1.5, 30.0, 1000.0]
RATES = [0.0, 0.5, 3.0, 9.0, 10.0, 40.0, 1000.0]
COUNTS = [[0.0], [5.0], [40.0], [1000.0]]
PROBS = [0.0, 0.03125, 0.25, 0.5, 0.75, 1.0]
# Bounds around the mean, on one side of it, close to each other, and one alone.
LEAST = [-2.0, -0.5, 0.5, 3.0, -9.0, 1.0, 2.0]
LARGEST = [2.0, 0.5, 9.0, 3.125, -7.0, 1.0625, 60.0]

SAMPLES = [
    Sample("RandomGamma", (int32([40]), ALPHAS), None, FLOATS, SEEDS, ulp=1,
           setup=with_streams_restarted, calls=2),
    Sample("RandomGamma", (int64([2, 0]), ALPHAS), None, FLOATS, SEEDS,
           setup=with_streams_restarted),
    Sample("StatelessRandomGammaV2", (int32([40, 6]), SEED, ALPHAS), None, FLOATS, ulp=1),
    Sample("StatelessRandomGammaV2", (int64([3]), int64([2**40, 5]), 2.5), None, FLOATS, ulp=1),
    Sample("StatelessRandomGammaV3", (int32([40, 6]), KEY, COUNTER, PHILOX, ALPHAS), None, FLOATS,
           ulp=1),
    Sample("StatelessRandomGammaV3", (int64([3]), KEY, COUNTER, PHILOX, 2.5), None, FLOATS, ulp=1),
    *[
        Sample("RandomPoissonV2", (int32([40]), rates), None, dtypes, {**SEEDS, "dtype": dtype},
               setup=with_streams_restarted, calls=2)
        for rates, dtypes in ((RATES, FLOATS), ([0, 3, 40], NUMBERS[3:]))
        for dtype in ("int64", "float32")
    ],
    *[
        Sample("StatelessRandomPoisson", (int32([40, 7]), SEED, RATES), None, FLOATS,
               {"dtype": dtype})
        for dtype in NUMBERS
    ],
    Sample("StatelessRandomPoisson", (int32([40, 3]), SEED, [0, 3, 40]), None, NUMBERS[3:],
           {"dtype": "int32"}),
    *[
        Sample("StatelessRandomBinomial", (int32([40, 4, 6]), SEED, COUNTS, PROBS), None, FLOATS,
               {"dtype": dtype})
        for dtype in ("int64", "float32")
    ],
    Sample("StatelessRandomBinomial", (int32([40, 2]), SEED, [5, 40], 1), None, NUMBERS[3:],
           {"dtype": "int32"}, beside_tensorflow="it has no kernel for integers"),
    Sample("StatefulRandomBinomial", (STATE, int64(1), int32([40, 4, 6]), COUNTS, PROBS), None,
           FLOATS, {"dtype": "int32"}, setup=on_variable,
           beside_tensorflow="its variable seldom misses the new state"),
    Sample("StatefulRandomBinomial", (STATE, int64(1), int64([0]), 5, 1), None, NUMBERS[3:],
           {"dtype": "float64"}, setup=on_variable, calls=2,
           beside_tensorflow="it has no kernel for integers"),
    Sample(
        "StatelessParameterizedTruncatedNormal", (int32([40, 7]), SEED, 0.0, 1.0, LEAST, LARGEST),
        None, ("float32", "float64"), ulp=1,
    ),
    Sample(
        "StatelessParameterizedTruncatedNormal",
        (int64([40, 3]), int64([7, -3]), [0.5], [1.0, 2.0, 0.25], -1.0, [2.0, 3.0, 60000.0]),
        None, ("float32", "float64"), ulp=1,
    ),
    Sample(
        "StatelessParameterizedTruncatedNormal", (int32([40, 7]), SEED, 0.0, 1.0, LEAST, LARGEST),
        None, ("float16",), beside_tensorflow="it computes in half, Graven in float32",
    ),
]  # fmt: skip
_MISFIT = "Shape passed in must end with broadcasted shape."
WRONG = [
    Wrong("StatelessRandomGammaV2", (int32([3]), SEED, float32([1, 2])), _MISFIT),
    Wrong("StatelessRandomGammaV3", (int32([]), KEY, COUNTER, PHILOX, float32([1, 2])), _MISFIT),
    Wrong("StatelessRandomPoisson", (int32([3]), SEED, float32([1, 2])), _MISFIT,
          attrs={"dtype": "int32"}),
    Wrong("StatelessRandomBinomial", (int32([3]), SEED, float32([1, 2]), float32(0.5)), _MISFIT),
    Wrong("StatelessRandomPoisson", (int32([3]), int32([1]), float32(2)),
          "seed must have shape [2], not [1]", attrs={"dtype": "int32"}),
    Wrong(
        "StatelessParameterizedTruncatedNormal",
        (int32([3]), SEED, float32(0), float32(-1), float32(-2), float32(2)), "Invalid parameters",
    ),
    Wrong(
        "StatelessParameterizedTruncatedNormal",
        (int32([3]), SEED, float32(0), float32(1), float32(2), float32(2)), "Invalid parameters",
    ),
]  # fmt: skip
