"""Converts Python functions so that their control flow can be staged: `ast` in, `ast` out.

A converted function calls the operators of the object `ag__`, which the caller of `convert` passes.
This package imports nothing of the engine and nothing of the operators. What it emits:

Scopes of functions (`fscope`, `fscope_1`, ... are names of the converted code):

    with ag__.FunctionScope('f', 'fscope', <options>) as fscope:   # around the body of a def
        return fscope.ret(retval_, do_return)
    lambda x: ag__.with_function_scope(lambda lscope: <value>, 'lscope', <options>)
    @ag__.autograph_artifact                     # on an inner def; returns its argument
    ag__.autograph_artifact(lambda x: <value>)   # an inner lambda

`<options>` is `ag__.ConversionOptions(recursive=, user_requested=,
optional_features=(ag__.Feature.X,), internal_convert_user_code=)`; in functions inside of the
outermost one those of what it calls, as `ag__.STD` if they are recursive and without features.

Control flow. Bodies take no arguments and return nothing (`orelse` may be None), state is read and
written by the two functions. They are None where all symbols are names of which the bodies have
cells of their own: what needs the state finds it there. `symbol_names` is a tuple of str,
composites as their source (`"d['k']"`):

    ag__.if_stmt(cond, body, orelse, get_state, set_state, symbol_names, nouts[, ncaptured])
    ag__.while_stmt(test, body, get_state, set_state, symbol_names, opts[, ncaptured])
    ag__.for_stmt(iter_, extra_test, body, get_state, set_state, symbol_names, opts[, ncaptured])

`test()` and `extra_test()` give a value that may be a tensor; `extra_test` is None in a loop that
nothing leaves early. The body of `for` is called with the element, `body(itr)`. `opts` is a dict:
the keyword arguments of `set_loop_options` (positional ones by the names of its parameters), and
for `for` `'iterate_names'`, the source of its target; where there are such names `'rarely_read'`,
those without a value before the loop that are read after it only where a later `for` over them is
empty. Where the condition is no tensor an operator only calls the bodies: it must not call
`get_state` or `set_state`, and values flow by `nonlocal`. Of the symbols of an `if` the first
`nouts` are live after it; the others have the value they had before it. The next `ncaptured` are
not live, but a lambda from before the `if` may read them: they are outputs where the branches
agree, and keep the value from before where not. The last `ncaptured` symbols of a loop are such,
too. The names of a return inside of the statement are `do_return` and `retval_` (perhaps with `_1`,
...).

Expressions (operands of `and_`, `or_`, `if_exp`, `ldu` and messages are functions without
arguments):

    ag__.if_exp(cond, if_true, if_false, '<source of cond>')
    ag__.and_(left, right)   ag__.or_(left, right)   ag__.not_(value)
    ag__.eq(left, right)     ag__.not_eq(left, right)                        # EQUALITY_OPERATORS
    ag__.converted_call(f, args, kwargs, fscope)      # a tuple; a dict or None
    ag__.assert_stmt(test, message)                   # ASSERT_STATEMENTS; lambda: None without one
    ag__.new_list(iterable)   l = ag__.list_append(l, x)   l, x = ag__.list_pop(l, index_or_None)
    x = ag__.set_item(x, i, value)   ag__.get_item(x, i)                     # LISTS

Where lists and None may be values of the graph (`stages_objects`), a call of a method that changes
the list of a local name, such as `l.append(x)`, counts as an assignment of the name, and

    ag__.call_with_lists(f, args, kwargs, fscope)     # in the place of converted_call
    ag__.is_none(x)                                   # x is None

Names: `ag__.ld(x)` reads one, and raises UnboundLocalError for an `ag__.Undefined('x')`. One that
surely has a value is read as it is.
`ag__.ldu(lambda: d['k'], "d['k']")` reads without raising: an `Undefined` of that name instead
where the thunk raises AttributeError, KeyError, IndexError, TypeError or NameError (so also
UnboundLocalError). `ag__.UndefinedReturnValue()` is the first value of `retval_`.

Not converted: generators and coroutines. An outermost one is a ConversionError, an inner one stays
as it is. So do classes; their methods are converted when converted code calls them.

A directive is a call of a function whose `__name__` is `set_loop_options` and whose `__module__`
lies in `graven.autograph`. It is found by the globals and cells of the function at its conversion.

Frames: converted code carries the file and the lines of the user, and the helpers (`if_body`, ...,
lambdas of operands) carry the `co_name` of the user's function, so plain tracebacks read well.
`converted_frame(code)` tells converted code from other code, and helpers from the functions
themselves: consecutive frames of one function differ by their helpers only, and the last has the
line.
"""

from graven.autograph._conversion.conversion_error import ConversionError
from graven.autograph._conversion.convert import Options, convert, is_converted, to_code_text
from graven.autograph._conversion.frames import ConvertedFrame, converted_frame

__all__ = [
    "ConversionError",
    "ConvertedFrame",
    "Options",
    "convert",
    "converted_frame",
    "is_converted",
    "to_code_text",
]
