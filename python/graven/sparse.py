"""Sparse tensors (tf.sparse)."""

from graven._sparse import SparseTensor as SparseTensor
from graven._sparse import from_dense as from_dense
