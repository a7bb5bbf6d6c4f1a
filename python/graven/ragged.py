"""Ragged tensors (tf.ragged)."""

from graven import _public
from graven._ragged import constant as constant

_public.complete(__name__)
