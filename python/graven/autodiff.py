"""Differentiation.

Source: tf.autodiff.
"""

from graven import _public
from graven._forward_accumulator import ForwardAccumulator as ForwardAccumulator
from graven._tape import GradientTape as GradientTape

_public.complete(__name__)
