"""What converted code does by hand: names in a cell, read and written by two functions."""

from collections.abc import Callable
from typing import Any

import graven as tf
from graven.autograph import _operators as ag
from graven.autograph._status import Status, StatusScope


class Names:
    """The names of a function, as attributes, and their two functions.

    Args:
      **values: The names that statements change, in the order of their symbols.
    """

    def __init__(self, **values: Any) -> None:
        self._names = tuple(values)
        vars(self).update(values)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def get(self) -> tuple[Any, ...]:
        return tuple(vars(self)[name] for name in self._names)

    def set(self, values: tuple[Any, ...]) -> None:
        vars(self).update(zip(self._names, values, strict=True))

    def _symbols(self) -> tuple[str, ...]:
        """What operators are told of the names: `<name>` of those that a conversion makes."""
        made = ("do_return", "retval_")
        return tuple(f"<{name}>" if name in made else name for name in self._names)

    def if_(
        self,
        condition: Any,
        main: Callable[[], Any],
        orelse: Callable[[], Any] = lambda: None,
        nouts: int | None = None,
    ) -> None:
        count = len(self._names) if nouts is None else nouts
        ag.if_stmt(condition, main, orelse, self.get, self.set, self._symbols(), count)

    def while_(self, test: Callable[[], Any], body: Callable[[], None], **opts: Any) -> None:
        ag.while_stmt(test, body, self.get, self.set, self._symbols(), opts)

    def for_(
        self,
        iter_: Any,
        body: Callable[[Any], None],
        extra_test: Callable[[], Any] | None = None,
        **opts: Any,
    ) -> None:
        ag.for_stmt(iter_, extra_test, body, self.get, self.set, self._symbols(), opts)


def function(f: Callable[..., Any], **options: Any) -> Any:
    """A Function that runs as converted code does, but is not converted."""

    def enabled(*args: Any) -> Any:
        with StatusScope(Status.ENABLED):
            return f(*args)

    return tf.function(enabled, autograph=False, **options)


def traced(f: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function, traced; returns numbers and arrays."""
    return tf.nest.map_structure(lambda t: t.numpy(), function(f)(*arguments))
