"""Decompositions of matrices whose results depend on what is asked for."""

from __future__ import annotations

from typing import Any

from graven import _public


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: Any = None) -> Any:
    """The singular values of matrices, and u and v of a = u diag(s) v^H.

    Args:
      tensor: Matrices, shape [..., m, n].
      full_matrices: Make u and v square, instead of with as many columns as s has values.
      compute_uv: Give u and v, too.
      name: Of the op.

    Returns:
      s, u and v, or s alone: [..., min(m, n)] in descending order, [..., m, columns] and
      [..., n, columns].

    Raises:
      InvalidArgumentError: There are less than two axes.

    Source: tf.linalg.svd, OpDef "Svd".
    """
    s, u, v = _public.function("linalg.svd")(tensor, full_matrices, compute_uv, name)
    return (s, u, v) if compute_uv else s
