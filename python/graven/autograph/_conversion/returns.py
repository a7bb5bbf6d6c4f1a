"""Returns become flags; before that, statements after an `if` that returns move into its branches.

`return e` sets `do_return = True` and `retval_ = e`. What follows is guarded by `if not do_return`.
A staged `if` can give a value for `retval_` only if both branches do, so as many of these guards as
possible are avoided: what follows an `if` with a returning branch is the other branch's.
"""

import ast
import copy
from collections.abc import Sequence

_MAX_COPIED = 64


class ReturnMover:
    """Moves statements that follow an `if` with a return into its branches."""

    def __init__(self) -> None:
        self._budget = _MAX_COPIED

    def move(self, node: ast.If, rest: list[ast.stmt], in_loop: bool) -> bool:
        """Tells whether the branches of an `if` have taken the statements that follow it.

        An `if` that returns on some paths only takes them twice, if they return, are few, and it is
        not in a loop, which may not reach them.
        """
        if not _may_return(node):
            return False
        if always_returns(node.body):
            node.orelse = node.orelse + rest
            return True
        if always_returns(node.orelse):
            node.body = node.body + rest
            return True
        if in_loop or not always_returns(rest):
            return False
        size = _size(rest)
        if size > self._budget:
            return False
        self._budget -= size
        node.body = node.body + copy.deepcopy(rest)
        node.orelse = node.orelse + rest
        return True


def always_returns(block: Sequence[ast.stmt]) -> bool:
    """Whether statements end in a return on every path that ends.

    A return in a `with` does not count: what the block raises may be suppressed.
    """
    return any(
        isinstance(statement, ast.Return)
        or (
            isinstance(statement, ast.If)
            and always_returns(statement.body)
            and always_returns(statement.orelse)
        )
        for statement in block
    )


def _may_return(node: ast.If) -> bool:
    """Whether an `if`, or one inside of it, has a return of its own."""
    for statement in (*node.body, *node.orelse):
        if isinstance(statement, ast.Return):
            return True
        if isinstance(statement, ast.If) and _may_return(statement):
            return True
    return False


def _size(block: Sequence[ast.stmt]) -> int:
    return sum(isinstance(node, ast.stmt) for statement in block for node in ast.walk(statement))
