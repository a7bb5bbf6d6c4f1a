"""Names that become values of the graph: lists that change their length, and None or a value.

Only where a function that is traced as TensorFlow traces it fails (`attempts`). Then a staged
statement gives each of its names a form, where it needs one: a StagedListSpec, a
StagedOptionalSpec, or Kept, for a list to which only Python's values are added, which happens once
while the function is traced.

A body works on a copy of a list. What else holds the list itself cannot see what the body does: it
finds elements that are out of scope, and after the statement the result, if that is a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graven import _nest
from graven.autograph._operators.staged_list import (
    StagedList,
    StagedListSpec,
    Superseded,
    spec_of_elements,
)
from graven.autograph._operators.staged_optional import StagedOptional, spec_of_values
from graven.autograph._operators.values import is_dense
from graven.autograph._operators.variables import is_undefined


class Kept:
    """The form, and in bodies the value, of a list that stays Python's and goes around the graph.

    Args:
      name: Its name.
      value: The list; None if bodies work on copies of it.
    """

    def __init__(self, name: str, value: Any = None) -> None:
        self.name = name
        self.value = value

    def convert(self, value: Any) -> Kept:
        """Returns what stands for the list, so that nothing looks for tensors in it.

        Args:
          value: The list.

        Raises:
          TypeError: It is another one.
        """
        if self.value is not None and value is not self.value:
            raise TypeError(
                f"'{self.name}' is another list after an iteration than before it, though a look "
                "at one iteration showed that it stays."
            )
        return self


class _Copied:
    """A list before a statement, and the copies that bodies work on."""

    def __init__(self, name: str, value: Any, place: str) -> None:
        self.value = value
        self._name, self._place = name, place
        is_staged = isinstance(value, StagedList)
        self.content: list[Any] = list(value.handles() if is_staged else value)
        self._copies: list[Any] = []
        self._are_bound = True
        self.is_in_place = True
        self._added: list[Any] = []

    def copy(self) -> Any:
        """A new copy, for a body; the list itself is out of scope."""
        value = self.value
        if isinstance(value, StagedList):
            made: Any = StagedList(value.spec, self.content)
            value.supersede()
        else:
            made = list(self.content)
            value[:] = [Superseded(self._name, self._place)]
        self._copies.append(made)
        return made

    def end(self, value: Any) -> None:
        """Takes what the name is bound to at the end of the body."""
        self.is_in_place = self.is_in_place and value is self._copies[-1]

    def added(self, copy: Any) -> list[Any] | None:
        """What was added to a copy at its end; None if it was changed otherwise."""
        count = len(self.content)
        if isinstance(copy, StagedList) or len(copy) < count:
            return None
        if any(one is not two for one, two in zip(copy, self.content, strict=False)):
            return None
        return list(copy[count:])

    @property
    def is_changed(self) -> bool:
        """Whether a body has changed its copy."""
        return any(self._now(copy) for copy in self._copies)

    def _now(self, copy: Any) -> bool:
        if isinstance(copy, StagedList) and copy.is_superseded:
            return True
        content = copy.handles() if isinstance(copy, StagedList) else copy
        return len(content) != len(self.content) or any(
            one is not two for one, two in zip(content, self.content, strict=True)
        )

    def is_log(self) -> bool:
        """Whether bodies have added Python's values, and no tensors, to their copies."""
        if isinstance(self.value, StagedList) or not self.is_in_place:
            return False
        added = [self.added(copy) for copy in self._copies]
        if any(values is None for values in added):
            return False
        flat = [leaf for values in added for leaf in _nest.flatten(values)]
        return bool(flat) and not any(map(_is_staged, flat))

    def restore(self, content: Sequence[Any] | None = None) -> Any:
        """Gives the list its content again, or another; returns it."""
        if isinstance(self.value, StagedList):
            self.value.reinstate(self.content)
        else:
            self.value[:] = self.content if content is None else content
        return self.value

    def add_log(self, copies: int) -> Any:
        """Adds to the list what the last bodies have added to their copies; returns it."""
        added = [x for copy in self._copies[-copies:] for x in self.added(copy) or ()]
        return self.restore([*self.content, *added])


def _is_staged(leaf: Any) -> bool:
    return is_dense(leaf) or isinstance(leaf, StagedList | StagedOptional)


