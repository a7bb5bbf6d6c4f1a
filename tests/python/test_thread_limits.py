"""What happens where the system gives no more threads."""

import subprocess
import sys

PROGRAM = """
import resource
import graven as tf
x = tf.ones([300_000])
tf.reduce_sum(x * x)  # what is needed is loaded
tf.config.set_num_threads(64)
used = 4096 * int(open("/proc/self/statm").read().split()[0])
# The stack of a thread has no room.
resource.setrlimit(resource.RLIMIT_AS, (used + (6 << 20), resource.RLIM_INFINITY))
for _ in range(3):
    assert float(tf.reduce_sum(x * x)) == 300_000.0
"""


def test_without_more_threads_those_that_there_are_do_the_work() -> None:
    # The process ended: "terminate called after throwing an instance of 'std::system_error'".
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, timeout=60.0, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
