"""Graven: polymorphic compiled functions over tensors, with TensorFlow's API.

`import graven as tf` runs programs that are written for tf.function.

Messages end with the page that explains them, such as docs/errors/symbolic-tensor.md:
`python -m graven docs/errors/symbolic-tensor.md` prints it, and `python -m graven` lists all pages.
"""

from graven import __internal__ as __internal__
from graven import _dtypes, _public
from graven import _engine as _engine
from graven import autodiff as autodiff
from graven import autograph as autograph
from graven import bitwise as bitwise
from graven import config as config
from graven import data as data
from graven import debugging as debugging
from graven import dtypes as dtypes
from graven import errors as errors
from graven import experimental as experimental
from graven import graph_util as graph_util
from graven import image as image
from graven import io as io
from graven import linalg as linalg
from graven import logging as logging
from graven import math as math
from graven import nest as nest
from graven import nn as nn
from graven import quantization as quantization
from graven import ragged as ragged
from graven import random as random
from graven import raw_ops as raw_ops
from graven import signal as signal
from graven import sparse as sparse
from graven import strings as strings
from graven import test as test
from graven import types as types
from graven import version as version
from graven._custom_gradient import custom_gradient as custom_gradient
from graven._debug_ops import Assert as Assert
from graven._debug_ops import group as group
from graven._debug_ops import print_ as print  # noqa: F401
from graven._device_spec import DeviceSpec as DeviceSpec
from graven._dtypes import DType as DType
from graven._dtypes import as_dtype as as_dtype
from graven._dtypes import bfloat16 as bfloat16
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
from graven._engine import Graph as Graph
from graven._engine import Operation as Operation
from graven._engine import Tensor as Tensor
from graven._engine import TensorSpec as TensorSpec
from graven._engine import constant as constant
from graven._engine import convert_to_tensor as convert_to_tensor
from graven._engine import executing_eagerly as executing_eagerly
from graven._engine import inside_function as inside_function
from graven._explain import end_trace_lock as end_trace_lock
from graven._explain import explain as explain
from graven._explain import trace_lock as trace_lock
from graven._function import function as function
from graven._host_functions import numpy_function as numpy_function
from graven._host_functions import py_function as py_function
from graven._import_graph_def import import_graph_def as import_graph_def
from graven._indexed_slices import IndexedSlices as IndexedSlices
from graven._indexed_slices import IndexedSlicesSpec as IndexedSlicesSpec
from graven._logging import get_logger as get_logger
from graven._module import Module as Module
from graven._optional import OptionalSpec as OptionalSpec
from graven._ragged import RaggedTensor as RaggedTensor
from graven._ragged import RaggedTensorSpec as RaggedTensorSpec
from graven._scopes import control_dependencies as control_dependencies
from graven._scopes import device as device
from graven._scopes import init_scope as init_scope
from graven._scopes import name_scope as name_scope
from graven._sparse import SparseTensor as SparseTensor
from graven._sparse import SparseTensorSpec as SparseTensorSpec
from graven._static_value import get_static_value as get_static_value
from graven._tape import GradientTape as GradientTape
from graven._tape import UnconnectedGradients as UnconnectedGradients
from graven._tape import gradients as gradients
from graven._tensor_array import TensorArray as TensorArray
from graven._tensor_array import TensorArraySpec as TensorArraySpec
from graven._tensor_shape import TensorShape as TensorShape
from graven._tensor_shape import broadcast_static_shape as broadcast_static_shape
from graven._type_spec import TypeSpec as TypeSpec
from graven._type_spec import is_tensor as is_tensor
from graven._type_spec import type_spec_from_value as type_spec_from_value
from graven._variable import Variable as Variable
from graven._variable_creators import variable_creator_scope as variable_creator_scope
from graven._variable_modes import VariableAggregation as VariableAggregation
from graven._variable_modes import VariableSynchronization as VariableSynchronization

# Under other names; assigned, so that type checkers see that they are exported.
bool = _dtypes.bool_

newaxis = None
__version__ = version.VERSION

_public.complete(__name__)
