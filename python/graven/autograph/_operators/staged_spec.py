"""What the types of values that staged code has made have in common."""

from __future__ import annotations

from typing import Any

from graven import _nest
from graven._type_spec import TypeSpec


class StagedSpec(TypeSpec):
    """The type of such a value.

    Args:
      element: The structure of what it holds, with a TensorSpec for each leaf.
      name: The name that the user gave it, for messages.
      place: The statement that made it a value of the graph, for messages.
    """

    def __init__(self, element: Any, name: str = "", place: str = "") -> None:
        self.element = element
        self.leaves: list[Any] = _nest.flatten(element)
        self.name = name
        self.place = place

    def _serialize(self) -> tuple[Any, ...]:
        return (self.element, self.name, self.place)
