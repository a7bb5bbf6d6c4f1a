"""Linear algebra.

Source: tf.linalg.
"""

from graven import _public
from graven._clip_ops import global_norm as global_norm
from graven._math_ops import matmul as matmul
from graven._math_ops import matvec as matvec
from graven._math_ops import norm as norm
from graven._math_ops import tensordot as tensordot

_public.complete(__name__)
