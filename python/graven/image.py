"""Functions of images.

Source: tf.image.
"""

from graven import _public
from graven._resize_method import ResizeMethod as ResizeMethod

_public.complete(__name__)
