"""Every op under its OpDef name: tf.raw_ops.AddV2(x=..., y=...).

Source: tf.raw_ops.
"""

import sys

from graven import _engine


def __getattr__(name: str) -> _engine.OpFunction:
    function = None if name.startswith("_") else _engine.raw_op(name)
    if function is None:
        raise AttributeError(
            f"Graven has no op {name}. See docs/errors/not-in-graven.md", name=name
        )
    setattr(sys.modules[__name__], name, function)
    return function


def __dir__() -> list[str]:
    return sorted(_engine.op_names())
