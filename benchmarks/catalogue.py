"""The workloads by name: what they are called, on whom they run, what they should reach."""

from collections.abc import Iterable
from dataclasses import dataclass

BEST_PEER = "best peer"


@dataclass(frozen=True)
class Target:
    """A figure that Graven is to reach: at most `factor` times the median of `against`.

    `against` is the name of a system or BEST_PEER; None makes `factor` a time in seconds.
    """

    factor: float
    against: str | None


@dataclass(frozen=True)
class Workload:
    """One row of the comparison.

    Attributes:
      name: The function of `benchmarks.workloads.*` that makes its cell.
      title: What it computes, with shapes.
      absent: Systems for which it has no meaning, with no figure and no failure.
      fresh_process: Every round is a process of its own, because the first call counts.
      max_rounds: At most so many rounds, for rows of which one round takes many seconds.
      tolerance: Largest relative difference of the numbers that systems check against each other.
      shows_memory: The growth of resident memory during a round is printed.
      targets: What Graven is to reach in the same run.
    """

    name: str
    title: str
    absent: frozenset[str] = frozenset()
    fresh_process: bool = False
    max_rounds: int = 100
    tolerance: float = 1e-3
    shows_memory: bool = False
    targets: tuple[Target, ...] = ()


_NOT_SLOWER_THAN_TENSORFLOW = Target(1.0, "tensorflow")
_NEAR_JAX = Target(1.2, "jax")
_NOT_SLOWER_THAN_ANY_PEER = Target(1.0, BEST_PEER)
_PEERS = frozenset({"tensorflow", "tensorflow_xla", "jax", "torch_eager", "torch_compile"})

# Time of nothing but a process that imports, and of a C++ program: no module makes their cells.
IMPORT = "import"
CACHED_CALL_CPP = "cached_call_cpp"


def _eager_call(name: str, title: str) -> Workload:
    """A call of a public function on 16 elements, which is to be no slower than PyTorch's."""
    return Workload(
        f"eager_{name}",
        f"{title}, eager, 16 elements",
        absent=_PEERS - {"tensorflow", "torch_eager"},
        targets=(_NOT_SLOWER_THAN_TENSORFLOW, Target(1.0, "torch_eager")),
    )


EAGER_CALLS = {
    "add_function": "add(x, y)",
    "sum": "sum over an axis",
    "mean": "mean over an axis",
    "matmul": "matmul, 4 x 4",
    "softmax": "softmax, last axis",
    "conv2d": "conv2d, filters 3 x 3",
    "reshape": "reshape",
    "slice": "x[1:3]",
    "concat": "concat of two",
    "where": "where, three operands",
    "moments": "mean and variance over an axis",
    "clip": "clip by two numbers",
    "one_hot": "one_hot, depth 4",
    "uniform": "uniform random numbers",
}

