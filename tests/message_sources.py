"""The files of the engine and of the package that may hold messages to users."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def sources() -> list[Path]:
    """What may hold messages: the engine and the package, without tests."""
    folders = ((ROOT / "graven", ("*.cc", "*.h")), (ROOT / "python" / "graven", ("*.py",)))
    files = [file for folder, kinds in folders for kind in kinds for file in folder.rglob(kind)]
    return [file for file in files if not file.stem.endswith("_test")]
