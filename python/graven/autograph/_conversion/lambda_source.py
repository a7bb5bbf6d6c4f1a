"""Finds the source of a lambda by the columns that its code object knows.

A code object knows the line of the word `lambda` and the places of the parts of the value. From
each `lambda` on that line the text is parsed as far as these parts reach, and on to further
brackets where they close after it. Of what parses, the shortest value that holds all parts is the
lambda's. Without columns (`python -X no_debug_ranges`) the whole file is parsed.
"""

import ast
import re
import types

Place = tuple[int, int]

_KEYWORD = re.compile(r"\blambda\b")
_CLOSING = re.compile(rb"[)\]}]")
_MAX_BRACKETS = 40


def find_lambda(code: types.CodeType, lines: list[str]) -> ast.Lambda | None:
    """Returns the syntax tree of a lambda, placed as in its file.

    None if it is not found, or if Python was told to leave the columns out.
    """
    parts = _parts(code)
    if parts is None:
        return None
    start, end = parts
    first = code.co_firstlineno
    line = lines[first - 1]
    columns = [len(line[: match.start()].encode()) for match in _KEYWORD.finditer(line)]
    # The last that fits is nearly always the first that is tried: a line may have many.
    for column in reversed(columns):
        if (first, column) > start:
            continue
        node = _parse(lines, (first, column), end)
        if node and _begin(node.body) <= start and _count(node.args) == _counted(code):
            return node
    return None


def lambdas_at(line: int, lines: list[str]) -> list[ast.Lambda]:
    """Returns the syntax trees of all lambdas whose `lambda` is on a line, outer ones first."""
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return []
    return [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and node.lineno == line]


def _parts(code: types.CodeType) -> tuple[Place, Place] | None:
    """Where the value begins and ends: the smallest range with all instructions in it."""
    start: Place | None = None
    end: Place | None = None
    for line, end_line, column, end_column in code.co_positions():
        if line is None or end_line is None or column is None or end_column is None:
            continue
        if (line, column) == (end_line, end_column):
            continue  # The entry of the function, which stands nowhere.
        start = (line, column) if start is None else min(start, (line, column))
        end = (end_line, end_column) if end is None else max(end, (end_line, end_column))
    return None if start is None or end is None else (start, end)


def _begin(node: ast.expr) -> Place:
    return node.lineno, node.col_offset


def _parse(lines: list[str], start: Place, end: Place) -> ast.Lambda | None:
    """Parses the text from one place to another, or to brackets that close after it."""
    line, column = end
    for _ in range(_MAX_BRACKETS):
        try:
            statement = ast.parse(_cut(lines, start, (line, column))).body[0]
        except SyntaxError:
            pass
        else:
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Lambda) and _begin(value) == start:
                return value
        bracket = None
        while bracket is None:
            if line > len(lines):
                return None
            bracket = _CLOSING.search(lines[line - 1].encode(), column)
            if bracket is None:
                line, column = line + 1, 0
        column = bracket.end()
    return None


def _cut(lines: list[str], start: Place, end: Place) -> str:
    """Returns a program in which the text stands alone, in brackets, at its place in the file."""
    (first, column), (last, end_column) = start, end
    chosen = [line.encode() for line in lines[first - 1 : last]]
    chosen[-1] = chosen[-1][:end_column]
    chosen[0] = chosen[0][column:]
    text = b"".join(chosen).decode()
    if column:
        return "\n" * (first - 1) + "(" + " " * (column - 1) + text + "\n)"
    return "\n" * (first - 2) + "(\n" + text + "\n)" if first > 1 else text


def _count(arguments: ast.arguments) -> tuple[int, int]:
    return len(arguments.posonlyargs) + len(arguments.args), len(arguments.kwonlyargs)


def _counted(code: types.CodeType) -> tuple[int, int]:
    return code.co_argcount, code.co_kwonlyargcount
