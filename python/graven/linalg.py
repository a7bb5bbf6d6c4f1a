"""Linear algebra.

Source: tf.linalg.
"""

from graven import _public
from graven._decompositions import svd as svd

_public.complete(__name__)
