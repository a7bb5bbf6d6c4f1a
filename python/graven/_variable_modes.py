"""How copies of a variable on several replicas belong together: the modes of a tf.Variable.

Graven has one replica. The modes are checked, and kept for programs that ask for them.
"""

from __future__ import annotations

import enum
from typing import Any, TypeVar

from graven._unsupported import PublicEnumClass


class VariableSynchronization(enum.Enum, metaclass=PublicEnumClass):
    """When copies of a variable on several replicas are brought together.

    Source: tf.VariableSynchronization.
    """

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum, metaclass=PublicEnumClass):
    """How updates from several replicas are brought together.

    Source: tf.VariableAggregation.
    """

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


_Mode = TypeVar("_Mode", bound=enum.Enum)


def _mode(modes: type[_Mode], value: Any, what: str, name: str | None) -> _Mode:
    try:
        return modes(value)
    except ValueError:
        raise ValueError(f"Invalid variable {what} mode: {value} for variable: {name}") from None


def synchronization_of(value: Any, name: str | None) -> VariableSynchronization:
    """The mode of the argument `synchronization` of a variable; raises ValueError."""
    value = value or VariableSynchronization.AUTO
    return _mode(VariableSynchronization, value, "synchronization", name)


def aggregation_of(value: Any, name: str | None) -> VariableAggregation:
    """The mode of the argument `aggregation` of a variable; raises ValueError."""
    value = value or VariableAggregation.NONE
    return _mode(VariableAggregation, value, "aggregation", name)
