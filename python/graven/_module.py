"""tf.Module: variables and submodules found by reflection."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from graven import _engine, nest
from graven._scopes import name_scope
from graven._variable import Variable

T = TypeVar("T")


class _Copied:
    """A container that is copied and pickled with what it wraps, and not item by item."""

    __wrapped__: Any

    def __copy__(self) -> Any:
        return type(self)(copy.copy(self.__wrapped__))  # type: ignore[call-arg]

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return type(self)(copy.deepcopy(self.__wrapped__, memo))  # type: ignore[call-arg]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self.__wrapped__,)


class _TrackedList(_Copied, list[Any]):
    """A list of a Module: shares its items with the list that was assigned."""

    def __init__(self, wrapped: list[Any]) -> None:
        super().__init__(wrapped)
        self.__wrapped__ = wrapped


class _TrackedDict(_Copied, dict[Any, Any]):
    """A dict of a Module: shares its items with the dict that was assigned."""

    def __init__(self, wrapped: dict[Any, Any]) -> None:
        super().__init__(wrapped)
        self.__wrapped__ = wrapped


def _sharing(method: str) -> Callable[..., Any]:
    """A method of list or dict that works on what is wrapped, and keeps the copy up to date."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = getattr(self.__wrapped__, method)(*args, **kwargs)
        base = list if isinstance(self, list) else dict
        base.clear(self)
        (list.extend if base is list else dict.update)(self, self.__wrapped__)
        return self if result is self.__wrapped__ else result

    call.__name__ = method
    return call


_LIST_METHODS = (
    "append clear copy count extend index insert pop remove reverse sort __contains__ __delitem__ "
    "__eq__ __ge__ __getitem__ __gt__ __iadd__ __imul__ __iter__ __le__ __len__ __lt__ __ne__ "
    "__repr__ __reversed__ __setitem__ __add__ __mul__"
)
_DICT_METHODS = (
    "clear copy get items keys pop popitem setdefault update values __contains__ __delitem__ "
    "__eq__ __getitem__ __ior__ __iter__ __len__ __ne__ __or__ __repr__ __reversed__ __setitem__"
)
for _method in _LIST_METHODS.split():
    setattr(_TrackedList, _method, _sharing(_method))
for _method in _DICT_METHODS.split():
    setattr(_TrackedDict, _method, _sharing(_method))


def _snake_case(name: str) -> str:
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name).lower()


class Module:
    """A named container of variables and of other modules.

    Args:
      name: A Python identifier; None takes the name of the class in snake case.

    Raises:
      ValueError: The name is no identifier.

    Source: tf.Module.
    """

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = _snake_case(type(self).__name__)
        if not name.isidentifier():
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python "
                "identifiers (e.g. a valid class name)."
            )
        self._name = name
        with _engine.NameScope(name) as scope:
            self._name_scope = name_scope(scope)

    def __setattr__(self, name: str, value: Any) -> None:
        if type(value) is list:
            value = _TrackedList(value)
        elif type(value) is dict:
            value = _TrackedDict(value)
        super().__setattr__(name, value)

    @property
    def name(self) -> str:
        """The name, without the scope it was made in."""
        return getattr(self, "_name", None) or _snake_case(type(self).__name__)

    @property
    def name_scope(self) -> Any:
        """A scope to enter with `with`, any number of times; always the same object."""
        if "_name_scope" not in vars(self):  # a subclass that did not call __init__
            self._name_scope = name_scope(self.name + "/")
        return self._name_scope

    @property
    def variables(self) -> tuple[Any, ...]:
        """All variables of this module and its submodules, each once."""
        return tuple(self._flatten(lambda leaf: isinstance(leaf, Variable)))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those of `variables` that are trainable."""
        return tuple(self._flatten(lambda leaf: isinstance(leaf, Variable) and leaf.trainable))

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        """Those of `variables` that are not trainable."""
        return tuple(self._flatten(lambda leaf: isinstance(leaf, Variable) and not leaf.trainable))

    @property
    def submodules(self) -> tuple[Module, ...]:
        """All modules below this one, itself left out."""
        return tuple(self._flatten(lambda leaf: isinstance(leaf, Module)))

    def _flatten(self, wanted: Callable[[Any], bool]) -> Iterator[Any]:
        seen = {id(self)}
        for leaf in _walk(self, seen_modules={id(self)}):
            if wanted(leaf) and id(leaf) not in seen:
                seen.add(id(leaf))
                yield leaf

    @classmethod
    def with_name_scope(cls, method: Callable[..., T]) -> Callable[..., T]:
        """Decorates a method so that it runs in the module's name scope.

        Args:
          method: A method of a Module.

        Returns:
          The method, in `with self.name_scope`.

        Source: tf.Module.with_name_scope.
        """

        def scoped(self: Any, *args: Any, **kwargs: Any) -> T:
            with self.name_scope:
                return method(self, *args, **kwargs)

        scoped.__name__ = method.__name__
        scoped.__doc__ = method.__doc__
        return scoped


def _walk(module: Module, seen_modules: set[int]) -> Iterator[Any]:
    """The leaves of a module's attributes, then those of each module among them, depth first."""
    below: list[Module] = []
    for name, value in sorted(vars(module).items()):
        try:
            leaves = nest.flatten(value)
        except TypeError as error:
            raise ValueError(f"Error processing property {name!r} of {value!r}") from error
        for leaf in leaves:
            if isinstance(leaf, Module):
                if id(leaf) in seen_modules:
                    continue
                seen_modules.add(id(leaf))
                below.append(leaf)
            yield leaf
    for submodule in below:
        yield from _walk(submodule, seen_modules)
