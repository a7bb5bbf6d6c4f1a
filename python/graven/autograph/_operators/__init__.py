"""The operators that converted code calls; the module is its `ag__`.

Names are TensorFlow's, so that printed code reads the same. `graven.autograph._conversion` says
with which arguments converted code calls them.
"""

from graven.autograph._operators.assertions import assert_stmt as assert_stmt
from graven.autograph._operators.branches import if_exp as if_exp
from graven.autograph._operators.branches import if_stmt as if_stmt
from graven.autograph._operators.calls import autograph_artifact as autograph_artifact
from graven.autograph._operators.calls import call_with_lists as call_with_lists
from graven.autograph._operators.calls import convert_callable as convert_callable
from graven.autograph._operators.calls import converted_call as converted_call
from graven.autograph._operators.for_loops import for_stmt as for_stmt
from graven.autograph._operators.lists import get_item as get_item
from graven.autograph._operators.lists import list_append as list_append
from graven.autograph._operators.lists import list_pop as list_pop
from graven.autograph._operators.lists import new_list as new_list
from graven.autograph._operators.lists import set_item as set_item
from graven.autograph._operators.logical import and_ as and_
from graven.autograph._operators.logical import eq as eq
from graven.autograph._operators.logical import not_ as not_
from graven.autograph._operators.logical import not_eq as not_eq
from graven.autograph._operators.logical import or_ as or_
from graven.autograph._operators.loops import while_stmt as while_stmt
from graven.autograph._operators.scopes import STD as STD
from graven.autograph._operators.scopes import FunctionScope as FunctionScope
from graven.autograph._operators.scopes import with_function_scope as with_function_scope
from graven.autograph._operators.staged_optional import is_none as is_none
from graven.autograph._operators.variables import Undefined as Undefined
from graven.autograph._operators.variables import UndefinedReturnValue as UndefinedReturnValue
from graven.autograph._operators.variables import ld as ld
from graven.autograph._operators.variables import ldu as ldu
from graven.autograph._options import ConversionOptions as ConversionOptions
from graven.autograph._options import Feature as Feature
