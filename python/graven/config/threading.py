"""How many threads the process computes with (tf.config.threading).

Graven runs the steps of a function one after another, and spreads each over the threads of one
pool. Results do not depend on how many there are. May be changed at any time.
"""

from graven import _engine, _public


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Sets the number of threads that work on one op.

    Args:
      num_threads: 0 means one for each CPU that the process may use.

    Raises:
      ValueError: The number is negative.

    Source: tf.config.threading.set_intra_op_parallelism_threads.
    """
    _engine.set_num_threads(_checked(num_threads))


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

    Source: tf.config.threading.set_inter_op_parallelism_threads.
    """
    global _inter_op
    _inter_op = _checked(num_threads)


def get_inter_op_parallelism_threads() -> int:
    """Returns the number that set_inter_op_parallelism_threads was given; 0 by default.

    Source: tf.config.threading.get_inter_op_parallelism_threads.
    """
    return _inter_op


_inter_op = 0


def _checked(num_threads: int) -> int:
    if num_threads < 0:
        raise ValueError(f"a number of threads is 0 or more, but got {num_threads}")
    return num_threads


_public.complete(__name__)
