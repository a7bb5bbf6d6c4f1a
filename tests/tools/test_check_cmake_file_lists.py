"""The check of file lists finds forgotten, missing and unsorted sources."""

from pathlib import Path

from check_cmake_file_lists import check_tree


def room(root: Path, text: str, *files: str) -> list[str]:
    """Makes a room with a CMakeLists.txt and files, and checks it."""
    folder = root / "graven" / "base"
    folder.mkdir(parents=True)
    (folder / "CMakeLists.txt").write_text(text)
    for file in files:
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).touch()
    return check_tree(root)


LIST = "graven_room(\n  NAME base\n  SOURCES\n    a.cc\n    b.cc\n  HEADERS\n    a.h)\n"
WHERE = "graven/base/CMakeLists.txt"


def test_a_complete_list_is_accepted(tmp_path: Path) -> None:
    assert room(tmp_path, LIST, "a.cc", "b.cc", "a.h") == []


def test_a_forgotten_source_is_found_in_a_subfolder_too(tmp_path: Path) -> None:
    found = room(tmp_path, LIST, "a.cc", "b.cc", "a.h", "c_test.cc", "deep/d.cc")
    assert found == [f"{WHERE}: c_test.cc is not named", f"{WHERE}: deep/d.cc is not named"]


def test_a_name_without_a_file_is_found(tmp_path: Path) -> None:
    assert room(tmp_path, LIST, "a.cc", "a.h") == [f"{WHERE}: there is no b.cc"]


def test_a_list_out_of_order_is_found(tmp_path: Path) -> None:
    text = LIST.replace("    a.cc\n    b.cc\n", "    b.cc\n    a.cc\n")
    found = room(tmp_path, text, "a.cc", "b.cc", "a.h")
    assert found == [f"{WHERE}: a.cc stands after b.cc; sort the list"]


def test_two_sources_on_a_line_are_found(tmp_path: Path) -> None:
    text = LIST.replace("    a.cc\n    b.cc\n", "    a.cc b.cc\n")
    (found,) = room(tmp_path, text, "a.cc", "b.cc", "a.h")
    assert found.startswith(f"{WHERE}: one source per line")


def test_a_glob_is_found(tmp_path: Path) -> None:
    (found,) = room(tmp_path, LIST + "file(GLOB extra *.cc)\n", "a.cc", "b.cc", "a.h")
    assert found == f"{WHERE}: a glob; name the sources"


def test_a_comment_and_another_command_are_no_list(tmp_path: Path) -> None:
    text = (
        LIST + "# c.cc\nset_source_files_properties(b.cc a.cc PROPERTIES X y)\nfind_path(P d.h)\n"
    )
    assert room(tmp_path, text, "a.cc", "b.cc", "a.h") == []


def test_a_room_without_a_list_is_found(tmp_path: Path) -> None:
    (tmp_path / "graven" / "ir").mkdir(parents=True)
    (tmp_path / "graven" / "ir" / "graph.cc").touch()
    assert check_tree(tmp_path) == ["graven/ir: has sources and no CMakeLists.txt"]
