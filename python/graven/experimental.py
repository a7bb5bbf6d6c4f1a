"""What TensorFlow has on trial: types of a user's own (tf.experimental)."""

from graven import _public
from graven._extension_type import BatchableExtensionType as BatchableExtensionType
from graven._extension_type import ExtensionType as ExtensionType
from graven._extension_type import ExtensionTypeSpec as ExtensionTypeSpec
from graven._optional import Optional as Optional

_public.complete(__name__)
