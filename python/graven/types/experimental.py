"""The protocol of types for the cache (tf.types.experimental)."""

from graven import _public
from graven._concrete_function import ConcreteFunction as ConcreteFunction
from graven._function import PolymorphicFunction as GenericFunction  # noqa: F401
from graven._function import PolymorphicFunction as PolymorphicFunction
from graven._trace_types import SupportsTracingProtocol as SupportsTracingProtocol
from graven._trace_types import TraceType as TraceType

_public.complete(__name__)
