"""The text of a concrete function's signature in the layout of TensorFlow up to 2.11."""

from __future__ import annotations

import pprint
from collections.abc import Iterable
from typing import Any

from graven import nest
from graven._engine import TensorSpec

_WIDTH = 10_000  # a structure stands on one line


class _Marker:
    """Stands for a leaf in a structure that is printed."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __repr__(self) -> str:
        return f"<{self._number}>"


def legacy_signature(
    name: str, args: Iterable[tuple[str, Any]], kwargs: dict[str, Any], outputs: Any
) -> str:
    """Returns several lines: the parameters, those of tensors with their types, and the result.

    Args:
      name: The function's.
      args: The positional parameters by name, with specs in the place of tensors.
      kwargs: The keyword-only ones.
      outputs: The result, with tensors or specs as leaves.
    """
    positional = list(args)
    parameters = [_parameter(*p) for p in positional]
    if kwargs:
        parameters += ["*", *(_parameter(*p) for p in kwargs.items())]
    lines = [f"{name}({', '.join(parameters)})"]
    details = [
        f"    {name}: {_described(spec)}"
        for name, spec in [*positional, *sorted(kwargs.items())]
        if _has_tensors(spec)
    ]
    if details:
        lines += ["  Args:", *details]
    specs = nest.map_structure(_spec_of, outputs)
    return "\n".join([*lines, "  Returns:", f"    {_described(specs)}"])


def _parameter(name: str, spec: Any) -> str:
    return name if _has_tensors(spec) else f"{name}={spec!r}"


def _has_tensors(spec: Any) -> bool:
    return any(isinstance(leaf, TensorSpec) for leaf in nest.flatten(spec))


def _spec_of(output: Any) -> Any:
    if output is None or isinstance(output, TensorSpec):
        return output
    return TensorSpec(output.shape, output.dtype)


def _described(spec: Any) -> str:
    if isinstance(spec, TensorSpec):
        return f"{spec.dtype.name} Tensor, shape={spec.shape}"
    if not nest.is_nested(spec):
        return repr(spec)
    leaves = nest.flatten(spec)
    markers = [_Marker(number) for number in range(1, len(leaves) + 1)]
    structure = pprint.pformat(nest.pack_sequence_as(spec, markers), width=_WIDTH)
    lines = [
        f"      {marker}: {_described(leaf)}" for marker, leaf in zip(markers, leaves, strict=True)
    ]
    return "\n".join([structure, *lines])
