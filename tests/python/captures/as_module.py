"""Programs as modules of their own, with a file, which AutoGraph needs."""

import importlib.util
import itertools
import sys
from pathlib import Path
from types import ModuleType

_numbers = itertools.count()


def run_as_module(source: str, folder: Path, name: str = "") -> ModuleType:
    """Runs a program as a new module, which can be imported by its name afterwards."""
    name = name or f"program_{next(_numbers)}"
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
