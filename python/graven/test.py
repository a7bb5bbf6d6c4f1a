"""Help for tests of programs.

Source: tf.test.
"""

from graven import _public
from graven._compute_gradient import compute_gradient as compute_gradient

_public.complete(__name__)
