"""Turns a function into its converted form, or into the text of that form.

The converted `def` is compiled inside of another one, whose parameters are `ag__` and the free
names of the original. That one is never called: a function is made of the inner code, the globals
and the very cells of the original, and one cell more for `ag__`.
"""

import __future__

import ast
import builtins
import functools
import types
import weakref
from collections.abc import Callable, Collection, Hashable, Iterable
from typing import Any, Protocol

from graven.autograph._conversion.conversion_error import ConversionError
from graven.autograph._conversion.frames import rename
from graven.autograph._conversion.functions import (
    convert_lambda,
    convert_outermost,
    drop_defaults,
)
from graven.autograph._conversion.names import Names, names_of
from graven.autograph._conversion.nodes import LOAD, call, constant, put, returning, sequence
from graven.autograph._conversion.scope import Unit
from graven.autograph._conversion.source import lines_of, parse_function

_FEATURES = ("ASSERT_STATEMENTS", "BUILTIN_FUNCTIONS", "EQUALITY_OPERATORS", "LISTS")
_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag


class Feature(Protocol):
    """An optional feature of the conversion: a member of an enumeration."""

    @property
    def name(self) -> str:
        """The name of the member."""


class Options(Hashable, Protocol):
    """How a function is converted."""

    @property
    def recursive(self) -> bool:
        """Whether callees are converted too."""

    @property
    def user_requested(self) -> bool:
        """Whether the user asked for the conversion of this function itself."""

    @property
    def internal_convert_user_code(self) -> bool:
        """Whether code of users is converted."""

    @property
    def optional_features(self) -> Collection[Feature]:
        """The optional features that are on."""


class _Compiled:
    """The converted code of a function, and the name of `ag__` in it."""

    __slots__ = ("code", "operators")

    def __init__(self, code: types.CodeType, operators: str) -> None:
        self.code = code
        self.operators = operators


# By the identity of a code object, as equal ones may be of different files. An entry goes with its
# code.
_CACHE: dict[int, tuple[weakref.ref[types.CodeType], dict[tuple[Options, bool], _Compiled]]] = {}


def _forget(cache: dict[int, Any], key: int, _: object) -> None:
    """Drops what was compiled of code that is gone; the cache's name is gone when Python ends."""
    cache.pop(key, None)


def convert(
    function: types.FunctionType,
    options: Options,
    operators: object,
    stages_objects: bool = False,
) -> Callable[..., Any]:
    """Returns the converted form of a function, marked by `operators.autograph_artifact`.

    It shares the globals and the cells of the function, and has its defaults, names, annotations
    and attributes. Code is converted once for each code object and options; several threads may
    call.

    Args:
      function: A Python function; methods, partials and wrappers are for the caller to unwrap.
      options: How it is converted.
      operators: What converted code knows as `ag__`; the package's docstring says what it offers.
      stages_objects: Whether lists and None may become values of the graph: then methods that
        change a list count as assignments, and comparisons with None are operators.

    Raises:
      ConversionError: The function has no source, or code that cannot be converted.
    """
    original = function.__code__
    known = _CACHE.get(id(original))
    if known is None:
        key = id(original)
        known = (weakref.ref(original, functools.partial(_forget, _CACHE, key)), {})
        known = _CACHE.setdefault(key, known)
    compiled = known[1].get((options, stages_objects))
    if compiled is None:
        compiled = _compile(function, options, stages_objects)
        known[1][options, stages_objects] = compiled
    return _instantiate(function, compiled, operators)


def is_converted(
    function: types.FunctionType, options: Options, stages_objects: bool = False
) -> bool:
    """Tells whether the code of a function has been converted with some options."""
    known = _CACHE.get(id(function.__code__))
    return known is not None and (options, stages_objects) in known[1]


def _instantiate(
    function: types.FunctionType, compiled: _Compiled, operators: Any
) -> Callable[..., Any]:
    code = compiled.code
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[compiled.operators] = types.CellType(operators)
    closure = tuple(cells[name] for name in code.co_freevars)
    found = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    found.__kwdefaults__ = function.__kwdefaults__
    found.__annotations__ = function.__annotations__
    found.__doc__ = function.__doc__
    found.__qualname__ = function.__qualname__
    found.__module__ = function.__module__
    found.__dict__.update(function.__dict__)
    marked: Callable[..., Any] = operators.autograph_artifact(found)
    return marked


