"""Ragged tensors (tf.ragged)."""

from graven._ragged import constant as constant
