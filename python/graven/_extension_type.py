"""tf.experimental.ExtensionType: classes of values that are made of tensors and other fields."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from graven import _engine, _nest
from graven import _functions as ops
from graven._extension_fields import (
    NO_DEFAULT,
    Field,
    ImmutableDict,
    fields_of_class,
    tensors_in,
    with_tensors,
)
from graven._type_spec import CompositeTensor, TypeSpec, batched, ragged_ranks, unbatched

# It takes milliseconds, and programs without such types go without.
if TYPE_CHECKING:
    import inspect

_RESERVED = ("self", "Spec")
# Stands in an object while its constructor runs, and counts those of its classes.
_CONSTRUCTING = "_running_constructors"


class _Frozen:
    """What ExtensionTypes and their specs share: fields that only a constructor sets."""

    _extension_fields: ClassVar[tuple[Field, ...]] = ()

    def __setattr__(self, name: str, value: Any) -> None:
        self._check_mutable(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._check_mutable(name)
        object.__delattr__(self, name)

    def _check_mutable(self, name: str) -> None:
        is_field = any(field.name == name for field in self._extension_fields)
        if not is_field or _CONSTRUCTING not in self.__dict__:
            kind = "ExtensionType" if isinstance(self, ExtensionType) else "ExtensionTypeSpec"
            raise AttributeError(
                f"Cannot mutate attribute `{name}` outside the custom constructor of {kind}."
            )

    def _convert_fields(self) -> None:
        """Checks that a constructor has set all fields, and converts them."""
        set_fields = self.__dict__
        missing = {f.name for f in self._extension_fields if f.name not in set_fields}
        if missing:
            raise ValueError(f"Missing required fields: {missing}")
        for field in self._extension_fields:
            value = set_fields[field.name]
            set_fields[field.name] = self._converted(field, value)

    def _converted(self, field: Field, value: Any) -> Any:
        raise NotImplementedError

    def _field_values(self) -> tuple[Any, ...]:
        return tuple(self.__dict__[field.name] for field in self._extension_fields)

    def __repr__(self) -> str:
        fields = (f"{f.name}={self._shown(self.__dict__[f.name])}" for f in self._extension_fields)
        return f"{type(self).__qualname__}({', '.join(fields)})"

    def _shown(self, value: Any) -> str:
        return repr(value)


def _make(klass: Any, values: Sequence[Any]) -> Any:
    """Returns an object of a class around the values of its fields, without its constructor."""
    made = object.__new__(klass)
    names = (field.name for field in klass._extension_fields)
    made.__dict__.update(zip(names, values, strict=True))
    return made


class ExtensionType(_Frozen, CompositeTensor):
    """A base of users' classes whose values are made of tensors, composite tensors and constants.

    A class lists its fields with their types; the constructor, a spec `<class>.Spec` and printing
    are made of them, and what is passed is converted. Such values are arguments, results and
    captures of functions, and do not change. They are variables of loops, whose tensors may change
    there, but nothing else.

        class Masked(tf.experimental.ExtensionType):
            values: tf.Tensor
            mask: tf.Tensor
            fill: float = 0.0

            def filled(self):
                return tf.where(self.mask, self.values, self.fill)

    A field is a tf.Tensor, a composite tensor such as another ExtensionType, an int, float, bool,
    str, bytes, None, tf.DType or tf.TensorShape, or a tuple, mapping, union or Optional of these.
    `__validate__(self)`, if there is one, raises if the fields do not fit together. A class may
    have a constructor of its own that sets the fields, and a class `Spec` inside of it with methods
    for the spec. Two values are equal, as a tensor of bool, if their types and all elements are; to
    a Function, values are of one type if what is no tensor in them is equal.

    Args:
      *args: The fields in their order.
      **kwargs: Fields by name.

    Raises:
      TypeError: A value does not fit its field; in a declaration, an annotation that is none of
        these, or a default that does not fit.
      ValueError: In a declaration, a field of a reserved name; a constructor of the class's own
        left a field out.

    Source: tf.experimental.ExtensionType.
    """

    Spec: ClassVar[Any] = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not type(self).Spec:
            raise AssertionError("ExtensionType is a base class: derive one of your own from it")
        _set_fields(self, type(self), args, kwargs)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__ != __name__:
            _complete(cls)

    def __validate__(self) -> None:
        """Raises if the fields do not fit together; does nothing by default."""

    def _converted(self, field: Field, value: Any) -> Any:
        return field.kind.convert(value, field.name)

    @property
    def _type_spec(self) -> Any:
        spec = self.__dict__.get("_cached_spec")
        if spec is None:
            values = tuple(_spec_of(value) for value in self._field_values())
            spec = self.__dict__["_cached_spec"] = _make(type(self).Spec, values)
        return spec

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, ExtensionType) or type(self) is not type(other):
            return False
        if self._type_spec != other._type_spec:
            return False
        pairs = zip(
            _nest.flatten(self, expand_composites=True),
            _nest.flatten(other, expand_composites=True),
            strict=True,
        )
        # Sizes that are not known may differ, and equal() would broadcast.
        all_equal = [
            ops.reduce_all(ops.equal(a, b))
            if _is_same_shape(a, b)
            else ops.cond(
                ops.reduce_all(ops.equal(ops.shape(a), ops.shape(b))),
                functools.partial(_all_equal, a, b),
                lambda: _engine.constant(False),
            )
            for a, b in pairs
        ]
        return ops.reduce_all(ops.stack(all_equal)) if all_equal else _engine.constant(True)

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return not equal if isinstance(equal, bool) else ops.logical_not(equal)

    def __reduce__(self) -> Any:
        return _make, (type(self), self._field_values())


class BatchableExtensionType(ExtensionType):
    """An ExtensionType of which map_fn, vectorized_map and the like take values apart into rows.

    All its tensors have the rows as their first dimension; what is no tensor is the same in each.

    Source: tf.experimental.BatchableExtensionType.
    """


def _is_same_shape(a: Any, b: Any) -> bool:
    return bool(a.shape.is_fully_defined() and b.shape.is_fully_defined())


def _all_equal(a: Any, b: Any) -> Any:
    return ops.reduce_all(ops.equal(a, b))


class ExtensionTypeSpec(_Frozen, TypeSpec):
    """The type of an ExtensionType: the base of all `<class>.Spec`.

    Args:
      *args: For each field that is a tensor, or made of them, a spec; for each other its value.
      **kwargs: Fields by name.

    Raises:
      TypeError: What is given does not fit a field.

    Source: tf.experimental.ExtensionTypeSpec.
    """

    _value_class: ClassVar[Any] = ExtensionType

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _set_fields(self, type(self), args, kwargs)

    def _converted(self, field: Field, value: Any) -> Any:
        return field.kind.convert_spec(value, field.name)

    @property
    def value_type(self) -> Any:
        """The class of the values of this type."""
        return self._value_class

    def _serialize(self) -> tuple[Any, ...]:
        return tuple(_exact(value) for value in self._field_values())

    @classmethod
    def _deserialize(cls, serialized: Sequence[Any]) -> Any:
        return _make(cls, tuple(_inexact(value) for value in serialized))

    @property
    def _component_specs(self) -> list[Any]:
        return [spec for value in self._field_values() for spec in tensors_in(value)]

    def _to_components(self, value: Any) -> list[Any]:
        return [tensor for field in value._field_values() for tensor in tensors_in(field)]

    def _from_components(self, components: Iterable[Any]) -> Any:
        left = iter(components)
        return _make(self._value_class, [with_tensors(v, left) for v in self._field_values()])

    def _ragged_ranks(self) -> tuple[int, ...] | None:
        of_all: list[int] = []
        for spec in self._component_specs:
            of_one = ragged_ranks(spec)
            if of_one is None:
                return None
            of_all += of_one
        return tuple(of_all)

    def _with_components(self, specs: Sequence[Any]) -> Any:
        """The type with other specs, if there are any, for what is made of tensors."""
        if any(spec is None for spec in specs):
            return None
        left = iter(specs)
        return _make(type(self), [with_tensors(v, left) for v in self._field_values()])

    def _unbatch(self) -> Any:
        return self._with_components([unbatched(spec) for spec in self._component_specs])

    def _batch(self, batch_size: int | None) -> Any:
        return self._with_components([batched(spec, batch_size) for spec in self._component_specs])

    def cast(self, value: Any, cast_context: Any) -> Any:
        """Returns a value of this type: one that fits as it is, of others the tensors.

        As in TensorFlow, the fields that are no tensors are those of the type, whatever the value
        has there.

        Args:
          value: A value of the class that this is the type of.
          cast_context: Nothing is known of it.

        Raises:
          TypeError: It is of another class, or its tensors do not fit.
        """
        if self.is_compatible_with(value) or not isinstance(value, self._value_class):
            return super().cast(value, cast_context)
        parts = self._to_components(value)
        specs = self._component_specs
        if len(parts) != len(specs):
            return super().cast(value, cast_context)
        return self._from_components(
            spec.cast(part, cast_context) for spec, part in zip(specs, parts, strict=True)
        )

    def __reduce__(self) -> Any:
        return _make, (type(self), self._field_values())

    def _shown(self, value: Any) -> str:
        return repr(dict(value) if isinstance(value, ImmutableDict) else value)

    # Of _Frozen, and not of TypeSpec.
    __repr__ = _Frozen.__repr__


class _Exact:
    """A constant in a spec: equal to one of its class with the same bits, and to no other."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self._key = (type(value), value.hex() if isinstance(value, float) else value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Exact) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key[0])

    def __repr__(self) -> str:
        return repr(self.value)


