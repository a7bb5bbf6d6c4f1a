"""Whether a build made other machine code than the one before: a fault that does not is none."""

import hashlib
import subprocess
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import CodeType


def digest_of_object(file: Path) -> str:
    """What tells the code and data of an object file from those of another; lines do not count."""
    with tempfile.NamedTemporaryFile(suffix=".o") as stripped:
        command = ["objcopy", "--strip-debug", str(file), stripped.name]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        return hashlib.sha256(Path(stripped.name).read_bytes()).hexdigest()


def engine_objects(build: Path) -> list[Path]:
    """The objects of a build that are no tests'."""
    files = (build / "graven").rglob("*.o")
    return sorted(file for file in files if not any("_test.dir" in part for part in file.parts))


def digests(build: Path) -> dict[Path, str]:
    """The digests of all objects of the engine."""
    files = engine_objects(build)
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(files, pool.map(digest_of_object, files), strict=True))


def has_changed(build: Path, since_ns: int, before: Mapping[Path, str]) -> bool:
    """Whether an object that was made since a time differs from what it was before."""
    return any(
        digest_of_object(file) != before.get(file)
        for file in engine_objects(build)
        if file.stat().st_mtime_ns >= since_ns
    )


def same_bytecode(text: str, other: str) -> bool:
    """Whether two sources of Python compile to the same instructions; lines do not count."""
    return _instructions(compile(text, "", "exec")) == _instructions(compile(other, "", "exec"))


def _instructions(code: CodeType) -> tuple[object, ...]:
    """All of a code object but where it comes from."""
    # 1, 1.0 and True are equal as constants, and -0.0 is 0.0.
    constants = tuple(
        _instructions(constant) if isinstance(constant, CodeType) else repr(constant)
        for constant in code.co_consts
    )
    return (
        code.co_name,
        code.co_code,
        constants,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_argcount,
        code.co_kwonlyargcount,
        code.co_posonlyargcount,
        code.co_flags,
        code.co_exceptiontable,
    )
