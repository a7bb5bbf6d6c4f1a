"""./dev demo: the digits, trained from Python and from C++."""

import json
import shutil
from pathlib import Path
from typing import Any

from devtool.build import build, build_folder
from devtool.commands import ROOT, DevError, say, show
from devtool.environments import DEMO


def demo() -> int:
    """Trains twice and compares what came of it; leaves all results in build/demo/."""
    DEMO.ensure()  # Before a build, which takes minutes.
    build()
    folder = ROOT / "build" / "demo"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    curve, parameters = folder / "curve.png", folder / "parameters.npz"
    results = {}
    for language, command in (
        ("python", [DEMO.python, "examples/digits.py", "--png", curve, "--npz", parameters]),
        ("cpp", [build_folder("release") / "bin" / "digits"]),
    ):
        say(f"training from {language}")
        result = folder / f"{language}.json"
        if show([*command, "--json", result]) != 0:
            raise DevError(f"the program in {language} failed")
        results[language] = read_result(result)
    say(f"learning curve: {curve.relative_to(ROOT)}, parameters: {parameters.relative_to(ROOT)}")
    python, cpp = results["python"]["losses"], results["cpp"]["losses"]
    if python != cpp:
        first = next((i for i, (a, b) in enumerate(zip(python, cpp, strict=False)) if a != b), None)
        raise DevError(f"the losses of Python and C++ differ, first in step {first}")
    say(f"Python and C++ print the same {len(python)} losses, bit for bit")
    return 0


def read_result(file: Path) -> dict[str, Any]:
    """Reads what a program leaves, with each loss as the text that it wrote."""
    result: dict[str, Any] = json.loads(file.read_text(), parse_float=str)
    return result