def _exact(value: Any) -> Any:
    if isinstance(value, TypeSpec):
        return value
    if isinstance(value, tuple):
        return tuple(_exact(item) for item in value)
    if isinstance(value, ImmutableDict):
        return {key: _exact(value[key]) for key in value}
    return _Exact(value)


def _inexact(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_inexact(item) for item in value)
    if isinstance(value, dict):
        return ImmutableDict((key, _inexact(item)) for key, item in value.items())
    return value.value if isinstance(value, _Exact) else value


def _spec_of(value: Any) -> Any:
    """What stands in a spec for the value of a field."""
    if isinstance(value, _engine.Tensor):
        return _engine.TensorSpec(value.shape, value.dtype)
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if isinstance(value, tuple):
        return tuple(_spec_of(item) for item in value)
    if isinstance(value, ImmutableDict):
        return ImmutableDict((key, _spec_of(value[key])) for key in value)
    return value


def _complete(cls: type[ExtensionType]) -> None:
    """Makes the constructor and the spec of a class of a user's."""
    import inspect

    annotations = inspect.get_annotations(cls)
    for name in annotations:
        if name in _RESERVED or name in dir(ExtensionType) or name.startswith("_running_"):
            raise ValueError(
                f"The field annotations for {cls.__name__} are invalid. Field {name!r} is reserved."
            )
    defaults = {name: cls.__dict__[name] for name in annotations if name in cls.__dict__}
    for name in defaults:
        delattr(cls, name)
    own, this = fields_of_class(cls.__name__, annotations, defaults, cls.__module__)
    this.set_class(cls)
    inherited = {field.name: field for base in cls.__bases__[::-1] for field in _fields_of(base)}
    fields = tuple({**inherited, **{field.name: field for field in own}}.values())
    cls._extension_fields = fields
    signature = _signature_of(fields, cls)
    if "__init__" in cls.__dict__:
        _let_set_fields(cls, _finish_value)
    else:
        _take_fields(cls, signature)
    cls.Spec = _spec_class(cls, fields)


