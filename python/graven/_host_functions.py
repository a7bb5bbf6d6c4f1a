"""tf.py_function and tf.numpy_function: functions of the program that graphs call when they run."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

from graven import _engine, _nest
from graven._dtypes import as_dtype
from graven._type_spec import CompositeTensor, TypeSpec
from graven._types import Name
from graven.autograph._status import Status, StatusScope

Spec = Any  # a dtype or a TypeSpec


def py_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,  # noqa: N803
    name: Name = None,
) -> Any:
    """Runs a Python function on eager tensors, whenever the program comes here.

    In a traced function it becomes a node, which calls the Python function each time that the graph
    runs, in the order of the program. What it reads is as it is at that time, so it needs no
    retrace; but no other thread runs Python meanwhile, nothing is fused with it, and it cannot be
    saved. Where ops of TensorFlow's do, these are faster.

    Gradients flow through what the function computes of `inp` by ops, to any order; not to
    variables or tensors that it takes from elsewhere.

    Args:
      func: A function of as many tensors as `inp` has; nested in a traced function it is not
        converted by AutoGraph, as its tensors have values. None makes a decorator.
      inp: A list of tensors, of what becomes one, and of composite tensors.
      Tout: The dtype of its result, or a TypeSpec, or a list of those, empty for none. Results are
        converted to it. Their shapes are unknown where it is traced: `set_shape` or
        `tf.ensure_shape` say more.
      name: A name for the node.

    Returns:
      A tensor or composite tensor of unknown shape, or a list; the Operation, if Tout is empty and
      a function is traced. Without `func` a decorator of functions, which then take `inp`.

    Raises:
      ValueError: `func` cannot be called.
      TypeError: `Tout` is missing, or no dtype; `inp` is given without `func`, or `func` without
        `inp`.
      InvalidArgumentError: When it runs: `func` raises a ValueError or TypeError, or returns
        something else than `Tout` says.
      OutOfRangeError: When it runs: `func` raises StopIteration.
      ResourceExhaustedError: When it runs: `func` raises MemoryError.
      UnimplementedError: When it runs: `func` raises NotImplementedError.
      UnknownError: When it runs: `func` raises another error. The error is always the cause
        (`__cause__`) of the one that is raised.

    Source: tf.py_function, OpDef "EagerPyFunc".
    """
    if func is None:
        return _decorator("tf.py_function", py_function, inp, Tout, {"name": name})
    inp, returns_list, given = _checked("tf.py_function", func, inp, Tout)
    specs = [t.dtype if isinstance(t, _engine.TensorSpec) else t for t in given]
    in_specs = [x._type_spec if isinstance(x, CompositeTensor) else None for x in inp]
    dtypes = [dtype for spec in specs for dtype in _dtypes_of(spec)]
    results = _engine.call_py_function(
        _PyFunction(func, in_specs, specs),
        [tensor for x, spec in zip(inp, in_specs, strict=True) for tensor in _parts(x, spec)],
        dtypes,
        name or "",
    )
    if not specs:
        return results
    tensors = iter(results)
    packed = [_from_tensors(spec, tensors) for spec in specs]
    return packed if returns_list else packed[0]


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,  # noqa: N803
    stateful: bool = True,
    name: Name = None,
) -> Any:
    """Runs a Python function on NumPy arrays, whenever the program comes here.

    In a traced function it becomes a node, as that of `tf.py_function` does, at the same cost. No
    gradient flows through it. Outside of one the function is called at once, and its result
    converted; then `Tout` is not read, and errors pass as they are.

    Args:
      func: A function of as many arrays as `inp` has (in a graph NumPy scalars, or bytes, for
        tensors without dimensions). The arrays are its own. None makes a decorator.
      inp: A list of tensors, and of what becomes one.
      Tout: The dtype of its result, or a list of dtypes, empty for none. Nothing is converted.
      stateful: Whether it must run even if nothing reads its results.
      name: A name for the node.

    Returns:
      A tensor of unknown shape, or a list; the Operation, if Tout is empty and a function is
      traced. Without `func` a decorator of functions, which then take `inp`.

    Raises:
      ValueError: `func` cannot be called.
      TypeError: `Tout` is missing, or no dtype; `inp` is given without `func`, or `func` without
        `inp`.
      InvalidArgumentError: When it runs in a graph: as of `tf.py_function`; the other errors too.

    Source: tf.numpy_function, OpDefs "PyFunc" and "PyFuncStateless".
    """
    if func is None:
        options = {"stateful": stateful, "name": name}
        return _decorator("tf.numpy_function", numpy_function, inp, Tout, options)
    if _engine.executing_eagerly():
        _check_given("tf.numpy_function", inp, Tout)
        return _called_at_once(func, inp)
    inp, returns_list, dtypes = _checked("tf.numpy_function", func, inp, Tout)
    for dtype in dtypes:
        if isinstance(dtype, _engine.TensorSpec | TypeSpec):
            raise TypeError(f"Expected DataType for argument 'Tout' not {dtype}.")
    results = _engine.call_numpy_function(
        _NumpyFunction(func), inp, dtypes, bool(stateful), name or ""
    )
    if not dtypes:
        return results
    return results if returns_list else results[0]


# --- Arguments.


def _decorator(
    path: str, function: Callable[..., Any], inp: Any, results: Any, options: dict[str, Any]
) -> Any:
    if inp is not None:
        raise TypeError(
            f"Don't set the `inp` argument when using {path} as a decorator (`func=None`)."
        )
    _check_given(path, (), results)

    def decorated(f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f)
        def wrapper(*args: Any) -> Any:
            return function(f, args, results, **options)

        return wrapper

    return decorated


def _check_given(path: str, inp: Any, results: Any) -> None:
    if results is None:
        raise TypeError(
            f"Missing required argument: 'Tout'. If using {path} as a decorator, set `Tout` by "
            f"name above the function: `@{path}(Tout=...)`"
        )
    if inp is None:
        raise TypeError(
            f"Missing argument `inp`: the list of arguments to the function, unless {path} is used "
            "as a decorator (`func=None`)."
        )


def _checked(path: str, func: Any, inp: Any, results: Any) -> tuple[list[Any], bool, list[Spec]]:
    """The inputs, whether results come as a list, and their types."""
    _check_given(path, inp, results)
    if not callable(func):
        raise ValueError(
            f"Expected func to be callable. Received func={func!r} of type {type(func)}."
        )
    returns_list = isinstance(results, list | tuple)
    return list(inp), returns_list, [_spec(t) for t in (results if returns_list else [results])]


def _spec(given: Any) -> Spec:
    return given if isinstance(given, _engine.TensorSpec | TypeSpec) else as_dtype(given)


def _dtypes_of(spec: Spec) -> list[Any]:
    return [s.dtype for s in spec.flatten()] if isinstance(spec, TypeSpec) else [spec]


def _parts(value: Any, spec: Any) -> list[Any]:
    return [value] if spec is None else spec.to_tensors(value)


def _from_tensors(spec: Spec, tensors: Iterator[Any]) -> Any:
    return spec.from_tensors(tensors) if isinstance(spec, TypeSpec) else next(tensors)


# --- What a graph calls.


class _PyFunction:
    """The user's function, from a flat list of eager tensors to one."""

    def __init__(
        self, func: Callable[..., Any], in_specs: list[Any], out_specs: list[Spec]
    ) -> None:
        self._func = func
        self._in_specs = in_specs
        self._out_specs = out_specs

    def __call__(self, *tensors: Any) -> list[Any]:
        left = iter(tensors)
        args = [next(left) if s is None else s.from_tensors(left) for s in self._in_specs]
        # A function that was made in converted code is converted itself.
        with StatusScope(Status.DISABLED):
            result = self._func(*args)
        if isinstance(result, list | tuple):  # what is too much is left out
            given = list(result)[: len(self._out_specs)]
        else:
            given = [] if result is None else [result]
        pairs = zip(given, self._out_specs, strict=False)
        flat = [tensor for value, spec in pairs for tensor in self._converted(value, spec)]
        # Too many, if there should be none: the engine says so.
        return flat + [_engine.convert_to_tensor(value) for value in given[len(self._out_specs) :]]

    def _converted(self, value: Any, spec: Spec) -> list[Any]:
        if isinstance(value, _engine.VariableBase):
            raise RuntimeError(
                "Attempting to return a variable from an eagerly executed py_func. Only numeric "
                "data structures like Tensors or NumPy arrays should be returned; to return the "
                "value of a variable, make sure to obtain the Tensor backing it by calling "
                f"`.read_value()` on the variable in question: {value!r}"
            )
        if isinstance(spec, TypeSpec):
            if not spec.is_compatible_with(value):
                raise ValueError(
                    f"py_function: func={self._func!r} returned {value!r}, which is not compatible "
                    f"with {spec!r} of Tout."
                )
            return spec.to_tensors(value)
        if isinstance(value, CompositeTensor):
            raise ValueError(
                f"py_function: func={self._func!r} returned {value!r}, which is not a Tensor, as "
                "Tout says."
            )
        return [_engine.convert_to_tensor(value, dtype=spec)]


