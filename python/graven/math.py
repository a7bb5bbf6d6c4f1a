"""Functions of numbers.

Source: tf.math.
"""

from graven import _public
from graven._math_ops import abs as abs
from graven._math_ops import accumulate_n as accumulate_n
from graven._math_ops import add as add
from graven._math_ops import add_n as add_n
from graven._math_ops import angle as angle
from graven._math_ops import argmax as argmax
from graven._math_ops import argmin as argmin
from graven._math_ops import conj as conj
from graven._math_ops import cumprod as cumprod
from graven._math_ops import cumsum as cumsum
from graven._math_ops import divide as divide
from graven._math_ops import divide_no_nan as divide_no_nan
from graven._math_ops import equal as equal
from graven._math_ops import imag as imag
from graven._math_ops import log_sigmoid as log_sigmoid
from graven._math_ops import logical_xor as logical_xor
from graven._math_ops import not_equal as not_equal
from graven._math_ops import real as real
from graven._math_ops import scalar_mul as scalar_mul
from graven._math_ops import truediv as truediv
from graven._nn_ops import log_softmax as log_softmax
from graven._nn_ops import softmax as softmax
from graven._nn_ops import zero_fraction as zero_fraction
from graven._sort_ops import top_k as top_k

_public.complete(__name__)