def _fields_of(base: Any) -> tuple[Field, ...]:
    return tuple(getattr(base, "_extension_fields", ()))


def _spec_class(cls: type[ExtensionType], fields: tuple[Field, ...]) -> Any:
    own = cls.__dict__.get("Spec")
    if own is None:
        bases: tuple[Any, ...] = (ExtensionTypeSpec,)
    elif not isinstance(own, type):
        raise ValueError(f"{cls.__name__}.Spec must be a nested class, not {own!r}.")
    elif issubclass(own, ExtensionTypeSpec):
        bases = (own,)
    else:
        bases = (own, ExtensionTypeSpec)
    metaclass: Any = type(TypeSpec)
    spec: Any = metaclass(
        f"{cls.__name__}.Spec",
        bases,
        {
            "__module__": cls.__module__,
            "__qualname__": f"{cls.__qualname__}.Spec",
            "__doc__": f"The type of {cls.__name__}.",
            "_extension_fields": fields,
            "_value_class": cls,
        },
    )
    if own is not None and "__init__" in own.__dict__:
        spec.__init__ = own.__dict__["__init__"]
        _let_set_fields(spec, _Frozen._convert_fields)
    else:
        without_defaults = tuple(f._replace(default=NO_DEFAULT) for f in fields)
        _take_fields(spec, _signature_of(without_defaults, spec))
    return spec


