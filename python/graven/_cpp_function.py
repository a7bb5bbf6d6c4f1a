"""Functions that were made in C++, as Python has them: the methods of what tf.function makes.

The engine imports this with the first of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graven import _engine
from graven._concrete_function import Options
from graven._function import PolymorphicFunction, _FunctionMethods

if TYPE_CHECKING:
    import inspect


class _CppFunctionMethods:
    """What the type CppFunction gets from Python."""

    cache_info = _FunctionMethods.cache_info
    clear_cache = _FunctionMethods.clear_cache
    explain = _FunctionMethods.explain
    get_concrete_function = _FunctionMethods.get_concrete_function
    pretty_printed_concrete_signatures = _FunctionMethods.pretty_printed_concrete_signatures

    @property
    def _kept(self: Any) -> list[Any]:
        return []  # Its traces need no objects of Python's.

    @property
    def _options(self: Any) -> Options:
        max_traces, max_bytes = self._budget
        return Options(None, False, None, None, {}, (), max_traces, max_bytes)

    @property
    def __signature__(self: Any) -> inspect.Signature:
        """The parameters, for what asks before it calls: tf.function, inspect."""
        import inspect

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(name, kind) for name in self._parameters])

    def __copy__(self: Any) -> Any:
        """The function itself: what it does is C++."""
        return self

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        """The function itself."""
        del memo
        return self


METHODS = {
    name: member
    for name, member in vars(_CppFunctionMethods).items()
    if name not in ("__module__", "__dict__", "__weakref__", "__doc__")
}
for _name, _member in METHODS.items():
    setattr(_engine.CppFunction, _name, _member)
PolymorphicFunction.register(_engine.CppFunction)
