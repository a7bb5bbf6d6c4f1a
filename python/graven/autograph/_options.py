"""How a function is to be converted: the options, and the features that are off by default."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any, NamedTuple

from graven._unsupported import PublicEnumClass


class Feature(enum.Enum, metaclass=PublicEnumClass):
    """Conversions that are off unless asked for.

    Attributes:
      ALL: All of them.
      AUTO_CONTROL_DEPS: Accepted; functions have automatic control dependencies anyhow.
      ASSERT_STATEMENTS: An `assert` on a tensor is checked when the function runs.
      BUILTIN_FUNCTIONS: `print` of a tensor prints when the function runs, and `min`, `max`, `sum`,
        `any` and `all` take tensors, which TensorFlow refuses.
      EQUALITY_OPERATORS: `==` and `!=` compare tensors element by element.
      LISTS: Changes of a tensor by `x[i] = v` make a new tensor; empty lists become tensor lists.
      NAME_SCOPES: Ops of a function get its name as a scope.

    Source: tf.autograph.experimental.Feature.
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"


class ConversionOptions(NamedTuple):
    """How a function is converted. Converted code makes these too, as `ag__.ConversionOptions`.

    Attributes:
      recursive: Whether the functions that it calls are converted, too.
      user_requested: Whether the user asked for this function, so that no allow-list keeps it.
      optional_features: The Features that are on, sorted by name.
      internal_convert_user_code: Whether anything is converted; False keeps functions as they are.
    """

    recursive: bool = False
    user_requested: bool = False
    optional_features: tuple[Feature, ...] = ()
    internal_convert_user_code: bool = True

    def uses(self, feature: Feature) -> bool:
        """Tells whether a feature is on."""
        features = self.optional_features
        return bool(features) and (feature in features or Feature.ALL in features)

    def of_callees(self) -> ConversionOptions:
        """The options of the functions that a function with these options calls."""
        return ConversionOptions(
            self.recursive, False, self.optional_features, self.internal_convert_user_code
        )


def features(asked: Any) -> tuple[Feature, ...]:
    """The features that a caller asks for: None, one of them, or several.

    Raises:
      ValueError: Something else than Features is given.
    """
    if asked is None:
        return ()
    several = tuple(asked) if isinstance(asked, Iterable) else (asked,)
    for feature in several:
        if not isinstance(feature, Feature):
            raise ValueError(f"Expected values of tf.autograph.experimental.Feature, got {asked!r}")
    return tuple(sorted(set(several), key=lambda f: f.name))
