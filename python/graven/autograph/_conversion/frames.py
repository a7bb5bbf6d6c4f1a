"""Names of converted code objects, and what is known of each.

The compiler names functions by the nest of `def`s that a conversion makes. Here they get the names
that they have in the user's program; the functions of bodies and operands get that of the function
they are of, so that tracebacks, profiles and reprs read like the program.
"""

import functools
import types
import weakref
from dataclasses import dataclass
from typing import Any

_CO_OPTIMIZED = 0x1  # Of functions; bodies of classes are not.


@dataclass(frozen=True, slots=True)
class ConvertedFrame:
    """What a converted code object stands for.

    Attributes:
      function: The name of the user's function it is of.
      is_helper: Whether it is a body, a test or an operand of that function, not the function
        itself.
      made_names: The names in it that are the conversion's and not the user's.
    """

    function: str
    is_helper: bool
    made_names: frozenset[str]


# By the identity of a code object. An entry goes with its code: an inner function may outlive the
# outer one.
_FRAMES: dict[int, tuple[weakref.ref[types.CodeType], ConvertedFrame]] = {}


def converted_frame(code: types.CodeType) -> ConvertedFrame | None:
    """Returns what a code object stands for, None if no conversion made it."""
    known = _FRAMES.get(id(code))
    return None if known is None else known[1]


def rename(
    code: types.CodeType,
    original: types.CodeType,
    helpers: set[str],
    nameless: set[str],
    made_names: frozenset[str],
) -> types.CodeType:
    """Returns the code of a converted function, named as the original is, and remembers it.

    Args:
      code: As the compiler made it.
      original: The code of the user's function.
      helpers: The names of functions that the conversion has defined, and of the first parameters
        of its lambdas.
      nameless: The names of functions that no traceback shows; they keep the compiler's.
      made_names: All names that the conversion has made.
    """
    return _Renamer(helpers, nameless, made_names).rename(
        code, original.co_name, original.co_qualname, False
    )


def _forget(frames: dict[int, Any], key: int, _: object) -> None:
    """Drops what is known of code that is gone; the name of the dict is gone when Python ends."""
    frames.pop(key, None)


class _Renamer:
    def __init__(
        self,
        helpers: set[str],
        nameless: set[str],
        made_names: frozenset[str],
    ) -> None:
        self._helpers = helpers
        self._nameless = nameless
        self._made_names = made_names

    def rename(
        self, code: types.CodeType, name: str, qualname: str, is_helper: bool
    ) -> types.CodeType:
        """Returns a code object with new names, and those inside of it."""
        is_class = not code.co_flags & _CO_OPTIMIZED
        prefix = f"{qualname}." if is_class else f"{qualname}.<locals>."
        constants: list[object] = []
        for value in code.co_consts:
            if isinstance(value, types.CodeType):
                if self._is_helper(value):
                    value = self.rename(value, name, qualname, True)
                elif value.co_name not in self._nameless:
                    value = self.rename(value, value.co_name, prefix + value.co_name, False)
            elif is_class and value == code.co_qualname:
                value = qualname
            constants.append(value)
        found = code.replace(co_name=name, co_qualname=qualname, co_consts=tuple(constants))
        key = id(found)
        kept = weakref.ref(found, functools.partial(_forget, _FRAMES, key))
        _FRAMES[key] = (kept, ConvertedFrame(name, is_helper, self._made_names))
        return found

    def _is_helper(self, code: types.CodeType) -> bool:
        name = code.co_name
        if name == "<lambda>":
            name = code.co_varnames[0] if code.co_varnames else name
        return name in self._helpers
