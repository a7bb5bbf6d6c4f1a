"""The pages that messages name: `python -m graven docs/cache.md` prints one."""

from __future__ import annotations

import sys
from pathlib import Path


def pages() -> Path:
    """The folder of the pages: in the package, or in the checkout that it is imported from."""
    package = Path(__file__).resolve().parent
    installed = package / "docs"
    return installed if installed.is_dir() else package.parents[1] / "docs"


def main(arguments: list[str]) -> int:
    """Prints the page of a name, with or without "docs/" and ".md"; or the names of all pages."""
    folder = pages()
    names = sorted(page.relative_to(folder).as_posix() for page in folder.rglob("*.md"))
    if not arguments:
        print(f"python -m graven PAGE prints one of the pages in {folder}:")
        print("\n".join(f"  docs/{name}" for name in names))
        return 0
    wanted = arguments[0].removeprefix("docs/").removesuffix(".md") + ".md"
    found = [name for name in names if wanted in (name, name.rpartition("/")[2])]
    if not found:
        print(f"There is no page {arguments[0]}; python -m graven lists them.", file=sys.stderr)
        return 1
    print((folder / found[0]).read_text(encoding="utf-8"), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
