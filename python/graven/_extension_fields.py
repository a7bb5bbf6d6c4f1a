"""The fields of an ExtensionType: what their annotations mean, and the conversion of values.

A field has a kind, which converts a value of the field, or what stands for it in a spec.
"""

from __future__ import annotations

import abc
import collections.abc
import sys
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from graven import _engine
from graven._dtypes import DType, as_dtype
from graven._tensor_shape import TensorShape
from graven._type_spec import CompositeTensor, TypeSpec


class ImmutableDict(collections.abc.Mapping[Any, Any]):
    """A mapping that does not change: what fields of mappings hold.

    Args:
      items: A mapping or pairs, as for dict.
    """

    def __init__(self, items: Any = ()) -> None:
        self._items = dict(items)

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def in_order(self) -> list[Any]:
        """The keys in the order in which values are taken apart: equal mappings have the same."""
        try:
            return sorted(self._items)
        except TypeError:  # Keys of several kinds.
            return sorted(self._items, key=lambda key: (type(key).__qualname__, repr(key)))

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return f"ImmutableDict({self._items!r})"


class Kind(abc.ABC):
    """What a field may hold. `path` says which value is converted: "f", "f[1]" or "f['key']"."""

    @abc.abstractmethod
    def convert(self, value: Any, path: str) -> Any:
        """Returns the value as the field holds it, or raises a TypeError."""

    @abc.abstractmethod
    def convert_spec(self, value: Any, path: str) -> Any:
        """Returns what stands for a value in a spec as the spec holds it, or raises a TypeError."""


def _expected(what: Any, value: Any, path: str) -> TypeError:
    return TypeError(f"{path}: expected {what}, got {type(value).__name__!r}")


class _TensorKind(Kind):
    def convert(self, value: Any, path: str) -> Any:
        if isinstance(value, _engine.Tensor):
            return value
        if not isinstance(value, CompositeTensor):
            try:
                return _engine.convert_to_tensor(value)
            except (TypeError, ValueError):
                pass  # said below with the field
        raise _expected("a Tensor", value, path) from None

    def convert_spec(self, value: Any, path: str) -> Any:
        if isinstance(value, _engine.TensorSpec):
            return value
        raise _expected("a TensorSpec", value, path)


class _ClassKind(Kind):
    """Values of a class, which stand for themselves in a spec."""

    def __init__(self, klass: type) -> None:
        self._class = klass

    def convert(self, value: Any, path: str) -> Any:
        if isinstance(value, self._class):
            return value
        raise _expected(repr(self._class.__name__), value, path)

    convert_spec = convert


class _ConvertedKind(Kind):
    """The same, where other values are converted: dtypes and shapes."""

    def __init__(self, klass: type, convert: Any) -> None:
        self._class, self._convert = klass, convert

    def convert(self, value: Any, path: str) -> Any:
        try:
            return self._convert(value)
        except (TypeError, ValueError):
            raise _expected(repr(self._class.__name__), value, path) from None

    convert_spec = convert


class _CompositeKind(_ClassKind):
    """Composite tensors of a class; in a spec their own specs stand for them."""

    def convert_spec(self, value: Any, path: str) -> Any:
        if isinstance(value, TypeSpec):
            values = value.value_type
            if isinstance(values, type) and issubclass(values, self._class):
                return value
        raise _expected(f"the spec of a {self._class.__name__!r}", value, path)


class _TupleKind(Kind):
    """Tuples of some kinds, or of any number of values of one."""

    def __init__(self, kinds: tuple[Kind, ...], repeats: bool) -> None:
        self._kinds, self._repeats = kinds, repeats

    def _converted(self, value: Any, path: str, name: str) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise _expected("a tuple", value, path)
        if not self._repeats and len(value) != len(self._kinds):
            raise TypeError(
                f"{path}: expected a tuple of length {len(self._kinds)}, got {len(value)} items"
            )
        kinds = self._kinds * len(value) if self._repeats else self._kinds
        pairs = enumerate(zip(kinds, value, strict=True))
        return tuple(getattr(kind, name)(item, f"{path}[{i}]") for i, (kind, item) in pairs)

    def convert(self, value: Any, path: str) -> Any:
        return self._converted(value, path, "convert")

    def convert_spec(self, value: Any, path: str) -> Any:
        return self._converted(value, path, "convert_spec")


class _MappingKind(Kind):
    def __init__(self, key: Kind, value: Kind) -> None:
        self._key, self._value = key, value

    def _converted(self, value: Any, path: str, name: str) -> ImmutableDict:
        if not isinstance(value, Mapping):
            raise _expected("a mapping", value, path)
        return ImmutableDict(
            (
                self._key.convert(key, f"{path}[<key>]"),
                getattr(self._value, name)(item, f"{path}[{key!r}]"),
            )
            for key, item in value.items()
        )

    def convert(self, value: Any, path: str) -> Any:
        return self._converted(value, path, "convert")

    def convert_spec(self, value: Any, path: str) -> Any:
        return self._converted(value, path, "convert_spec")


class _UnionKind(Kind):
    """The first of some kinds that takes a value."""

    def __init__(self, kinds: tuple[Kind, ...], annotation: Any) -> None:
        self._kinds, self._annotation = kinds, annotation

    def _converted(self, value: Any, path: str, name: str) -> Any:
        for kind in self._kinds:
            try:
                return getattr(kind, name)(value, path)
            except TypeError:
                pass  # the next one may take it
        raise _expected(self._annotation, value, path)

    def convert(self, value: Any, path: str) -> Any:
        return self._converted(value, path, "convert")

    def convert_spec(self, value: Any, path: str) -> Any:
        return self._converted(value, path, "convert_spec")


