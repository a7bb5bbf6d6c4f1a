"""How many threads the process computes with (tf.config.threading).

Graven runs the steps of a function one after another, and spreads each over the threads of one
pool. Results do not depend on how many there are. As in TensorFlow these functions must come before
the first tensor; tf.config.set_num_threads may be called at any time.
"""

from graven import _engine, _public


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Sets the number of threads that work on one op.

    Args:
      num_threads: 0 means one for each CPU that the process may use.

    Raises:
      ValueError: The number is negative.
      RuntimeError: The number differs from what is set, and there have been tensors.

    Source: tf.config.threading.set_intra_op_parallelism_threads.
    """
    _check(num_threads, _engine.num_threads(), "intra")
    _engine.set_num_threads(num_threads)


def get_intra_op_parallelism_threads() -> int:
    """Returns the number of threads that was set for one op; 0 by default.

    Source: tf.config.threading.get_intra_op_parallelism_threads.
    """
    return _engine.num_threads()


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Sets how many ops may run at once, at most. One does, so that any number is kept to.

    Args:
      num_threads: 0 means that Graven decides.

    Raises:
      ValueError: The number is negative.
      RuntimeError: The number differs from what is set, and there have been tensors.

    Source: tf.config.threading.set_inter_op_parallelism_threads.
    """
    global _inter_op
    _check(num_threads, _inter_op, "inter")
    _inter_op = num_threads


def get_inter_op_parallelism_threads() -> int:
    """Returns the number that set_inter_op_parallelism_threads was given; 0 by default.

    Source: tf.config.threading.get_inter_op_parallelism_threads.
    """
    return _inter_op


_inter_op = 0


def _check(num_threads: int, before: int, kind: str) -> None:
    if num_threads < 0:
        raise ValueError(f"a number of threads is 0 or more, but got {num_threads}")
    if num_threads != before and _engine.has_made_tensors():
        raise RuntimeError(
            f"set_{kind}_op_parallelism_threads must come before the first tensor of the program: "
            f"the number is {before} and cannot become {num_threads} now. "
            "tf.config.set_num_threads can change the number of threads at any time."
        )


_public.complete(__name__)
