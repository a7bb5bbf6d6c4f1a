"""The state of a staged loop: names, their values, and what becomes loop variables.

A name's value is a structure. Its tensors, and what becomes tensors, are loop variables; other
objects must be the same after an iteration, and stay outside of the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from graven import _engine, _nest
from graven._tensor_shape import TensorShape, conforms
from graven.autograph._operators.attempts import with_more_it_may_do
from graven.autograph._operators.loop_shapes import LoopShapes
from graven.autograph._operators.staged_objects import Kept
from graven.autograph._operators.staged_optional import StagedOptionalSpec
from graven.autograph._operators.values import dtype_of, to_tensor, type_name
from graven.autograph._operators.variables import is_undefined


def _shape_of(tensor: Any) -> Any:
    """The static shape of a dense tensor; None for other values, whose shapes are not checked."""
    return tensor.shape if isinstance(tensor, _engine.Tensor) else None


class _Leaf(NamedTuple):
    """A leaf of a name's value: an object, and the loop variable that stands for it, if one does.

    Attributes:
      value: What it is before the loop.
      tensor: The loop variable before the loop; None of another object.
      invariant: The shape, or the TypeSpec, that the loop variable has at all times; None of values
        whose shapes are not checked.
      is_given: Whether the user gave the invariant.
      varies: Whether the invariant may be another than what holds before the loop.
    """

    value: Any
    tensor: Any
    invariant: Any = None
    is_given: bool = False
    varies: bool = False


class LoopSymbol:
    """One name of a loop's state, and its value before the loop.

    Args:
      name: The name.
      value: Its value before the loop.
      invariants: Shapes by the identity of values, as set_loop_options gives them.
      shape_like: A value whose shapes the loop variable may have; None if only the user's
        invariants and the shapes before the loop count.
      form: What makes the value of the graph of values after an iteration, if it is one.
      shapes: The shapes of the loop, if they may change from iteration to iteration.

    Raises:
      ValueError: A shape does not fit its invariant.
    """

    def __init__(
        self,
        name: str,
        value: Any,
        invariants: Sequence[tuple[Any, Any]],
        shape_like: Any = None,
        form: Any = None,
        shapes: LoopShapes | None = None,
    ) -> None:
        self.name = name
        self.value = value
        self._form = form
        self._shapes = shapes
        # A list may be put out of scope while the body is traced.
        self._structure = list(value) if type(value) is list else value
        self._invariants = invariants
        if value is None or is_undefined(value):
            self._leaves = [_Leaf(value, None)]
            return
        leaves = _nest.flatten(value)
        likes = [None] * len(leaves) if shape_like is None else _nest.flatten(shape_like)
        pairs = zip(leaves, likes, strict=True)
        self._leaves = [self._leaf(i, *pair) for i, pair in enumerate(pairs)]

    def _leaf(self, i: int, value: Any, like: Any) -> _Leaf:
        tensor = to_tensor(value)
        if tensor is None:
            return _Leaf(value, None)
        for variable, given in self._invariants:
            if variable is value or variable is self.value:
                return _Leaf(value, tensor, self._checked(tensor, given), True, True)
        shape = _shape_of(tensor)
        if shape is None:
            return _Leaf(value, tensor, getattr(tensor, "_type_spec", None))
        before, varies = shape, isinstance(like, _engine.Tensor)
        if varies:
            shape = like.shape
        if self._shapes is not None:
            shape = self._shapes.of(self.name, i, shape)
            varies = varies or shape != before
        return _Leaf(value, tensor, shape, varies=varies)

    def _checked(self, tensor: Any, given: Any) -> Any:
        shape = _shape_of(tensor)
        if shape is None:
            return given
        given = given if isinstance(given, TensorShape) else getattr(given, "shape", given)
        invariant = TensorShape(given)
        if not conforms(shape, invariant):
            raise ValueError(
                f"'{self.name}' has shape {shape} before the loop, which does not conform with "
                f"the shape invariant {invariant}."
            )
        return invariant

    @property
    def has_form(self) -> bool:
        """Whether it is a value of the graph, or goes around it as a whole."""
        return self._form is not None

    @property
    def is_kept(self) -> bool:
        """Whether it is a list that goes around the graph."""
        return isinstance(self.value, Kept)

    @property
    def varies(self) -> bool:
        """Whether a loop variable may have another shape than before the loop."""
        return any(leaf.varies for leaf in self._leaves)

    def tensors(self) -> list[Any]:
        """The loop variables before the loop."""
        return [leaf.tensor for leaf in self._leaves if leaf.tensor is not None]

    def placeholders(self) -> list[Any]:
        """Tensors of the types of the loop variables, for a look at one iteration."""
        return [
            _engine.add_placeholder(_engine.TensorSpec(leaf.invariant, leaf.tensor.dtype), "state")
            if isinstance(leaf.invariant, TensorShape)
            else leaf.tensor
            for leaf in self._leaves
            if leaf.tensor is not None
        ]

    def shapes(self) -> list[Any]:
        """The shape invariants of the loop variables."""
        return [leaf.invariant for leaf in self._leaves if leaf.tensor is not None]

    def packed(self, tensors: Iterator[Any]) -> Any:
        """Returns the value around other loop variables.

        Args:
          tensors: Loop variables; those of this name are taken.
        """
        if self.value is None or is_undefined(self.value):
            return self.value
        if isinstance(self.value, Kept):
            return self.value.value
        leaves = [leaf.value if leaf.tensor is None else next(tensors) for leaf in self._leaves]
        return _nest.pack_sequence_as(self._structure, leaves)

    def after_iteration(self, value: Any, check_shapes: bool) -> list[Any]:
        """Returns the loop variables after an iteration.

        Args:
          value: What the name is bound to then.
          check_shapes: Whether shapes must be as before.

        Raises:
          ValueError: The value is None, unbound, or of another shape.
          TypeError: Its structure or dtypes are others, or an object is.
        """
        name = self.name
        if self._form is not None and not is_undefined(value):
            if self._shapes is not None and isinstance(self._form, StagedOptionalSpec):
                self._form.note_shapes(value, self._shapes)
            value = self._form.convert(value)
        if is_undefined(value) and is_undefined(self.value):
            return []
        if value is None and self.value is not None:
            raise with_more_it_may_do(ValueError(f"'{name}' is None at the end of the iteration."))
        if is_undefined(value):
            raise ValueError(f"'{name}' is not defined at the end of the iteration.")
        try:
            _nest.assert_same_structure(self._structure, value)
        except (TypeError, ValueError) as error:
            raise with_more_it_may_do(
                TypeError(
                    f"'{name}' does not have the same nested structure after one iteration.\n\n"
                    f"{error}"
                )
            ) from None
        result = []
        for i, (before, leaf) in enumerate(zip(self._leaves, _nest.flatten(value), strict=True)):
            tensor = to_tensor(leaf)
            if before.tensor is None or tensor is None:
                self._check_object(before.value, leaf)
                continue
            self._check_dtype(before, tensor)
            if check_shapes:
                self._check_shape(i, before, tensor)
            result.append(tensor)
        return result

    def _check_object(self, before: Any, after: Any) -> None:
        if before is after:
            return
        raise TypeError(
            f"'{self.name}' is {after!r} of type {type_name(after)} after one iteration, and "
            f"{before!r} before the loop. What a staged loop changes must be tensors, numbers, "
            "strings, or structures of them; other objects must stay the same."
        )

    def _check_dtype(self, before: _Leaf, after: Any) -> None:
        dtypes = dtype_of(before.tensor), dtype_of(after)
        if dtypes[0] != dtypes[1] and None not in dtypes:
            raise TypeError(
                f"'{self.name}' has dtype {dtypes[0].name} before the loop, but dtype "
                f"{dtypes[1].name} after one iteration"
            )

    def _check_shape(self, i: int, before: _Leaf, after: Any) -> None:
        shape = _shape_of(after)
        if shape is None or not isinstance(before.invariant, TensorShape):
            return
        if conforms(shape, before.invariant):
            return
        if before.is_given:
            raise ValueError(
                f"'{self.name}' has shape {shape} after one iteration, which does not conform "
                f"with the shape invariant {before.invariant}."
            )
        error = ValueError(
            f"'{self.name}' has shape {before.invariant} before the loop, but shape {shape} after "
            "one iteration. Use tf.autograph.experimental.set_loop_options to set shape invariants."
        )
        if self._shapes is None:
            raise with_more_it_may_do(error)
        self._shapes.note(self.name, i, before.invariant, shape)
        self._shapes.note_error(error)
