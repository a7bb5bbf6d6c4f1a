"""Tells whether source is that of a code object: a file may have changed after it was loaded.

What was found is compiled, and must become the same code. Some code was made of a tree that a tool
had changed before it was compiled, as pytest changes `assert`, or was changed itself, as debuggers
do. These add to what the user wrote. So code that differs is still taken if it has the parameters,
all names, constants and operations of the source, those of `assert` apart, and no line outside.
"""

import ast
import copy
import opcode
import types
from collections import Counter
from collections.abc import Callable

from graven.autograph._conversion.names import names_of
from graven.autograph._conversion.nodes import put

Function = ast.FunctionDef | ast.Lambda
Compile = Callable[[Function], types.CodeType]

_CO_OPTIMIZED = 0x1  # Of functions; bodies of classes are not.
_CO_VARARGS = 0x4
_CO_VARKEYWORDS = 0x8

# What instructions do whose argument says no name, constant or place in the code.
_OPERATIONS = frozenset(
    opcode.opmap[name]
    for name in (
        "BINARY_OP",
        "COMPARE_OP",
        "CONTAINS_OP",
        "IS_OP",
        "BINARY_SUBSCR",
        "STORE_SUBSCR",
        "UNARY_INVERT",
        "UNARY_NEGATIVE",
        "UNARY_NOT",
        "GET_ITER",
        "RAISE_VARARGS",
    )
    if name in opcode.opmap
)


def is_source_of(node: Function, code: types.CodeType, compiled: Compile) -> bool:
    """Whether a syntax tree is that of a code object.

    Args:
      node: The tree.
      code: The code object.
      compiled: Compiles a tree in the place of the function: with its free names and its class.
    """
    try:
        found = compiled(node)
        if _is_same(found, code):
            return True
        assert node.end_lineno is not None
        if last_line(code) > node.end_lineno:
            return False
        if _may_have_become(found, code):
            return True
        return _may_have_become(compiled(_WithoutAsserts().visit(copy.deepcopy(node))), code)
    except (SyntaxError, ValueError):  # such as `nonlocal` of a name that is none of the function's
        return False


def last_line(code: types.CodeType) -> int:
    """Returns the last line that has code, of functions inside too."""
    last = max((line for _, _, line in code.co_lines() if line is not None), default=0)
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            last = max(last, last_line(value))
    return last


def _is_same(one: types.CodeType, other: types.CodeType) -> bool:
    mine, others = _constants(one), _constants(other)
    return (
        one.co_code == other.co_code
        and one.co_names == other.co_names
        and one.co_varnames == other.co_varnames
        and one.co_cellvars == other.co_cellvars
        and one.co_freevars == other.co_freevars
        and _parameters(one) == _parameters(other)
        and len(mine) == len(others)
        and all(map(_is_same_constant, mine, others))
    )


def _parameters(code: types.CodeType) -> tuple[int, int, int, int]:
    """Returns how many there are of each kind."""
    extra = code.co_flags & (_CO_VARARGS | _CO_VARKEYWORDS)
    return code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, extra


def _constants(code: types.CodeType) -> list[object]:
    """Returns the constants. That of a class has its qualified name, which says where it stands."""
    if code.co_flags & _CO_OPTIMIZED:
        return list(code.co_consts)
    return [value for value in code.co_consts if value != code.co_qualname]


def _is_same_constant(one: object, other: object) -> bool:
    if isinstance(one, types.CodeType) and isinstance(other, types.CodeType):
        return one.co_name == other.co_name and _is_same(one, other)
    return _key(one) == _key(other)


def _key(value: object) -> object:
    """Returns what tells constants apart: 1, 1.0 and True are equal, but not the same."""
    if isinstance(value, tuple):
        return tuple(map(_key, value))
    if isinstance(value, frozenset):
        return frozenset(map(_key, value))
    return type(value), repr(value)


def _may_have_become(found: types.CodeType, code: types.CodeType) -> bool:
    """Whether code can be other code to which something was added."""
    return (
        _parameters(found) == _parameters(code)
        and names_of(found) - {found.co_name} <= names_of(code)
        and _parts(found) <= _parts(code)
    )


def _parts(code: types.CodeType) -> Counter[object]:
    """Counts the constants and operations, of functions inside too."""
    found: Counter[object] = Counter()
    for value in _constants(code):
        if isinstance(value, types.CodeType):
            found += _parts(value)
        else:
            found[_key(value)] = 1
    steps = Counter(zip(code.co_code[::2], code.co_code[1::2], strict=True))
    found.update({step: count for step, count in steps.items() if step[0] in _OPERATIONS})
    return found


class _WithoutAsserts(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> ast.Pass:
        return put(ast.Pass(), node)
