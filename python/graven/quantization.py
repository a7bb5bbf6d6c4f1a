"""Functions of quantized numbers.

Source: tf.quantization.
"""

from graven import _public

_public.complete(__name__)
