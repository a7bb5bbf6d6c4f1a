"""Lets the environments of this checkout import graven from it, whatever the working folder is.

./dev copies this file and a .pth line that imports it into their site-packages. A plain entry in
sys.path would not do: in the folder python/ the package there would be found first, without its
extension, which lies in the build folder. GRAVEN_PRESET names the build, release by default.
"""

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder

ROOT = os.path.abspath(os.path.join(__file__, *[os.pardir] * 5))


class GravenFinder:
    """Finds the top-level package graven, and its extension in the build folder."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The import system's protocol; None leaves the name to the other finders."""
        if name != "graven":
            return None
        spec = PathFinder.find_spec(name, [os.path.join(ROOT, "python")])
        if spec is not None and spec.submodule_search_locations is not None:
            preset = os.environ.get("GRAVEN_PRESET", "release")
            built = os.path.join(ROOT, "build", preset, "python", "graven")
            spec.submodule_search_locations.append(built)
        return spec


sys.meta_path.insert(0, GravenFinder)
