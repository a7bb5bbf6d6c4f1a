"""./dev shell."""

import os
from pathlib import Path
from typing import NoReturn

from devtool.commands import say
from devtool.environments import PROJECT

RC_FILE = Path(__file__).with_name("bashrc")


def start_shell() -> NoReturn:
    """Becomes the user's shell, in which python is the project's.

    The rc files of an interactive shell may put other folders in front of PATH; bash therefore
    reads one that comes after them.
    """
    shell = os.environ.get("SHELL", "/bin/bash")
    name = Path(shell).name
    env = {
        **os.environ,
        "PATH": f"{PROJECT.folder / 'bin'}:{os.environ.get('PATH', '')}",
        "VIRTUAL_ENV": str(PROJECT.folder),
    }
    if name == "bash":
        env["GRAVEN_VIRTUAL_ENV"] = str(PROJECT.folder)
        os.execve(shell, [shell, "--rcfile", str(RC_FILE)], env)
    say(f"python is the project's, unless {name} is told to put another in front of PATH")
    os.execve(shell, [shell], env)
