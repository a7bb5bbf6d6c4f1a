"""A name that has a value or is None, as a value of the graph.

It becomes one where some path of a staged statement leaves a value, and another None. Converted
code asks by `is None` and `is not None`; in a branch that such a condition guards the name is a
plain value, or None. Elsewhere a use of the value checks, when the function runs, that it is there.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn

from graven import _engine, _nest, _public
from graven import _functions as ops
from graven._debug_ops import Assert
from graven._scopes import control_dependencies
from graven._type_spec import CompositeTensor
from graven.autograph._operators import returns
from graven.autograph._operators.loop_shapes import LoopShapes
from graven.autograph._operators.staged_spec import StagedSpec
from graven.autograph._operators.values import dense_leaf, is_dense

_IS_NONE = "_autograph_is_none"
_LEFT = "_autograph_left_operand"


class StagedOptionalSpec(StagedSpec):
    """The type of a StagedOptional; its component is a variant.

    Args:
      element: The structure of the value, with a TensorSpec for each leaf.
      name: The name that the user gave it, for messages.
      place: The statement that made it a value of the graph, for messages.
    """

    @property
    def value_type(self) -> type:
        """The class of the values of this type."""
        return StagedOptional

    @property
    def _component_specs(self) -> list[Any]:
        return [_engine.TensorSpec([], "variant")]

    def _to_components(self, value: StagedOptional) -> list[Any]:
        return [value.handle]

    def _from_components(self, components: list[Any]) -> StagedOptional:
        return StagedOptional(self, components[0])

    def convert(self, value: Any) -> StagedOptional:
        """Returns an optional of this type, of None, of an optional or of a value.

        Args:
          value: One of them.

        Raises:
          TypeError: The value is of another structure or dtype.
        """
        if value is None:
            return StagedOptional(self, _public.function("raw_ops.OptionalNone")())
        if isinstance(value, StagedOptional):
            self._checked(value.spec.element)
            return StagedOptional(self, value.handle)
        handle = _public.function("raw_ops.OptionalFromValue")(components=self._checked(value))
        return StagedOptional(self, handle)

    def empty(self) -> StagedOptional:
        """Returns None as an optional."""
        return self.convert(None)

    def note_shapes(self, value: Any, shapes: LoopShapes) -> None:
        """Notes the shapes of a value, or of what an optional may hold, after an iteration.

        Args:
          value: None, a value or an optional.
          shapes: The shapes of the loop.
        """
        if value is None:
            return
        found = self._checked(value.spec.element if isinstance(value, StagedOptional) else value)
        for i, (spec, one) in enumerate(zip(self.leaves, found, strict=True)):
            shapes.note(self.name, i, spec.shape, one.shape)

    def opened(self, shapes: LoopShapes) -> StagedOptionalSpec:
        """Returns the type with the shapes that values have in a loop.

        Args:
          shapes: The shapes of the loop.
        """
        leaves = shapes.opened(self.name, self.leaves)
        element = _nest.pack_sequence_as(self.element, leaves)
        return StagedOptionalSpec(element, self.name, self.place)

    def _checked(self, value: Any) -> list[Any]:
        rule = f"'{self.name}' is None on some paths of {self.place}, and must have one"
        try:
            _nest.assert_same_structure(self.element, value)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{rule} structure on the others:\n\n{error}") from None
        found = []
        for spec, leaf in zip(self.leaves, _nest.flatten(value), strict=True):
            tensor = leaf if isinstance(leaf, _engine.TensorSpec) else dense_leaf(leaf, spec.dtype)
            if tensor is None or tensor.dtype != spec.dtype:
                came = repr(leaf) if tensor is None else tensor.dtype.name
                raise TypeError(f"{rule} dtype on the others: {spec.dtype.name} and {came} came.")
            found.append(tensor)
        return found


def spec_of_values(name: str, place: str, values: Sequence[Any]) -> StagedOptionalSpec | None:
    """Returns the type of a name that has one of some values or is None.

    Args:
      name: The name.
      place: The statement.
      values: Values, optionals and None; not all None.

    Returns:
      The type; None if a value is not made of tensors.

    Raises:
      TypeError: The values are of several types.
    """
    found: StagedOptionalSpec | None = None
    for value in values:
        if value is None:
            continue
        element = _specs(value.spec.element if isinstance(value, StagedOptional) else value)
        if element is None:
            return None
        if found is None:
            found = StagedOptionalSpec(element, name, place)
            continue
        found._checked(element)
        pairs = zip(found.leaves, _nest.flatten(element), strict=True)
        common = [one.most_specific_common_supertype([two]) for one, two in pairs]
        found = StagedOptionalSpec(_nest.pack_sequence_as(element, common), name, place)
    return found


def _specs(value: Any) -> Any:
    specs = []
    for leaf in _nest.flatten(value):
        tensor = leaf if isinstance(leaf, _engine.TensorSpec) else dense_leaf(leaf)
        if tensor is None:
            return None
        specs.append(_engine.TensorSpec(tensor.shape, tensor.dtype))
    return _nest.pack_sequence_as(value, specs) if specs else None


class StagedOptional(CompositeTensor):
    """A value or None in a graph. Operators and attributes are those of the value.

    Args:
      spec: Its type.
      handle: The optional, in a variant.
    """

    _has_dtype = False  # though its value has one, and programs may ask for that

    def __init__(self, spec: StagedOptionalSpec, handle: Any) -> None:
        self.spec = spec
        self.handle = handle
        self._known = 0  # branches being traced in which it has a value

    @property
    def _type_spec(self) -> StagedOptionalSpec:
        return self.spec

    def has_value(self) -> Any:
        """Returns whether it is not None, a bool scalar."""
        return _public.function("raw_ops.OptionalHasValue")(self.handle)

    def value(self) -> Any:
        """Returns the value. Where it is not known to be there, running the function checks."""
        handle, spec = self.handle, self.spec
        if not self._known:
            text = f"{spec.name} is None here: {spec.place} has left it so"
            with control_dependencies([Assert(self.has_value(), [text])]):
                handle = ops.identity(handle)
        components = _public.function("raw_ops.OptionalGetValue")(
            optional=handle,
            output_types=[leaf.dtype for leaf in spec.leaves],
            output_shapes=[leaf.shape for leaf in spec.leaves],
        )
        return _nest.pack_sequence_as(spec.element, list(components))

    @property
    def is_known(self) -> bool:
        """Whether it has a value where code is being traced."""
        return self._known > 0

    @contextmanager
    def known(self) -> Iterator[None]:
        """In the `with` statement it is known to have a value."""
        self._known += 1
        try:
            yield
        finally:
            self._known -= 1

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        """The value, where an op takes it."""
        del name
        return _engine.convert_to_tensor(self.value(), dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.value(), name)

    def __getitem__(self, key: Any) -> Any:
        return self.value()[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value())

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"'{self.spec.name}' has no truth while the function is traced: {self.spec.place} "
            "leaves a value or None. Compare it with `is None` or `is not None`."
        )

    def __repr__(self) -> str:
        return f"<'{self.spec.name}', None or {self.spec.element}, by {self.spec.place}>"


def _delegate(name: str) -> Callable[..., Any]:
    apply = getattr(operator, name)

    def method(self: StagedOptional, *others: Any) -> Any:
        return apply(self.value(), *map(value_of, others))

    return method


def _reflected(name: str) -> Callable[..., Any]:
    apply = getattr(operator, name)

    def method(self: StagedOptional, other: Any) -> Any:
        return apply(value_of(other), self.value())

    return method


for _name in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
):
    _operator = f"__{_name}__"
    setattr(StagedOptional, _operator, _delegate(_operator))
    setattr(StagedOptional, f"__r{_name}__", _reflected(_operator))
for _name in ("lt", "le", "gt", "ge", "neg", "pos", "abs", "invert"):
    setattr(StagedOptional, f"__{_name}__", _delegate(f"__{_name}__"))


def value_of(value: Any) -> Any:
    """Returns the value of an optional, and other objects as they are."""
    return value.value() if isinstance(value, StagedOptional) else value


def is_none(value: Any) -> Any:
    """Evaluates `value is None`: a tensor if it is known only when the function runs.

    Args:
      value: Any object.
    """
    if not isinstance(value, StagedOptional):
        return value is None
    result = ops.logical_not(value.has_value())
    setattr(result, _IS_NONE, value)
    return result


# --- What conditions say of optionals.


@contextmanager
def known_in_branch(condition: Any, holds: bool) -> Iterator[None]:
    """In the `with` statement, optionals have the values that a condition says they have.

    Args:
      condition: A tensor.
      holds: Whether it holds.
    """
    with ExitStack() as stack:
        for optional, has_value in known_of(condition, holds).values():
            if has_value:
                stack.enter_context(optional.known())
        yield


def state_in_branch(values: tuple[Any, ...], condition: Any, holds: bool) -> tuple[Any, ...]:
    """Returns a state in which optionals are None, or values, that a condition says to be so.

    Args:
      values: The state.
      condition: A tensor.
      holds: Whether it holds.
    """
    known = known_of(condition, holds)

    def in_branch(value: Any) -> Any:
        if id(value) not in known:
            return value
        if not known[id(value)][1]:
            return None
        with value.known():
            return value.value()

    return tuple(map(in_branch, values))


def note_conjunction(result: Any, left: Any) -> None:
    """Keeps of a tensor that it is `left and ...`."""
    if is_dense(result):
        setattr(result, _LEFT, left)


def known_of(condition: Any, holds: bool) -> dict[int, tuple[StagedOptional, bool]]:
    """Returns, by id, the optionals of which a condition says whether they have a value.

    Args:
      condition: A tensor.
      holds: Whether it holds.
    """
    found: dict[int, tuple[StagedOptional, bool]] = {}
    optional = getattr(condition, _IS_NONE, None)
    if optional is not None:
        found[id(optional)] = optional, not holds
    negated = returns.negated_operand(condition)
    if negated is not None:
        found.update(known_of(negated, not holds))
    left = getattr(condition, _LEFT, None)
    if left is not None and holds:
        found.update(known_of(left, True))
    return found
