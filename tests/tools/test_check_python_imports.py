"""tools/check_python_imports.py."""

from __future__ import annotations

from pathlib import Path

import check_python_imports as check


def package(folder: Path, **modules: str) -> Path:
    root = folder / "pack"
    root.mkdir()
    (root / "__init__.py").write_text("from pack import a as a\n")
    for name, text in modules.items():
        (root / f"{name}.py").write_text(text)
    return root


def test_the_package_has_no_circle() -> None:
    assert check.circle(check.PACKAGE) == []


def test_a_circle_is_named_though_a_function_hides_it(tmp_path: Path) -> None:
    found = check.circle(
        package(
            tmp_path,
            a="from pack.b import f\n",
            b="def f():\n    from pack import a\n    return a\n",
        )
    )
    assert set(found) == {"pack.a", "pack.b"}


def test_imports_in_one_direction_are_fine(tmp_path: Path) -> None:
    root = package(tmp_path, a="import pack.b\n", b="from pack._engine import x\n")
    assert check.circle(root) == []
    assert check.imports_of(root)["pack.a"] == {"pack.b"}
