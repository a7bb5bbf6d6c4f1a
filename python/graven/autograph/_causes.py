"""What texts of errors say of their cause when they leave a function that is traced.

Of a symbolic tensor that is asked for its truth or its elements the engine says what it can know:
that the place is not converted. By the traceback and the source, which are looked at when the error
leaves converted code, the place says more.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import linecache
import sys
from collections.abc import Iterator
from types import CodeType, FrameType, TracebackType
from typing import Any

from graven import errors
from graven.autograph import _conversion

_UNKNOWN = ", and AutoGraph does not convert this place"
# Part of the texts of errors of functions that are captured by re-execution.
REFUSED = "running it once for each way through its conditions does not work"
_BECAUSE = "runs without conversion, because"
_PAGE = " See docs/errors/symbolic-tensor.md"
_RECURSION = (
    "Functions that call each other are traced inside each other, and so are branches on tensors: "
    "an `elif` lies in the `else` of what stands before it. See docs/errors/recursion.md"
)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_WRITE = {
    any: "tf.reduce_any, or `x or y`",
    all: "tf.reduce_all, or `x and y`",
    bool: "an `if`, or tf.cast(x, tf.bool)",
    enumerate: "`for i in tf.range(len(x)):`, and x[i] in the loop",
    filter: "tf.boolean_mask",
    map: "tf.map_fn",
    max: "tf.maximum, or tf.reduce_max",
    min: "tf.minimum, or tf.reduce_min",
    reversed: "tf.reverse",
    sorted: "tf.sort(tf.stack(...))",
    sum: "tf.reduce_sum",
    zip: "`for i in tf.range(len(x)):`, and x[i] and y[i] in the loop",
}


def told(error: Exception, traceback: TracebackType | None) -> str:
    """Returns the text of an exception that leaves converted code.

    Args:
      error: Any exception. If it is about a symbolic tensor, and the cause is found, it is told; if
        Python's limit of recursion is reached, what takes that many calls.
      traceback: Where it went through.
    """
    text = str(error)
    if type(error) is RecursionError and text.startswith("maximum recursion depth exceeded"):
        return f"{text}. {_RECURSION}"
    head, mark, _ = text.partition(_UNKNOWN)
    if type(error) is not errors.OperatorNotAllowedInGraphError or not mark:
        return text
    cause = _cause(traceback)
    return text if cause is None else f"{head}. {cause}.{_PAGE}"


def tell_why_unconverted(error: Exception, function: str, why: str) -> None:
    """Adds to an error about a symbolic tensor why the function that raised it was not converted.

    Args:
      error: The error, where it leaves the function. If its text says nothing of conversion, or
        says why already, or converted code that the function calls has raised it, nothing is added.
      function: The name of the function.
      why: Why.
    """
    text = str(error)
    head, mark, _ = text.removesuffix(_PAGE).partition(_UNKNOWN)
    is_about_that = (mark or REFUSED in text) and _BECAUSE not in text
    if is_about_that and not _is_of_converted(error.__traceback__):
        end = "." if mark else ""
        error.args = (f"{head}{end} {function} {_BECAUSE} {why}.{_PAGE}",)


def _is_of_converted(traceback: TracebackType | None) -> bool:
    while traceback is not None:
        if _conversion.converted_frame(traceback.tb_frame.f_code) is not None:
            return True
        traceback = traceback.tb_next
    return False


def _cause(traceback: TracebackType | None) -> str | None:
    entries: list[tuple[FrameType, int]] = []
    while traceback is not None:
        entries.append((traceback.tb_frame, traceback.tb_lasti))
        traceback = traceback.tb_next
    of_engine: list[FrameType] = []
    for frame, instruction in reversed(entries):
        if _conversion.converted_frame(frame.f_code) is not None:
            return _of_converted(frame.f_code, instruction, of_engine)
        if not _is_ours(frame):
            return _of_unconverted(frame)
        of_engine.append(frame)
    return None


def _is_ours(frame: FrameType) -> bool:
    module = frame.f_globals.get("__name__")
    return isinstance(module, str) and module.partition(".")[0] == "graven"


def _of_unconverted(frame: FrameType) -> str:
    name = frame.f_code.co_name
    if frame.f_code.co_flags & inspect.CO_GENERATOR:
        return f"AutoGraph does not convert generators, such as {name}"
    return (
        f"AutoGraph does not convert {name}: it is code of a library, or has autograph=False or "
        "do_not_convert, or is called by such a function"
    )


def _of_converted(code: CodeType, instruction: int, inner: list[FrameType]) -> str | None:
    if inner:
        return _of_call(inner)
    if code.co_flags & inspect.CO_GENERATOR and code.co_name != "<genexpr>":
        return f"AutoGraph does not convert generators, such as {code.co_name}"
    path = _path(code, instruction)
    for parent, node in zip(path[-2::-1], path[:0:-1], strict=True):
        cause = _of_node(node, parent)
        if cause is not None:
            return cause
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            break
    return None


def _of_call(inner: list[FrameType]) -> str | None:
    """The cause in what converted code has called; its frames, the innermost first."""
    calls = sys.modules["graven.autograph._operators.calls"]
    for frame in inner:
        if frame.f_code is calls._call_builtin.__code__:
            return _of_builtin(**{name: frame.f_locals[name] for name in ("f", "args", "kwargs")})
    is_operator = inner[0].f_globals["__name__"].startswith("graven.autograph.")
    if is_operator and inner[0].f_code is not calls.converted_call.__code__:
        return None
    return "What this line calls takes a Python value where it gets a tensor"


def _asking_for(feature: str) -> str:
    return (
        f"tf.function(experimental_autograph_options=tf.autograph.experimental.Feature.{feature})"
    )


def _of_builtin(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> str:
    from graven.autograph._operators import reducing_builtins

    cause = f"Python's `{f.__name__}` runs while the function is traced"
    write = f"Write {_WRITE.get(f, 'tf.unstack(x)')}"
    if kwargs or not reducing_builtins.takes(f, args):
        return f"{cause}. {write}"
    feature = _asking_for("BUILTIN_FUNCTIONS")
    return f"{cause}. {write}, or make `{f.__name__}` take tensors: {feature}"


def _of_node(node: ast.AST, parent: ast.AST) -> str | None:
    if isinstance(node, ast.Assert):
        return (
            "An `assert` runs while the function is traced. Write tf.debugging.assert_less(...) or "
            "its kin, or make `assert` take tensors, which are checked when the function runs: "
            f"{_asking_for('ASSERT_STATEMENTS')}"
        )
    if isinstance(node, ast.Compare) and any(isinstance(o, (ast.In, ast.NotIn)) for o in node.ops):
        return (
            "`in` compares while the function is traced. Write tf.reduce_any(tf.equal(x, "
            "tf.stack(...)))"
        )
    if isinstance(node, _COMPREHENSIONS):
        return (
            "A comprehension loops and chooses while the function is traced. Write a `for` loop "
            "with a tf.TensorArray, tf.map_fn, tf.where or tf.boolean_mask; tf.unstack gives a "
            "list of a known number of elements"
        )
    if isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store):
        return _of_unpacking(node, parent)
    if any(isinstance(child, ast.Starred) for child in ast.iter_child_nodes(node)):
        return (
            "A `*` takes the elements of a tensor while the function is traced. Write "
            "*tf.unstack(x)"
        )
    if isinstance(node, ast.pattern):
        return "`match` compares while the function is traced. Write `if` and `elif`"
    return None


def _of_unpacking(target: ast.Tuple | ast.List, parent: ast.AST) -> str:
    names = ast.unparse(target).strip("()[]")
    count = "" if "*" in names else f", num={len(target.elts)}"
    cause = f"`{names}` takes a tensor apart while the function is traced"
    if isinstance(parent, (ast.For, ast.comprehension)) and parent.target is target:
        iterated = ast.unparse(parent.iter)
        return (
            f"{cause}. Write `for row in {iterated}:`, and `{names} = tf.unstack(row{count})` in "
            "the loop"
        )
    if isinstance(parent, ast.Assign):
        return f"{cause}. Write `{names} = tf.unstack({ast.unparse(parent.value)}{count})`"
    return f"{cause}. Write `{names} = tf.unstack(x{count})`"


# --- The source


def _path(code: CodeType, instruction: int) -> list[ast.AST]:
    """The nodes of the source that an instruction lies in, the outermost first."""
    place = next(itertools.islice(code.co_positions(), instruction // 2, None), (None,) * 4)
    line, end_line, column, end_column = place
    if line is None or end_line is None or column is None or end_column is None:
        return []
    try:
        node: ast.AST | None = ast.parse("".join(linecache.getlines(code.co_filename)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # or it has changed since
        return []
    path: list[ast.AST] = []
    while node is not None:
        path.append(node)
        around = (
            child
            for child in _children(node)
            if (child.lineno, child.col_offset) <= (line, column)
            and (end_line, end_column) <= (child.end_lineno, child.end_col_offset)
        )
        node = next(around, None)
    return path


def _children(node: ast.AST) -> Iterator[Any]:
    """The nearest nodes within one that have places."""
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _children(child)
