"""The functions of tf.nest; python/graven/nest.py says what structures are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, MappingView, MutableMapping, Sequence
from typing import Any


def _unwrapped(structure: Any) -> Any:
    """The plain container behind a tracking one of a Module."""
    if isinstance(structure, list | dict) and hasattr(structure, "__wrapped__"):
        return structure.__wrapped__
    return structure


def is_nested(structure: Any) -> bool:
    """Tells whether the argument is a structure with parts, not a leaf.

    Args:
      structure: Any object.

    Source: tf.nest.is_nested.
    """
    if isinstance(structure, str | bytes | bytearray | memoryview):
        return False
    if isinstance(structure, Sequence | Mapping | MappingView):
        return True
    return _is_attrs(structure) or _takes_itself_apart(structure)


def _is_composite(structure: Any) -> bool:
    """Tells whether an object is a composite tensor, such as a RaggedTensor."""
    return hasattr(type(structure), "_type_spec")


def _is_composite_spec(structure: Any) -> bool:
    """Tells whether an object is the type of composite tensors."""
    return hasattr(type(structure), "_to_components")


def _has_parts(structure: Any, expand: bool) -> bool:
    """Whether something is no leaf; `expand` says that composite tensors and their specs are none.

    Their classes know this module, so they are told by their members.
    """
    if expand and (_is_composite(structure) or _is_composite_spec(structure)):
        return True
    return is_nested(structure)


def _is_attrs(structure: Any) -> bool:
    return hasattr(type(structure), "__attrs_attrs__")


def _takes_itself_apart(structure: Any) -> bool:
    """Tells whether an object has __tf_flatten__ and __tf_unflatten__."""
    return hasattr(type(structure), "__tf_flatten__") and hasattr(structure, "__tf_unflatten__")


def _sorted_keys(structure: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(structure)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def _parts(structure: Any, expand: bool = False) -> list[tuple[Any, Any]]:
    """The keys and parts of a structure, in the order in which it is flattened."""
    structure = _unwrapped(structure)
    if expand and _is_composite(structure):
        components = structure._type_spec._to_components(structure)
        return list(enumerate(_leaves(components, expand=False)))
    if expand and _is_composite_spec(structure):
        return list(enumerate(structure._flat_specs()))
    if _takes_itself_apart(structure):
        return list(enumerate(structure.__tf_flatten__()[1]))
    if isinstance(structure, Mapping):
        return [(key, structure[key]) for key in _sorted_keys(structure)]
    if _is_attrs(structure):
        names = [a.name for a in type(structure).__attrs_attrs__]
        return [(name, getattr(structure, name)) for name in names]
    return list(enumerate(structure))


def _rebuilt(structure: Any, parts: Sequence[Any], expand: bool = False) -> Any:
    """A structure like the given one around other parts, in flattened order."""
    structure = _unwrapped(structure)
    if expand and (_is_composite(structure) or _is_composite_spec(structure)):
        spec = structure if _is_composite_spec(structure) else structure._type_spec
        return spec._from_components(pack_sequence_as(spec._component_specs, parts))
    if _takes_itself_apart(structure):
        return type(structure).__tf_unflatten__(structure.__tf_flatten__()[0], tuple(parts))
    if isinstance(structure, Mapping):
        by_key = dict(zip(_sorted_keys(structure), parts, strict=True))
        ordered = {key: by_key[key] for key in structure}
        kind: Any = type(structure)
        if kind is dict:
            return ordered
        if not isinstance(structure, MutableMapping):
            return kind(list(ordered.items()))
        factory = [structure.default_factory] if isinstance(structure, defaultdict) else []
        made = kind(*factory)
        for key, part in ordered.items():
            made[key] = part
        return made
    if _is_attrs(structure) or hasattr(structure, "_fields"):
        return type(structure)(*parts)
    if isinstance(structure, range | MappingView):  # they cannot hold any parts
        return list(parts)
    return type(structure)(parts)


def parts_of(structure: Any) -> list[Any]:
    """The parts of a structure, in the order in which it is flattened."""
    return [part for _, part in _parts(structure)]


def with_parts(structure: Any, parts: Sequence[Any]) -> Any:
    """A structure like the given one around other parts, as many, in that order."""
    return _rebuilt(structure, parts)


def _leaves(structure: Any, expand: bool = False) -> Iterator[Any]:
    if not _has_parts(structure, expand):
        yield structure
        return
    for _, part in _parts(structure, expand):
        yield from _leaves(part, expand)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Returns the leaves of a structure, in order.

    Args:
      structure: Any structure, or a leaf, which gives a list of itself.
      expand_composites: Whether composite tensors are taken apart into their tensors, and their
        specs into those of the tensors. Else they are leaves.

    Raises:
      TypeError: The keys of a dict cannot be sorted.

    Source: tf.nest.flatten.
    """
    return list(_leaves(structure, expand_composites))


def _describe(structure: Any) -> str:
    structure = _unwrapped(structure)
    return f"type={type(structure).__name__} str={structure}"


class _Dot:
    """Stands for a leaf in the text of a structure."""

    def __repr__(self) -> str:
        return "."


def _outline(structure: Any) -> str:
    """The text of a structure without its leaves."""
    return str(map_structure(lambda _: _Dot(), structure))


