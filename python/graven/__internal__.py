"""What TensorFlow shows of its inside and programs build upon: classes of tensors and graphs.

Source: tf.__internal__.
"""

from graven import _public
from graven._engine import EagerTensor as EagerTensor
from graven._engine import FuncGraph as FuncGraph
from graven._type_spec import CompositeTensor as CompositeTensor

_public.complete(__name__)
