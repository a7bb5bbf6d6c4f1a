"""Which names have a value at a point of the converted code, in the function that the point is in.

A body of control flow becomes a function. Names that it binds and shares are nonlocal there; the
others it binds are its own, and have no value at its start. Before an operator is called, each name
that its bodies bind and that surely has no value is set to an Undefined. Then all have one, except
those of which a `try`, a `with` or a `match` may have bound some: these are read by `ag__.ldu`.
"""


class Bindings:
    """The names with a value.

    Attributes:
      must: The names that surely have a value.
      may: The names that may have one.
    """

    __slots__ = ("may", "must")

    def __init__(self, must: int, may: int) -> None:
        self.must = must
        self.may = may

    def copy(self) -> "Bindings":
        """Returns the same, to go on from."""
        return Bindings(self.must, self.may)

    def bind(self, names: int) -> None:
        """Notes that names get a value."""
        self.must |= names
        self.may |= names

    def inside(self, modified: int, shared: int) -> "Bindings":
        """Returns what holds at the start of a body that binds some names and shares some."""
        own = modified & ~shared
        return Bindings(self.must & ~own, self.may & ~own)
