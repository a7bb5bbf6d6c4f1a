"""The two calls of functions of the program, for tests of what both do."""

from typing import Any

import graven as tf
import pytest

CALLS: list[Any] = [tf.py_function, tf.numpy_function]
both_calls = pytest.mark.parametrize("call", CALLS, ids=["py_function", "numpy_function"])