def _same_kind(a: Any, b: Any, check_types: bool) -> bool:
    a, b = _unwrapped(a), _unwrapped(b)
    if not check_types or (isinstance(a, Mapping) and isinstance(b, Mapping)):
        return True
    if hasattr(a, "_fields") and hasattr(b, "_fields"):
        return type(a).__name__ == type(b).__name__ and a._fields == b._fields
    return type(a) is type(b)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises unless two structures have the same nesting.

    Args:
      nest1: A structure or leaf.
      nest2: A structure or leaf.
      check_types: Whether the kinds of containers, and the keys of dicts, must be the same, too.
      expand_composites: Whether composite tensors have parts, as in flatten. Then the spec of one
        is a structure like it, if the types fit.

    Raises:
      ValueError: Lengths, keys or nesting differ.
      TypeError: Kinds of containers differ, and check_types is set.

    Source: tf.nest.assert_same_structure.
    """
    difference = _difference(nest1, nest2, check_types, expand_composites)
    if difference is None:
        return
    kind, text = difference
    raise kind(
        "The two structures don't have the same nested structure.\n\n"
        f"First structure: {_describe(nest1)}\n\nSecond structure: {_describe(nest2)}\n\n"
        f"More specifically: {text}\n"
        f"Entire first structure:\n{_outline(nest1)}\n"
        f"Entire second structure:\n{_outline(nest2)}"
    )


def _difference(
    a: Any, b: Any, check_types: bool, expand: bool
) -> tuple[type[ValueError] | type[TypeError], str] | None:
    """The first place where two structures differ: the class of the error and what it says."""
    if _has_parts(a, expand) != _has_parts(b, expand):
        nested, leaf = (a, b) if _has_parts(a, expand) else (b, a)
        return ValueError, (
            f'Substructure "{_describe(nested)}" is a sequence, while substructure '
            f'"{_describe(leaf)}" is not'
        )
    if not _has_parts(a, expand):
        return None
    if expand and check_types and (_is_expanded(a) or _is_expanded(b)):
        return _difference_of_composites(a, b)
    if not _same_kind(a, b, check_types):
        return TypeError, (
            f"The two structures don't have the same sequence type. First: {_describe(a)}. "
            f"Second: {_describe(b)}"
        )
    parts_a, parts_b = _parts(a, expand), _parts(b, expand)
    keys_a, keys_b = [k for k, _ in parts_a], [k for k, _ in parts_b]
    if check_types and isinstance(a, Mapping) and keys_a != keys_b:
        return ValueError, (
            "The two dictionaries don't have the same set of keys. First structure has keys "
            f"{_describe(keys_a)}, while second structure has keys {_describe(keys_b)}"
        )
    if len(parts_a) != len(parts_b):
        return ValueError, (
            "The two structures don't have the same number of elements. First structure: "
            f"{_describe(a)}. Second structure: {_describe(b)}"
        )
    for (_, part_a), (_, part_b) in zip(parts_a, parts_b, strict=True):
        found = _difference(part_a, part_b, check_types, expand)
        if found is not None:
            return found
    return None


def _is_expanded(structure: Any) -> bool:
    return _is_composite(structure) or _is_composite_spec(structure)


def _difference_of_composites(
    a: Any, b: Any
) -> tuple[type[ValueError] | type[TypeError], str] | None:
    """What differs between two composite tensors or specs of them, shapes left aside."""
    specs = [s if _is_composite_spec(s) else getattr(s, "_type_spec", None) for s in (a, b)]
    if specs[0] is None or specs[1] is None:
        return TypeError, (
            f"One of them is a composite tensor. First: {_describe(a)}. Second: {_describe(b)}"
        )
    if specs[0].most_specific_common_supertype([specs[1]]) is None:
        return ValueError, (
            f"The composite tensors have incompatible types. First: {specs[0]}. Second: {specs[1]}"
        )
    return None


def pack_sequence_as(
    structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False
) -> Any:
    """Returns a structure like the given one around other leaves, in flattened order.

    Args:
      structure: The structure to copy; a leaf gives the one item of flat_sequence.
      flat_sequence: As many leaves as flatten(structure) gives.
      expand_composites: Whether composite tensors are built around new tensors, as in flatten. A
        spec gives a composite tensor.

    Raises:
      ValueError: The number of leaves is another.
      TypeError: flat_sequence is no sequence.

    Source: tf.nest.pack_sequence_as.
    """
    if not isinstance(flat_sequence, Sequence):
        raise TypeError(
            f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found "
            f"incompatible type `{type(flat_sequence).__name__}` instead."
        )
    count = len(flatten(structure, expand_composites))
    if count != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} atoms, but flat_sequence had "
            f"{len(flat_sequence)} items. Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return _packed(structure, iter(flat_sequence), expand_composites)


def _packed(part: Any, leaves: Iterator[Any], expand: bool) -> Any:
    # A function within another that calls itself would keep the leaves until they are collected.
    if not _has_parts(part, expand):
        return next(leaves)
    return _rebuilt(part, [_packed(p, leaves, expand) for _, p in _parts(part, expand)], expand)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Applies a function to the leaves of structures that have the same nesting.

    Args:
      func: Takes as many arguments as there are structures.
      *structure: One structure or more.
      **kwargs: check_types (True), and expand_composites (False): whether composite tensors are
        taken apart, as in flatten.

    Returns:
      The structure of the first around the results.

    Raises:
      TypeError: func is not callable, or kinds of containers differ.
      ValueError: No structure is given, or their nesting differs.

    Source: tf.nest.map_structure.
    """
    if not callable(func):
        raise TypeError(f"Argument `func` must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(f"Only check_types and expand_composites are known, got {sorted(kwargs)}")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand)
    leaves = zip(*(flatten(s, expand) for s in structure), strict=True)
    return pack_sequence_as(structure[0], [func(*leaf) for leaf in leaves], expand)
