"""What TensorFlow computes with depends on the machine, unless it is told.

Where the CPU has AVX-512 it takes oneDNN's kernels, which know layouts and dilations that its own
lack (NCHW on a CPU is an error there). So that the tests say the same everywhere, it always does.
"""

import os

os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
