"""Every op under its OpDef name: tf.raw_ops.AddV2(x=..., y=...).

Source: tf.raw_ops.
"""

from graven import _public

_public.complete(__name__)
