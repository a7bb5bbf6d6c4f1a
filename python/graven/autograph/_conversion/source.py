"""Finds the source of a function and parses it, with the lines and columns of its file.

The lines of a function begin at `co_firstlineno`. They end before the first line after its last
code that stands no deeper than its `def`. Only these lines are parsed: newlines before them give
the lines their numbers, and an `if 1:` above indented ones keeps the columns. Where this guess
fails (a string with lines that begin at the margin, after the last code) the file is parsed as a
whole.
"""

import ast
import linecache
import types
from collections.abc import Sequence
from typing import NoReturn

from graven.autograph._conversion.conversion_error import ConversionError
from graven.autograph._conversion.lambda_source import find_lambda, lambdas_at
from graven.autograph._conversion.matching import Compile, Function, is_source_of, last_line

Definition = ast.FunctionDef | ast.AsyncFunctionDef


def parse_function(
    function: types.FunctionType, lines: list[str], compiled: Compile
) -> ast.FunctionDef | ast.Lambda:
    """Returns the syntax tree of a function, a new one at each call.

    Args:
      function: The function.
      lines: Those of its file.
      compiled: Compiles a tree in the place of the function, to compare the code.

    Raises:
      ConversionError: The source is missing or is not that of the function, or it is a generator or
        a coroutine.
    """
    code = function.__code__
    if code.co_flags & _CO_SUSPENDS:
        generator = code.co_flags & (_CO_GENERATOR | _CO_ASYNC_GENERATOR)
        kind = "generators" if generator else "coroutines"
        raise ConversionError(f"{kind} are not supported")
    node: ast.AST | None
    candidates: Sequence[ast.AST | None]
    if code.co_name == "<lambda>":
        node = find_lambda(code, lines)
        candidates = [node] if node is not None else lambdas_at(code.co_firstlineno, lines)
    else:
        node = _parse_block(code, lines) or _find_in_file(code, lines)
        candidates = [node]
    for node in candidates:
        if isinstance(node, Function) and is_source_of(node, code, compiled):
            return node
    _raise_mismatch(code)


def lines_of(function: types.FunctionType) -> list[str]:
    """Returns the lines of the file of a function.

    Raises:
      ConversionError: They are not available.
    """
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if code.co_firstlineno > len(lines):
        raise ConversionError(
            f"the source code of {code.co_name} in {code.co_filename} is not available"
        )
    return lines


_CO_GENERATOR = 0x20
_CO_ASYNC_GENERATOR = 0x200
_CO_SUSPENDS = _CO_GENERATOR | 0x80 | 0x100 | _CO_ASYNC_GENERATOR


def _raise_mismatch(code: types.CodeType) -> NoReturn:
    raise ConversionError(
        f"the source code at line {code.co_firstlineno} of {code.co_filename} is not that of "
        f"{code.co_name}, or not any more: was the file changed after it was loaded?"
    )


def _parse_block(code: types.CodeType, lines: list[str]) -> Definition | None:
    first = code.co_firstlineno
    head = lines[first - 1]
    margin = len(head) - len(head.lstrip())
    end = max(last_line(code), first)
    while end < len(lines) and _belongs(lines[end], margin):
        end += 1
    text = "".join(lines[first - 1 : end])
    before = "\n" * (first - 2) + "if 1:\n" if margin else "\n" * (first - 1)
    try:
        statement = ast.parse(before + text).body[0]
    except (SyntaxError, IndexError):
        return None
    if margin and isinstance(statement, ast.If):
        statement = statement.body[0]
    return statement if _is_definition(statement, code) else None  # type: ignore[return-value]


def _belongs(line: str, margin: int) -> bool:
    """Whether a line after the last code of a function may be part of it."""
    text = line.lstrip()
    return not text or text[0] == "#" or len(line) - len(text) > margin


def _find_in_file(code: types.CodeType, lines: list[str]) -> Definition | None:
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if _is_definition(node, code):
            assert isinstance(node, Definition)
            return node
    return None


def _is_definition(node: ast.AST, code: types.CodeType) -> bool:
    """Whether a node is a `def` at the line of a code object, which may have got another name."""
    if not isinstance(node, Definition):
        return False
    first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
    return first == code.co_firstlineno
