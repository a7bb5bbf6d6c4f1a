"""Public types (tf.types)."""

from graven import _public
from graven.types import experimental as experimental

_public.complete(__name__)