class CopiedLists:
    """The lists among the names of a statement, while its bodies are traced.

    Args:
      names: The names.
      before: Their values before the statement.
      place: The line of the statement.

    Raises:
      TypeError: Two of the names are one list.
    """

    def __init__(self, names: Sequence[str], before: Sequence[Any], place: str) -> None:
        self._lists = {
            name: _Copied(name, value, place)
            for name, value in zip(names, before, strict=True)
            if isinstance(value, list | StagedList)
        }
        self._place = place
        by_id: dict[int, str] = {}
        for name, one in self._lists.items():
            other = by_id.setdefault(id(one.value), name)
            if other != name:
                raise TypeError(
                    f"'{other}' and '{name}' are one list, which {place} changes, a statement on "
                    "tensors: that knows what happens to a list under one name only."
                )

    def __bool__(self) -> bool:
        return bool(self._lists)

    def copies(self, names: Sequence[str], values: Sequence[Any]) -> tuple[Any, ...]:
        """Returns a state for a body, with copies in the place of lists."""
        return tuple(
            self._lists[name].copy() if name in self._lists else value
            for name, value in zip(names, values, strict=True)
        )

    def end(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """Takes the state at the end of the body."""
        for name, value in zip(names, values, strict=True):
            if name in self._lists:
                self._lists[name].end(value)

    def is_log(self, name: str) -> bool:
        """Whether bodies add Python's values to a list, and nothing else."""
        return name in self._lists and self._lists[name].is_log()

    def is_unchanged(self, name: str) -> bool:
        """Whether no body has changed a list, or bound another one."""
        one = self._lists.get(name)
        return one is not None and one.is_in_place and not one.is_changed

    def put_out_of_scope(self, names: Sequence[str]) -> None:
        """Lets nothing read lists by other names while bodies are traced.

        Args:
          names: Those of the lists.
        """
        for name in names:
            if name in self._lists:
                self._lists[name].copy()

    def restore(self) -> None:
        """Gives the lists their contents again."""
        for one in self._lists.values():
            one.restore()

    def result(self, name: str, value: Any, bodies: int) -> Any:
        """Returns what a name is bound to after the statement.

        Args:
          name: The name.
          value: The value that the bodies give.
          bodies: How many there are.
        """
        one = self._lists.get(name)
        if one is None:
            return value
        if isinstance(value, Kept):
            return one.add_log(bodies)
        if self.is_unchanged(name):
            return one.restore()
        if not one.is_in_place:
            if not one.is_changed:
                one.restore()
            return value
        if isinstance(value, list) and isinstance(one.value, list):
            return one.restore(value)
        return value

    def release(self, name: str) -> None:
        """Ends the statement for a name that nothing reads after it under this name."""
        one = self._lists.get(name)
        if one is not None and not one.is_changed:
            one.restore()


# --- Which forms names need.


def list_form(name: str, place: str, values: Sequence[Any]) -> StagedListSpec | None:
    """Returns the form of a name that is bound to one of some lists.

    Args:
      name: The name.
      place: The line of the statement.
      values: The lists.

    Returns:
      The form; None if a value is no list, or no element has a tensor.

    Raises:
      TypeError: The elements are of several types.
      ValueError: They are of several shapes.
    """
    if not all(isinstance(value, list | StagedList) for value in values):
        return None
    elements: list[Any] = []
    for value in values:
        elements += [value.spec.element] if isinstance(value, StagedList) else value
    is_any_staged = any(isinstance(value, StagedList) for value in values)
    if not is_any_staged and not any(map(_is_staged, _nest.flatten(elements))):
        return None
    return spec_of_elements(name, place, elements)


def form_of(name: str, place: str, values: Sequence[Any]) -> Any:
    """Returns the form of a name that is bound to one of some values; None if it needs none.

    Args:
      name: The name.
      place: The line of the statement.
      values: The values, at the ends of branches or before and after an iteration.

    Raises:
      TypeError: The values can have no form: they are of several types.
      ValueError: The elements of lists are of several shapes.
    """
    if any(map(is_undefined, values)):
        return None
    if any(isinstance(value, StagedOptional) or value is None for value in values):
        if all(value is None for value in values):
            return None
        return spec_of_values(name, place, values)
    if not any(isinstance(value, list | StagedList) for value in values):
        return None
    if all(isinstance(value, list) for value in values) and _have_one_structure(values):
        return None
    if all(isinstance(value, StagedList) for value in values):
        specs = [value.spec for value in values]
        if all(spec == specs[0] for spec in specs):
            return None
    return list_form(name, place, values)


def _have_one_structure(values: Sequence[Any]) -> bool:
    try:
        for value in values[1:]:
            _nest.assert_same_structure(values[0], value)
    except (TypeError, ValueError):
        return False
    return True
