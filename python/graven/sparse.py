"""Sparse tensors (tf.sparse)."""

from graven import _public
from graven._sparse import SparseTensor as SparseTensor
from graven._sparse import from_dense as from_dense

_public.complete(__name__)
