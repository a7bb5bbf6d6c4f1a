"""Public types (tf.types)."""

from graven.types import experimental as experimental
