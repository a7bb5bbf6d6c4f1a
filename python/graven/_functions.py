"""The functions of records by what follows the last point of their public names.

For modules of this package: from graven._functions import reduce_sum.
"""

from __future__ import annotations

from typing import Any

from graven import _public


def __getattr__(name: str) -> Any:
    found = [public for public in _public.public_names() if public.rpartition(".")[2] == name]
    if not found:
        raise AttributeError(f"no record has a function {name}", name=name)
    shortest = min(found, key=len)  # split, and not random.split
    return globals().setdefault(name, _public.function(shortest))
