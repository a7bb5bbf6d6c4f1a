"""Element types of tensors.

Source: tf.dtypes.
"""

from graven import _dtypes, _public
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

bool = _dtypes.bool_  # Assigned, so that type checkers see that it is exported.

_public.complete(__name__)
