"""What set_loop_options says about a loop."""

from __future__ import annotations

from typing import Any

UNSPECIFIED = object()  # the default of set_loop_options
_OF_WHILE_LOOP = ("parallel_iterations", "swap_memory", "maximum_iterations", "recompute")


def of_while_loop(opts: dict[str, Any]) -> dict[str, Any]:
    """The options that tf.while_loop takes as they are."""
    chosen = {key: opts[key] for key in _OF_WHILE_LOOP if key in opts}
    return {key: value for key, value in chosen.items() if value is not UNSPECIFIED}


def shape_invariants(opts: dict[str, Any]) -> list[tuple[Any, Any]]:
    """The pairs of a variable's value and a shape."""
    given = opts.get("shape_invariants")
    return [] if given is None or given is UNSPECIFIED else list(given)