_WORKLOADS = (
    Workload(
        IMPORT,
        "import of the package, process start excluded",
        absent=frozenset({"tensorflow_xla", "torch_compile"}),
        fresh_process=True,
        shows_memory=True,
        targets=(_NOT_SLOWER_THAN_TENSORFLOW, Target(0.08, None)),
    ),
    Workload(
        "eager_add",
        "x + x, eager, 4 floats",
        absent=frozenset({"tensorflow_xla", "torch_compile"}),
        targets=(_NOT_SLOWER_THAN_TENSORFLOW, Target(0.7, "torch_eager")),
    ),
    *(_eager_call(name, title) for name, title in EAGER_CALLS.items()),
    Workload(
        "cached_call",
        "cached call, scalar: x + 1.0",
        targets=(_NOT_SLOWER_THAN_TENSORFLOW, Target(0.3, "jax")),
    ),
    Workload(
        CACHED_CALL_CPP,
        "cached call, scalar, from C++",
        absent=_PEERS,
        fresh_process=True,
        targets=(Target(300e-9, None),),
    ),
    Workload(
        "cached_call_20",
        "cached call, 16 positional and 4 keyword tensors of 4 floats",
        targets=(_NOT_SLOWER_THAN_TENSORFLOW,),
    ),
    Workload(
        "cached_call_literals",
        "cached call with a tensor, a bool, a str and an int",
        targets=(_NOT_SLOWER_THAN_TENSORFLOW,),
    ),
    Workload(
        "unwatched_call",
        "cached call of a body that reads 20 globals, none watched",
        absent=_PEERS,
    ),
    Workload(
        "watched_call",
        "the same, all watched",
        absent=_PEERS,
    ),
    Workload(
        "watched_attributes",
        "cached call of a body that reads attributes of 20 objects, all watched",
        absent=_PEERS,
    ),
    Workload(
        "watched_beside_changes",
        "cached call that watches 20 globals of a module in which another one changes",
        absent=_PEERS,
    ),
    Workload(
        "taped_calls",
        "10 cached calls of tanh(x) * 0.9 in one tape, 4 floats",
        absent=frozenset({"jax"}),
        targets=(_NOT_SLOWER_THAN_TENSORFLOW,),
    ),
    Workload(
        "cached_call_of_many",
        "cached call of one among 100 000 traces: x + 1.0",
        absent=_PEERS,
        targets=(Target(320e-9, None),),
    ),
    Workload(
        "cached_call_in_turn",
        "cached calls of 10 000 traces in turn: x + 1.0",
        absent=_PEERS,
    ),
    Workload(
        "new_length",
        "call with a length that a general trace has not seen for 2 000 calls: x + 1.0",
        absent=_PEERS - {"tensorflow"},
        targets=(Target(1.5e-6, None), _NOT_SLOWER_THAN_TENSORFLOW),
    ),
    Workload(
        "trace_200",
        "first call: 100 times x = x * 1.01 + 0.5, [8]",
        absent=frozenset({"torch_eager"}),
        targets=(Target(0.05, "tensorflow"),),
    ),
    Workload(
        "trace_train_step",
        "first call: the MLP's train step with Adam",
        absent=frozenset({"torch_eager"}),
        targets=(_NOT_SLOWER_THAN_TENSORFLOW,),
    ),
    Workload(
        "chain_1000",
        "500 times x = sin(x) + 0.001, [16]",
        targets=(_NOT_SLOWER_THAN_TENSORFLOW,),
    ),
    Workload(
        "integer_products_40",
        "40 times x = x * 3 + 1, int32[16]",
        targets=(_NOT_SLOWER_THAN_TENSORFLOW,),
    ),
    Workload(
        "integer_quotients_40",
        "40 times x = x // 3 + 1, int32[16]",
        targets=(_NOT_SLOWER_THAN_TENSORFLOW,),
    ),
    Workload(
        "integer_quotients_by_tensor_40",
        "40 times x = x // y + 1, int32[16], y a tensor of 3s",
        targets=(_NOT_SLOWER_THAN_TENSORFLOW,),
    ),
    Workload(
        "fused_elementwise",
        "tanh(a * b + c) * sigmoid(a), 16 Mi floats",
        targets=(_NOT_SLOWER_THAN_TENSORFLOW,),
    ),
    Workload(
        "softmax",
        "softmax, [4096, 1000], last axis",
        targets=(_NOT_SLOWER_THAN_TENSORFLOW,),
    ),
    Workload(
        "softmax_of_short_rows",
        "softmax, [10 000, 100], last axis",
        targets=(_NOT_SLOWER_THAN_TENSORFLOW,),
    ),
    Workload(
        "layer_norm_gelu",
        "layer norm and tanh gelu from ops, [512, 768]",
        targets=(_NOT_SLOWER_THAN_TENSORFLOW,),
    ),
    Workload(
        "matmul",
        "relu(a @ b + c), 1024 cubed",
        targets=(_NOT_SLOWER_THAN_TENSORFLOW, _NOT_SLOWER_THAN_ANY_PEER),
    ),
    Workload(
        "mlp_train",
        "MLP train step: batch 128, 784-512-512-10, Adam by hand",
        targets=(_NOT_SLOWER_THAN_TENSORFLOW, _NOT_SLOWER_THAN_ANY_PEER),
    ),
    Workload(
        "cnn_train",
        "CNN train step: batch 64, 28x28x1, conv 32, pool, conv 64, pool, dense 10, SGD",
        targets=(_NOT_SLOWER_THAN_TENSORFLOW, _NOT_SLOWER_THAN_ANY_PEER),
    ),
    Workload(
        "lstm",
        "LSTM: 100 steps, batch 16, input 64, state 128",
        targets=(_NOT_SLOWER_THAN_TENSORFLOW, _NEAR_JAX),
    ),
    Workload(
        "lstm_for",
        "the LSTM as a `for` over tf.range, JAX's scan",
        absent=frozenset({"torch_eager", "torch_compile"}),
        targets=(_NOT_SLOWER_THAN_TENSORFLOW,),
    ),
    Workload(
        "lstm_train",
        "the LSTM, unrolled, all states: train step, SGD",
        absent=frozenset({"torch_compile"}),
        targets=(_NOT_SLOWER_THAN_TENSORFLOW, _NEAR_JAX),
    ),
    Workload(
        "lstm_array",
        "the LSTM as a `for`, all states in a TensorArray, JAX's scan",
        absent=frozenset({"torch_eager", "torch_compile"}),
        targets=(_NOT_SLOWER_THAN_TENSORFLOW, _NEAR_JAX),
    ),
    Workload(
        "lstm_array_train",
        "the LSTM as a `for`, all states in a TensorArray: train step, SGD",
        absent=frozenset({"torch_eager", "torch_compile"}),
        targets=(_NOT_SLOWER_THAN_TENSORFLOW, _NEAR_JAX),
    ),
    Workload(
        "while_modulo",
        "while loop: s += i % 7; i += 1 on int32 scalars, 10 000 iterations",
        absent=frozenset({"torch_compile"}),
        targets=(Target(0.01, "tensorflow"),),
    ),
    Workload(
        "while_collatz",
        "while loop with a branch: Collatz from 77 031, 350 iterations",
        absent=frozenset({"torch_compile"}),
        targets=(Target(0.01, "tensorflow"),),
    ),
    Workload(
        "while_modulo_million",
        "the modulo loop, 1 000 000 iterations",
        absent=frozenset({"torch_eager", "torch_compile"}),
        max_rounds=2,
        targets=(Target(0.01, "tensorflow"), Target(25e-3, None)),
    ),
    Workload(
        "while_collatz_million",
        "a while in a for: Collatz from all below 11 000, 942 000 iterations",
        absent=frozenset({"torch_eager", "torch_compile"}),
        max_rounds=1,
        targets=(Target(0.01, "tensorflow"), Target(40e-3, None)),
    ),
    Workload(
        "loop_of_one_op",
        "while loop: x = cumsum(x), [1], 10 000 iterations",
        absent=_PEERS - {"tensorflow"},  # a compiler sees that nothing happens
        targets=(Target(0.1, "tensorflow"), Target(1.7e-3, None)),
    ),
    Workload(
        "loop_of_five_ops",
        "while loop: cumsum, reverse, cumsum, reverse, cumsum, [1], 10 000 iterations",
        absent=_PEERS - {"tensorflow"},  # a compiler sees that nothing happens
        targets=(Target(0.1, "tensorflow"),),
    ),
    Workload(
        "beam_search",
        "beam search: 32 steps, width 8, 64 letters, TensorArrays",
        absent=frozenset({"torch_compile"}),
        targets=(_NOT_SLOWER_THAN_TENSORFLOW,),
    ),
    Workload(
        "map_fn",
        "map_fn of sum(tanh(row) * row), [10 000, 16]",
        absent=frozenset({"torch_compile"}),
        max_rounds=3,
        targets=(_NOT_SLOWER_THAN_TENSORFLOW,),
    ),
    Workload(
        "vectorized_map",
        "vectorized_map of sum(tanh(row) * row), [10 000, 16]",
        absent=frozenset({"torch_compile"}),
        targets=(_NOT_SLOWER_THAN_TENSORFLOW, _NEAR_JAX),
    ),
    Workload(
        "jacobian_mlp",
        "jacobian of an MLP, 784-512-512-10, by its input",
        absent=frozenset({"torch_compile"}),
        targets=(_NOT_SLOWER_THAN_TENSORFLOW, _NEAR_JAX),
    ),
    Workload(
        "hvp",
        "Hessian-vector product of the MLP's loss by all parameters, forward over reverse",
        absent=frozenset({"torch_compile"}),
        targets=(_NOT_SLOWER_THAN_TENSORFLOW, _NEAR_JAX),
    ),
    Workload(
        "convert_100_lines",
        "AutoGraph's conversion of a function of 100 lines",
        absent=_PEERS - {"tensorflow"},
        targets=(_NOT_SLOWER_THAN_TENSORFLOW, Target(5e-3, None)),
    ),
    Workload(
        "trace_50_ifs",
        "first call: 50 times an `if` on a scalar",
        absent=frozenset({"torch_eager", "torch_compile"}),
        max_rounds=3,
        targets=(_NOT_SLOWER_THAN_TENSORFLOW,),
    ),
    Workload(
        "transformer",
        "transformer block: [8, 128, 256], 8 heads, feed forward 1024",
        targets=(_NOT_SLOWER_THAN_TENSORFLOW,),
    ),
    Workload(
        "lengths",
        "300 lengths of a new Function: reduce_sum(tanh(x @ w)), [1..300, 64]",
        fresh_process=True,
        max_rounds=3,
        shows_memory=True,
        targets=(_NOT_SLOWER_THAN_TENSORFLOW,),
    ),
)
WORKLOADS = {workload.name: workload for workload in _WORKLOADS}

# What two threads are to speed up by at least SCALING_TARGET.
SCALING_WORKLOADS = ("matmul", "cnn_train", "softmax", "fused_elementwise")
SCALING_TARGET = 1.6


def choose(names: Iterable[str]) -> list[Workload]:
    """The workloads of those names in the order of the catalogue; all of them if there is none.

    Raises:
      ValueError: A name that no workload has; the message lists those there are.
    """
    wanted = set(names)
    unknown = sorted(wanted - set(WORKLOADS))
    if unknown:
        raise ValueError(f"no workload {', '.join(unknown)}; there are {', '.join(WORKLOADS)}")
    return [workload for workload in _WORKLOADS if not wanted or workload.name in wanted]
