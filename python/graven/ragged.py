"""Ragged tensors (tf.ragged)."""

from graven import _public
from graven._ragged_constant import constant as constant
from graven._ragged_ops import stack as stack

_public.complete(__name__)