def to_code_text(function: types.FunctionType, options: Options) -> str:
    """Returns the source text of the converted form of a function.

    Raises:
      ConversionError: The function has no source, or code that cannot be converted.
    """
    try:
        tree, _ = _convert_tree(function, options, None, False)
        return ast.unparse(tree) + "\n"
    except RecursionError as error:
        raise _too_deep(function) from error


def _too_deep(function: types.FunctionType) -> ConversionError:
    return ConversionError(f"the statements of {function.__qualname__} are nested too deeply")


def _compile(function: types.FunctionType, options: Options, stages_objects: bool) -> _Compiled:
    original = function.__code__
    try:
        converted = _convert_tree(function, options, "ag__thunk", stages_objects)
        return _compile_tree(original, *converted)
    except RecursionError as error:
        raise _too_deep(function) from error


def _compile_tree(original: types.CodeType, tree: ast.stmt, unit: Unit) -> _Compiled:
    if isinstance(tree, ast.Assign):
        tree = returning(tree.value, tree.value)
    try:
        code = _compile_inside(tree, [unit.operators, *original.co_freevars], original)
    except (SyntaxError, ValueError) as error:
        raise ConversionError(f"the converted code is not valid: {error}") from error
    made = frozenset(unit.names.made)
    renamed = rename(code, original, unit.helpers, unit.state_functions, made)
    return _Compiled(renamed, unit.operators)


def _compile_inside(
    tree: ast.stmt, names: list[str], original: types.CodeType, imported: Iterable[str] = ()
) -> types.CodeType:
    """Returns the code of a function among some names, in the class of the original."""
    module = _around(tree, names, _private_prefix(original))
    module.body[:0] = [
        put(ast.Import([put(ast.alias(name, None), tree)]), tree) for name in imported
    ]
    flags = original.co_flags & _FUTURES
    return _innermost(compile(module, original.co_filename, "exec", flags, True))


def _compile_as_it_is(
    function: types.FunctionType, node: ast.FunctionDef | ast.Lambda
) -> types.CodeType:
    """Returns the code of a tree in the place of a function."""
    original = function.__code__
    drop_defaults(node.args)
    if isinstance(node, ast.Lambda):
        tree: ast.stmt = returning(node, node)
    else:
        # Where decorators begin, the function does; what they are is code of the outside.
        decorators: list[ast.expr] = [constant(None, first) for first in node.decorator_list[:1]]
        tree = ast.FunctionDef(node.name, node.args, node.body, decorators, None)
        tree.__dict__["type_params"] = []
        put(tree, node)
    return _compile_inside(tree, list(original.co_freevars), original, _imported(function))


def _imported(function: types.FunctionType) -> list[str]:
    """Returns the names that the module of a function seems to import.

    The compiler makes other code of a call of an attribute of such a name.
    """
    found = []
    for name in names_of(function.__code__):
        value = function.__globals__.get(name)
        if isinstance(value, types.ModuleType) or (
            isinstance(value, type | types.FunctionType)
            and value.__module__ != function.__globals__.get("__name__")
        ):
            found.append(name)
    return found


def _convert_tree(
    function: types.FunctionType, options: Options, marker: str | None, stages_objects: bool
) -> tuple[ast.stmt, Unit]:
    code = function.__code__
    lines = lines_of(function)
    node = parse_function(function, lines, functools.partial(_compile_as_it_is, function))
    text = "".join(lines[node.lineno - 1 : node.end_lineno])
    names = Names(names_of(code))
    is_lambda = isinstance(node, ast.Lambda)
    name = names.new("tf__lam" if is_lambda else f"tf__{node.name}")  # type: ignore[union-attr]
    asked = {feature.name for feature in options.optional_features}
    features = frozenset(_FEATURES) if "ALL" in asked else frozenset(asked)
    marker = marker if marker is None else names.new(marker)
    unit = Unit(names, features, _bound_names(code), _resolver(function), text, marker)
    unit.stages_objects = stages_objects
    unit.inner_options = functools.partial(_inner_options_node, options)
    given = _options_node(unit, options, node)
    if isinstance(node, ast.Lambda):
        value = convert_lambda(unit, node, given)
        target = put(ast.Name(name, ast.Store()), node)
        return put(ast.Assign([target], value), node), unit
    return convert_outermost(unit, node, name, given), unit


