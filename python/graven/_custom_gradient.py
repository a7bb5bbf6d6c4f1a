"""tf.custom_gradient: gradients that the user's own function computes."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any

from graven import _engine, nest
from graven._indexed_slices import IndexedSlices
from graven._tape import GradientTape
from graven._variable import Variable
from graven.autograph._status import state


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Decorates a function so that it says itself what its gradient is.

    Args:
      f: A function of tensors that returns `(outputs, grad_fn)`. `grad_fn(*dys)` takes the
        gradient of each output and returns one for each argument, None among them. If f reads
        trainable variables, grad_fn must have a parameter `variables`, is given them as a list,
        and returns `(gradients of arguments, gradients of variables)`.

    Returns:
      A function of the same arguments that returns the outputs.

    Raises:
      TypeError: When called: f reads trainable variables and grad_fn takes none.
      ValueError: When called: there are keyword arguments while a function is traced. When
        differentiated: the number of gradients is wrong.

    Source: tf.custom_gradient.
    """
    if f is None:
        return custom_gradient

    return _CustomGradient(f)


class _CustomGradient:
    """The decorated function. As a method it binds the instance, which is no argument of it."""

    def __init__(self, f: Callable[..., Any]) -> None:
        functools.update_wrapper(self, f)  # first: it takes f's attributes over, an _f among them
        self._f = f

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return _CustomGradient(types.MethodType(self._f, instance))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs and not _engine.executing_eagerly():
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments only when "
                "eager execution is enabled."
            )
        return _apply(self._f, args, kwargs)


def _as_tensor(leaf: Any) -> Any:
    return leaf if isinstance(leaf, Variable) else _engine.convert_to_tensor(leaf)


def _apply(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    # As in TensorFlow, f is given what the user gave eagerly, and tensors only while a function is
    # traced: of variables, what they hold.
    if not _engine.executing_eagerly():
        args = nest.map_structure(_engine.convert_to_tensor, args)
    with GradientTape() as tape:
        result = f(*args, **kwargs)
    if not (isinstance(result, tuple) and len(result) == 2 and callable(result[1])):
        raise TypeError("The function of tf.custom_gradient must return (outputs, grad_fn).")
    outputs, grad_fn = result
    if state.recorder is not None:
        state.recorder.note(f, args, kwargs)
        state.recorder.note_gradient(grad_fn)
    flat = [_as_tensor(leaf) for leaf in nest.flatten(args)]
    given = {id(leaf) for leaf in [*flat, *nest.flatten(kwargs)]}
    variables = [v for v in tape.watched_variables() if id(v) not in given]
    if variables and not _takes_variables(grad_fn):
        raise TypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function "
            f"uses variables: {variables}"
        )
    flat_outputs = [_engine.convert_to_tensor(leaf) for leaf in nest.flatten(outputs)]
    gradient = _Gradient(grad_fn, len(flat), variables)
    results = _engine.apply_custom_gradient([*flat, *variables], flat_outputs, gradient)
    return nest.pack_sequence_as(outputs, results)


def _takes_variables(grad_fn: Callable[..., Any]) -> bool:
    import inspect  # Takes milliseconds.

    parameters = inspect.signature(grad_fn).parameters.values()
    return any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters)


class _Gradient:
    """What the engine calls for the gradients of arguments and variables, in that order."""

    def __init__(
        self, grad_fn: Callable[..., Any], num_arguments: int, variables: Sequence[Any]
    ) -> None:
        self._grad_fn = grad_fn
        self._num_arguments = num_arguments
        self._variables = list(variables)

    def __call__(self, *dy: Any) -> list[Any]:
        of_variables: list[Any] = []
        if self._variables:
            of_arguments, given = self._grad_fn(*dy, variables=list(self._variables))
            of_variables = nest.flatten(given)
            if len(of_variables) != len(self._variables):
                raise ValueError(
                    "Must return gradient for each variable from @custom_gradient grad_fn."
                )
        else:
            of_arguments = self._grad_fn(*dy)
        flat = nest.flatten(of_arguments)
        if len(flat) != self._num_arguments:
            raise ValueError(
                f"custom_gradient function expected to return {self._num_arguments} gradients, "
                f"but returned {len(flat)} instead."
            )
        return [_for_engine(gradient) for gradient in [*flat, *of_variables]]


def same_gradient(a: Any, b: Any) -> bool:
    """Tells whether two gradients on nodes of equal graphs have the same code and captures."""
    if not (isinstance(a, _Gradient) and isinstance(b, _Gradient)):
        return a is b
    return (
        a._num_arguments == b._num_arguments
        and len(a._variables) == len(b._variables)
        and all(map(operator.is_, a._variables, b._variables))
        and _same_capture(a._grad_fn, b._grad_fn, 0)
    )


_MAX_DEPTH = 8


def _same_capture(a: Any, b: Any, depth: int) -> bool:
    if a is b:
        return True
    if type(a) is not type(b) or depth > _MAX_DEPTH:
        return False
    if isinstance(a, types.FunctionType):
        ours, theirs = ((f.__defaults__ or (), f.__kwdefaults__ or {}, _cells(f)) for f in (a, b))
        return a.__code__ is b.__code__ and _same_capture(ours, theirs, depth + 1)
    if type(a) in (tuple, list):
        same = (_same_capture(x, y, depth + 1) for x, y in zip(a, b, strict=False))
        return len(a) == len(b) and all(same)
    if type(a) is dict:
        return _same_capture(list(a.items()), list(b.items()), depth + 1)
    if isinstance(a, _engine.SymbolicTensor):
        return bool(a.op.name == b.op.name and a.value_index == b.value_index)
    return type(a) in (int, float, str, bytes, complex) and repr(a) == repr(b)


def _cells(function: types.FunctionType) -> list[Any]:
    try:
        return [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # an empty one
        return [object()]


def _for_engine(gradient: Any) -> Any:
    if isinstance(gradient, IndexedSlices):
        return gradient.values, gradient.indices, gradient.dense_shape
    return None if gradient is None else _engine.convert_to_tensor(gradient)
