"""New names, which no name of the user's code is."""

import types


class Names:
    """Gives names that a function does not use.

    Args:
      taken: The names it uses, names of attributes among them.

    Attributes:
      made: The names given so far.
    """

    def __init__(self, taken: set[str]) -> None:
        self.made: set[str] = set()
        self._taken = taken
        self._next: dict[str, int] = {}

    def new(self, name: str) -> str:
        """Returns a name, with `_1`, `_2`, ... where it is taken, and takes it."""
        number = self._next.get(name, 0)
        found = f"{name}_{number}" if number else name
        while found in self._taken:
            number += 1
            found = f"{name}_{number}"
        self._next[name] = number + 1
        self._taken.add(found)
        self.made.add(found)
        return found


def names_of(code: types.CodeType) -> set[str]:
    """Returns all names in a code object and in those inside of it."""
    found = {*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars, code.co_name}
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            found |= names_of(value)
    return found
