"""Names of public modules: functions of ops by name, made when they are first asked for."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from typing import Any

from graven import _engine


@functools.cache
def op_names() -> dict[str, str]:
    """The OpDef name of each public name, such as "math.add"."""
    return _engine.public_op_names()


def _missing(module: str, name: str, known: Iterable[str]) -> AttributeError:
    import difflib  # Takes milliseconds, and is for mistakes only.

    tensorflow = "tf" + module.removeprefix("graven")
    text = f"Graven has no {tensorflow}.{name}"
    # Names that share less are other words: nobody who writes tf.sort means tf.sqrt.
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.76)
    if near:
        text += f"; the nearest that it has is {tensorflow}.{near[0]}"
    return AttributeError(f"{text}. See docs/errors/not-in-graven.md", name=name)


def names_of(module: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Makes __getattr__ and __dir__ of a public module.

    Args:
      module: Its full name, such as "graven.math".

    Returns:
      Functions that give the ops of that module by name, and list all names.
    """
    prefix = module.removeprefix("graven").removeprefix(".")
    prefix = prefix + "." if prefix else ""

    def listed() -> list[str]:
        own = [name for name in vars(sys.modules[module]) if not name.startswith("_")]
        ops = [
            name.removeprefix(prefix)
            for name in op_names()
            if name.startswith(prefix) and "." not in name.removeprefix(prefix)
        ]
        return sorted({*own, *ops})

    def get(name: str) -> Any:
        op = op_names().get(prefix + name)
        if op is None or name.startswith("_"):
            raise _missing(module, name, [] if name.startswith("_") else listed())
        function = _engine.public_op(prefix + name, op)
        setattr(sys.modules[module], name, function)
        return function

    return get, listed
