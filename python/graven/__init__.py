"""Graven: polymorphic compiled functions over tensors, with TensorFlow's API.

`import graven as tf` runs programs that are written for tf.function.
"""

from graven import _engine
from graven import config as config
from graven import errors as errors
from graven import nest as nest
from graven import types as types
from graven._dtypes import DType as DType
from graven._dtypes import as_dtype as as_dtype
from graven._dtypes import bfloat16 as bfloat16
from graven._dtypes import bool as bool
from graven._dtypes import complex64 as complex64
from graven._dtypes import complex128 as complex128
from graven._dtypes import double as double
from graven._dtypes import float16 as float16
from graven._dtypes import float32 as float32
from graven._dtypes import float64 as float64
from graven._dtypes import half as half
from graven._dtypes import int8 as int8
from graven._dtypes import int16 as int16
from graven._dtypes import int32 as int32
from graven._dtypes import int64 as int64
from graven._dtypes import resource as resource
from graven._dtypes import string as string
from graven._dtypes import uint8 as uint8
from graven._dtypes import uint16 as uint16
from graven._dtypes import uint32 as uint32
from graven._dtypes import uint64 as uint64
from graven._dtypes import variant as variant
from graven._function import function as function
from graven._indexed_slices import IndexedSlices as IndexedSlices
from graven._logging import get_logger as get_logger
from graven._module import Module as Module
from graven._tape import GradientTape as GradientTape
from graven._tape import UnconnectedGradients as UnconnectedGradients
from graven._tensor_shape import TensorShape as TensorShape
from graven._variable import Variable as Variable
from graven._variable import VariableAggregation as VariableAggregation
from graven._variable import VariableSynchronization as VariableSynchronization

Tensor = _engine.Tensor
TensorSpec = _engine.TensorSpec
constant = _engine.constant
convert_to_tensor = _engine.convert_to_tensor
executing_eagerly = _engine.executing_eagerly
inside_function = _engine.inside_function
newaxis = None
__version__ = "0.1.0"
