"""Graven's public names are TensorFlow's, but for a few of its own."""

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import graven
import tensorflow

# Names of TensorFlow's sources that it does not show.
HIDDEN_IN_TENSORFLOW = {"errors.InaccessibleTensorError", "math.approximate_equal"}


def public_names(ours: ModuleType, theirs: Any, prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The names of a module and of those in it, with what Graven and TensorFlow have of them."""
    for name in dir(ours):
        value, other = getattr(ours, name), getattr(theirs, name, None)
        if isinstance(value, ModuleType):
            yield from public_names(value, other, f"{prefix}{name}.")
        else:
            yield prefix + name, value, hasattr(theirs, name)


def test_a_public_name_is_of_tensorflow_or_says_that_it_is_not() -> None:
    names = list(public_names(graven, tensorflow))
    assert len(names) > 600
    unknown = {
        name
        for name, value, is_there in names
        if not is_there and "Source: Graven's own" not in (inspect.getdoc(value) or "")
    }
    assert unknown == HIDDEN_IN_TENSORFLOW
