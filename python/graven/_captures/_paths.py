"""Paths to values, and what the code of a function does with those that they lead to."""

from __future__ import annotations

from typing import Any

Step = tuple[str, Any]
Path = tuple[Step, ...]

# The steps: attribute; item by a constant; every item; length; what a call returns (its number).
ATTRIBUTE, ITEM, EACH, LENGTH, CALLED = ".", "[", "*", "#", "()"
GLOBAL, CELL, ARGUMENT = "global", "cell", "argument"


class Call:
    """A call in the code of a function.

    Attributes:
      callee: The paths of what is called.
      args: For each positional argument its paths.
      kwargs: The same of keyword arguments by name.
      constant: The first argument, if it is a string that the code says.
    """

    __slots__ = ("args", "callee", "constant", "kwargs")

    def __init__(self) -> None:
        self.callee: frozenset[Path] = frozenset()
        self.args: tuple[frozenset[Path], ...] = ()
        self.kwargs: dict[str, frozenset[Path]] = {}
        self.constant: str | None = None


class Node:
    """A variable, or what steps from one lead to, with all that code does with the value.

    Attributes:
      line: Where it is read first; 0 if it is only called.
      is_used: Whether its path is in Reads.used.
      is_read: Whether it, or what steps from it lead to, is used or called.
      passed: The calls that get it, and which of their arguments it is.
      calls: Its calls.
      steps: The steps that lead on: kind, name or the like, and where to.
    """

    __slots__ = ("calls", "is_read", "is_used", "line", "passed", "steps")

    def __init__(self, line: int) -> None:
        self.line = line
        self.is_used = False
        self.is_read = False
        self.passed: list[tuple[Call, int | str]] = []
        self.calls: list[Call] = []
        self.steps: list[tuple[str, Any, Node]] = []


class Reads:
    """What the code of a function reads.

    Attributes:
      used: The line of each path that is used, the first in the order of the code.
      passed: Paths whose values a call gets: the line, the call, and which of its arguments it is.
        They are used if that argument is.
      changed: The lines where names and attributes outside of the function get other values, or
        lists and dicts there other items.
      calls: Calls of what paths lead to.
      returned: The paths of what the function returns.
      arguments: The names of the function's parameters.
      places: For each line its text in messages.
    """

    def __init__(self, arguments: tuple[str, ...] = ()) -> None:
        self.arguments = arguments
        self.places: dict[int, str] = {}
        self.used: dict[Path, int] = {}
        self.passed: dict[Path, list[tuple[int, Call, int | str]]] = {}
        self.changed: dict[Path, int] = {}
        self.calls: list[Call] = []
        self.returned: set[Path] = set()
        self._roots: list[tuple[Step, Node]] | None = None

    def roots(self) -> list[tuple[Step, Node]]:
        """The variables that paths of used, passed and calls begin with, each once."""
        if self._roots is None:
            self._roots = self._tree()
        return self._roots

    def _tree(self) -> list[tuple[Step, Node]]:
        nodes: dict[Path, Node] = {}
        roots: list[tuple[Step, Node]] = []

        def node_of(path: Path, line: int) -> Node:
            node = nodes.get(path)
            if node is None:
                node = nodes[path] = Node(line)
                if len(path) == 1:
                    roots.append((path[0], node))
                else:
                    node_of(path[:-1], line).steps.append((*path[-1], node))
            return node

        for path, line in self.used.items():
            node_of(path, line).is_used = True
        for path, sites in self.passed.items():
            if path not in self.used:
                node_of(path, sites[0][0]).passed = [(call, which) for _, call, which in sites]
        for call in self.calls:
            for path in call.callee:
                node_of(path, 0).calls.append(call)
        for path, node in nodes.items():
            if node.is_used or node.calls:
                for end in range(1, len(path) + 1):
                    nodes[path[:end]].is_read = True
        return roots