class _LaterKind(Kind):
    """A name that its module gets later: of the class itself, or of one below it."""

    def __init__(self, text: str, module: str) -> None:
        self._text, self._module = text, module
        self._kind: Kind | None = None

    def _found(self, path: str) -> Kind:
        if self._kind is None:
            try:
                annotation = eval(self._text, vars(sys.modules[self._module]))
            except NameError as error:
                raise TypeError(f"{path}: the annotation {self._text!r}: {error}") from None
            self._kind = kind_of(annotation, self._module)
        return self._kind

    def convert(self, value: Any, path: str) -> Any:
        return self._found(path).convert(value, path)

    def convert_spec(self, value: Any, path: str) -> Any:
        return self._found(path).convert_spec(value, path)


class _OwnKind(_CompositeKind):
    """The class that is being made, by its name."""

    def __init__(self) -> None:
        super().__init__(CompositeTensor)

    def set_class(self, klass: type) -> None:
        self._class = klass


def _unsupported(annotation: Any) -> TypeError:
    text = annotation.__name__ if isinstance(annotation, type) else None
    return TypeError(f"Unsupported type annotation {text or annotation!r}")


def kind_of(annotation: Any, module: str, own: dict[str, Kind] | None = None) -> Kind:
    """Returns the kind that an annotation names.

    Args:
      annotation: tf.Tensor, a class of composite tensors, int, float, bool, str, bytes, None,
        tf.DType, tf.TensorShape, a tuple, mapping, union or optional of these, or a name of one.
      module: The name of the module in which names are looked up.
      own: The kinds of names that are not in the module yet.

    Raises:
      TypeError: It is none of these.
    """
    own = own or {}
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        return _kind_of_text(annotation, module, own)
    if annotation is None:
        annotation = type(None)
    if isinstance(annotation, Kind):
        return annotation
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is not None:
        return _kind_of_generic(annotation, origin, arguments, module, own)
    if annotation is _engine.Tensor:
        return _TensorKind()
    if annotation is DType:
        return _ConvertedKind(DType, as_dtype)
    if annotation is TensorShape:
        return _ConvertedKind(TensorShape, TensorShape)
    if annotation in (int, float, bool, str, bytes, type(None)):
        return _ClassKind(annotation)
    if isinstance(annotation, type) and issubclass(annotation, CompositeTensor):
        return _CompositeKind(annotation)
    raise _unsupported(annotation)


def _kind_of_text(text: str, module: str, own: dict[str, Kind]) -> Kind:
    names = {**vars(sys.modules[module]), **own} if module in sys.modules else dict(own)
    try:
        annotation = eval(text, names)
    except (NameError, TypeError):  # A name that comes later; a kind in `X | None`.
        return _LaterKind(text, module)
    return kind_of(annotation, module, own)


def _kind_of_generic(
    annotation: Any, origin: Any, arguments: tuple[Any, ...], module: str, own: dict[str, Kind]
) -> Kind:
    if origin in (typing.Union, types.UnionType):
        return _UnionKind(tuple(kind_of(a, module, own) for a in arguments), annotation)
    if annotation is typing.Tuple:  # noqa: UP006 (without its items)
        raise _unsupported(annotation)
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return _TupleKind((kind_of(arguments[0], module, own),), repeats=True)
    if origin is tuple:
        kinds = () if arguments == ((),) else arguments
        return _TupleKind(tuple(kind_of(a, module, own) for a in kinds), repeats=False)
    if origin is collections.abc.Mapping:
        return _MappingKind(kind_of(arguments[0], module, own), kind_of(arguments[1], module, own))
    raise _unsupported(annotation)


NO_DEFAULT: Any = object()


class Field(NamedTuple):
    """A field of an ExtensionType."""

    name: str
    annotation: Any
    kind: Kind
    default: Any = NO_DEFAULT


def fields_of_class(
    name: str, annotations: Mapping[str, Any], namespace: dict[str, Any], module: str
) -> tuple[list[Field], _OwnKind]:
    """Returns the fields that the body of a class declares, and the kind of the class itself.

    Args:
      name: Of the class.
      annotations: The annotations in its body.
      namespace: The rest of its body; defaults of fields are taken out.
      module: The name of its module.

    Raises:
      TypeError: An annotation is not supported, or a default does not fit one.
    """
    this = _OwnKind()
    fields = []
    for field, annotation in annotations.items():
        try:
            kind = kind_of(annotation, module, {name: this})
        except TypeError as error:
            raise TypeError(f"In field {field!r}: {error}") from None
        default = namespace.pop(field, NO_DEFAULT)
        if default is not NO_DEFAULT:
            converted = kind.convert(default, f"default value for {field}")
            # Tensors are made when they are needed: a class may be made while a graph is.
            default = default if list(tensors_in(converted)) else converted
        fields.append(Field(field, annotation, kind, default))
    return fields, this


def tensors_in(value: Any) -> Iterable[Any]:
    """Yields the tensors and composite tensors in the value of a field, or the specs in one."""
    if isinstance(value, _engine.Tensor | CompositeTensor | TypeSpec):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, ImmutableDict):
        for key in value.in_order():
            yield from tensors_in(value[key])


def with_tensors(value: Any, tensors: Iterator[Any]) -> Any:
    """The value of a field, or what stands for it in a spec, with others for tensors_in of it."""
    if isinstance(value, _engine.Tensor | CompositeTensor | TypeSpec):
        return next(tensors)
    if isinstance(value, tuple):
        return tuple(with_tensors(item, tensors) for item in value)
    if isinstance(value, ImmutableDict):
        return ImmutableDict((key, with_tensors(value[key], tensors)) for key in value.in_order())
    return value
