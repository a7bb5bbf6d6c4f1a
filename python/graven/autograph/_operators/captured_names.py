"""Names that lambdas from before a staged `if` read, of which its branches change the values.

A lambda that is called after the `if` must see what the branch left. Nothing says that it is called
at all: so a name on which the branches do not agree is no error, and keeps its value from before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graven import _nest
from graven.autograph._operators.branch_results import BranchResult, agree
from graven.autograph._operators.variables import is_undefined


class CapturedNames:
    """The captured names of one staged `if`. The main branch is traced first.

    Args:
      names: The names.
      before: Their values before the `if`.
    """

    def __init__(self, names: Sequence[str], before: Sequence[Any]) -> None:
        self._names = names
        self._before = before
        self._outputs: dict[str, tuple[BranchResult, BranchResult]] = {}  # before, and of main
        self._kept: set[str] = set()  # the branches do not agree

    def of_main(self, values: Sequence[Any]) -> list[Any]:
        """Takes what the main branch leaves; returns the tensors of what may be outputs.

        These are of the type that they had before, so that the other branch, if it has another
        type, can give the values from before for them.
        """
        tensors = []
        for name, before, value in zip(self._names, self._before, values, strict=True):
            start, result = _result(name, before), _result(name, value)
            if start is not None and result is not None and agree(name, start, result):
                self._outputs[name] = start, result
                tensors += result.tensors()
        return tensors

    def of_else(self, values: Sequence[Any]) -> list[Any]:
        """Takes what the else branch leaves; returns the tensors of the same outputs."""
        tensors = []
        for name, value in zip(self._names, values, strict=True):
            if name not in self._outputs:
                continue
            start, main = self._outputs[name]
            result = _result(name, value)
            if result is None or not agree(name, main, result):
                self._kept.add(name)
                result = start
            elif main.values[name] is value is start.values[name]:
                self._kept.add(name)
            tensors += result.tensors()
        return tensors

    def packed(self, flat: Sequence[Any]) -> list[Any]:
        """Returns the values after the `if`; the last of what tf.cond returned are theirs."""
        count = sum(len(main.tensors()) for _, main in self._outputs.values())
        outputs = iter(flat[len(flat) - count :])
        values = []
        for name, before in zip(self._names, self._before, strict=True):
            value = before
            if name in self._outputs:
                _, main = self._outputs[name]
                leaves = [
                    leaf.value if leaf.tensor is None else next(outputs)
                    for leaf in main.leaves[name]
                ]
                if name not in self._kept:
                    value = _nest.pack_sequence_as(main.values[name], leaves)
            values.append(value)
        return values


def _result(name: str, value: Any) -> BranchResult | None:
    if value is None or is_undefined(value):
        return None
    return BranchResult("", (name,), (value,))