class _NumpyFunction:
    """The user's function of arrays, from a list of eager tensors to one."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self._func = func

    def __call__(self, *tensors: Any) -> list[Any]:
        with StatusScope(Status.DISABLED):
            result = self._func(*(tensor.numpy() for tensor in tensors))
        given = result if isinstance(result, list | tuple) else [result]
        return [_engine.convert_to_tensor(_array(value)) for value in given if value is not None]


def _array(value: Any) -> Any:
    import numpy as np

    array = np.asarray(value, order="C")
    # NumPy pads texts with zeros, which bytes may end with themselves.
    return np.asarray(value, order="C", dtype=object) if array.dtype.kind == "S" else array


def _called_at_once(func: Callable[..., Any], inp: Any) -> Any:
    import numpy as np

    result = func(*(np.array(x) for x in inp))
    tensors = [x if x is None else _engine.convert_to_tensor(x) for x in _nest.flatten(result)]
    return tensors[0] if len(tensors) == 1 else tensors


def same_function(a: Any, b: Any) -> bool:
    """Tells whether two functions on nodes of equal graphs have the same code and captures."""
    if type(a) is not type(b):
        return False
    if isinstance(a, _PyFunction) and (a._in_specs, a._out_specs) != (b._in_specs, b._out_specs):
        return False
    return _does_the_same(a._func, b._func)


def _does_the_same(a: Any, b: Any) -> bool:
    # Functions may change what they captured, so of that only constants have equals.
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, types.FunctionType):
        if a.__code__ is not b.__code__ or a.__globals__ is not b.__globals__:
            return False
        parts = [(f.__defaults__, f.__kwdefaults__, _captured(f)) for f in (a, b)]
        return all(map(_does_the_same, *parts))
    if isinstance(a, types.MethodType):
        return a.__self__ is b.__self__ and _does_the_same(a.__func__, b.__func__)
    if type(a) is tuple:
        return len(a) == len(b) and all(map(_does_the_same, a, b))
    return type(a) in (int, float, complex, str, bytes) and repr(a) == repr(b)


def _captured(function: types.FunctionType) -> Any:
    try:
        return tuple(cell.cell_contents for cell in function.__closure__ or ())
    except ValueError:  # one that is empty
        return object()


# --- Errors.


def describe(error: BaseException) -> str:
    """The class, the message and the lines of the program that an error came from."""
    import traceback

    text = f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename != __file__]
    if not own:
        return text
    lines = "".join(traceback.format_list(own))
    return f"{text}\nTraceback (most recent call last):\n\n{lines}"