def _signature_of(fields: Iterable[Field], result: Any) -> inspect.Signature:
    """The signature of a constructor; fields without a default go by name behind one with one."""
    import inspect

    parameters: list[inspect.Parameter] = []
    has_default = False
    for field in fields:
        has_default = has_default or field.default is not NO_DEFAULT
        is_by_name = has_default and field.default is NO_DEFAULT
        by_name = inspect.Parameter.KEYWORD_ONLY
        kind = by_name if is_by_name else inspect.Parameter.POSITIONAL_OR_KEYWORD
        if parameters and parameters[-1].kind is by_name:
            kind = by_name
        default = inspect.Parameter.empty if field.default is NO_DEFAULT else field.default
        parameters.append(
            inspect.Parameter(field.name, kind, default=default, annotation=field.annotation)
        )
    return inspect.Signature(parameters, return_annotation=result)


def _take_fields(cls: Any, signature: inspect.Signature) -> None:
    """Makes the constructor of a class take its fields."""
    import inspect

    def constructor(self: Any, *args: Any, **kwargs: Any) -> None:
        _set_fields(self, cls, args, kwargs)

    cls.__signature__ = signature
    constructor.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[
            inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *signature.parameters.values(),
        ],
        return_annotation=None,
    )
    constructor.__name__ = "__init__"
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"
    cls.__init__ = constructor


def _set_fields(self: Any, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Sets the fields that a class has, the one of an object or a base of it."""
    bound = cls.__signature__.bind(*args, **kwargs)
    bound.apply_defaults()
    self.__dict__.update(bound.arguments)
    if _CONSTRUCTING in self.__dict__:  # called by a constructor of the user's
        return
    self._convert_fields()
    if isinstance(self, ExtensionType):
        self.__validate__()


def _let_set_fields(cls: Any, finish: Callable[[Any], None]) -> None:
    """Lets the constructor of a class that is the user's own set the fields."""
    import inspect

    user_constructor = cls.__init__

    @functools.wraps(user_constructor)
    def constructor(self: Any, *args: Any, **kwargs: Any) -> None:
        state = self.__dict__
        state[_CONSTRUCTING] = state.get(_CONSTRUCTING, 0) + 1
        try:
            user_constructor(self, *args, **kwargs)
        finally:
            state[_CONSTRUCTING] -= 1
            is_outermost = state[_CONSTRUCTING] == 0
            if is_outermost:
                del state[_CONSTRUCTING]
        if is_outermost:
            finish(self)

    cls.__init__ = constructor
    cls.__signature__ = inspect.Signature(
        list(inspect.signature(user_constructor).parameters.values())[1:]
    )


def _finish_value(value: ExtensionType) -> None:
    value._convert_fields()
    value.__validate__()