def _options_node(unit: Unit, options: Options, at: ast.AST) -> ast.expr:
    """Returns what makes the options again."""
    features = [
        put(ast.Attribute(unit.operator("Feature", at), feature.name, LOAD), at)
        for feature in options.optional_features
    ]
    values: dict[str, ast.expr] = {
        "recursive": constant(options.recursive, at),
        "user_requested": constant(options.user_requested, at),
        "optional_features": sequence([*features], at),
        "internal_convert_user_code": constant(options.internal_convert_user_code, at),
    }
    keywords = [put(ast.keyword(name, value), at) for name, value in values.items()]
    return call(unit.operator("ConversionOptions", at), [], at, keywords)


class _OfInner:
    """The options of the functions inside of one: what it calls has the same."""

    def __init__(self, outer: Options) -> None:
        self.recursive = outer.recursive
        self.user_requested = False
        self.optional_features = outer.optional_features
        self.internal_convert_user_code = outer.recursive


def _inner_options_node(options: Options, unit: Unit, at: ast.AST) -> ast.expr:
    if options.recursive and not options.optional_features:
        return unit.operator("STD", at)
    return _options_node(unit, _OfInner(options), at)


def _bound_names(code: types.CodeType) -> frozenset[str]:
    """Returns the names that are local or free, private ones also as the class writes them."""
    found = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    for name in tuple(found):
        if name[0] == "_" and "__" in name[1:]:
            found.add(name[name.index("__", 1) :])
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            found |= _bound_names(value)
    return frozenset(found)


def _resolver(function: types.FunctionType) -> Callable[[str], object]:
    """Returns what finds the value that a free or global name has at the conversion, or None."""
    code = function.__code__

    def resolve(name: str) -> object:
        if name in code.co_freevars:
            assert function.__closure__ is not None
            try:
                return function.__closure__[code.co_freevars.index(name)].cell_contents
            except ValueError:  # It has no value yet.
                return None
        if name in code.co_varnames or name in code.co_cellvars:
            return None
        if name in function.__globals__:
            return function.__globals__[name]
        return getattr(builtins, name, None)

    return resolve


def _private_prefix(code: types.CodeType) -> str | None:
    """Returns the name of the class whose private names the function's code means.

    That is the innermost class around its `def`: `A` in `A.f`, in `A.f.<locals>.g` and in
    `A.<listcomp>.<lambda>`.
    """
    if not any("__" in name[2:] and name[0] == "_" for name in names_of(code)):
        return None
    parts = code.co_qualname.split(".")[:-1]
    while parts and parts[-1].startswith("<"):
        parts = parts[:-2] if parts[-1] == "<locals>" else parts[:-1]
    return parts[-1] if parts else None


def _around(statement: ast.stmt, names: list[str], class_name: str | None) -> ast.Module:
    """Returns a module with a function with parameters, in which the statement stands."""
    parameters = ast.arguments(
        [], [put(ast.arg(name, None), statement) for name in names], None, [], [], None, []
    )
    around: ast.stmt = ast.FunctionDef("ag__factory", parameters, [statement], [], None)
    around.__dict__["type_params"] = []
    put(around, statement)
    if class_name is not None:
        around = ast.ClassDef(class_name, [], [], [around], [])
        around.__dict__["type_params"] = []
        put(around, statement)
    return ast.Module([around], [])


def _innermost(compiled: types.CodeType) -> types.CodeType:
    """Returns the code of the function in the factory, in a class or not."""
    code = compiled
    while code.co_name != "ag__factory":
        code = next(value for value in code.co_consts if isinstance(value, types.CodeType))
    return next(value for value in code.co_consts if isinstance(value, types.CodeType))
